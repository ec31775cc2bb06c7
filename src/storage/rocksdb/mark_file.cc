#include "stator/storage/rocksdb/mark_file.h"

#define XXH_INLINE_ALL
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "stator/base/log.h"
#include "stator/storage/rocksdb/file.h"

namespace stator::storage {
namespace {

// On disk.  Integers are little-endian, checksums are XXH3 with 64 bits.
//
//   0             "stator-mark"  version:u8 = 1
//   64, 128       sequence:u64  checksum:u64 of the sequence, with the slot's number     the greater valid one counts
//   4096, 135168  a list of files                                  the valid one with the greater number counts
//
//   list          checksum:u64 of all that follows  size:u32 of all that follows  number:u64
//                 manifest:u64  manifest_bytes:u64  flags:u8 (1 relaxed, 2 complete)
//                 tables:u32  logs:u32  {number:u64 bytes:u64}...  {number:u64}...
constexpr BytesView kMagic("stator-mark\x01", 12);
constexpr std::size_t kSlotAt[] = {64, 128};
constexpr std::size_t kHeadSize = 144;  // the magic and both slots
constexpr std::size_t kPage = 4096;
constexpr std::size_t kListSpace = std::size_t{128} << 10;
constexpr std::size_t kListAt[] = {kPage, kPage + kListSpace};
constexpr std::size_t kFileSize = kPage + 2 * kListSpace;
constexpr std::size_t kListHeader = 12;  // checksum and size
constexpr std::size_t kMostTables = 7000;
constexpr std::size_t kMostLogs = 1000;
enum Flag : unsigned char { kRelaxed = 1, kComplete = 2 };

void append_le(Bytes& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
}

// Takes an integer off the front; the caller has checked the size.
std::uint64_t take_le(BytesView& in, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(in[i]);
  in.remove_prefix(bytes);
  return value;
}

std::uint64_t slot_checksum(std::uint64_t sequence, std::size_t slot) {
  unsigned char bytes[8];
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(sequence >> (8 * i));
  return XXH3_64bits_withSeed(bytes, sizeof bytes, slot + 1);
}

struct NumberedList {
  std::uint64_t number = 0;
  LiveFiles files;
};

Bytes encode(const NumberedList& list) {
  const auto& files = list.files;
  const auto tables = std::min(files.tables.size(), kMostTables);
  const auto logs = std::min(files.logs.size(), kMostLogs);
  const bool complete = files.complete && tables == files.tables.size() && logs == files.logs.size();
  Bytes content;
  append_le(content, list.number, 8);
  append_le(content, files.manifest, 8);
  append_le(content, files.manifest_bytes, 8);
  append_le(content, (files.relaxed ? kRelaxed : 0) | (complete ? kComplete : 0), 1);
  append_le(content, tables, 4);
  append_le(content, logs, 4);
  for (std::size_t i = 0; i < tables; ++i) {
    append_le(content, files.tables[i].number, 8);
    append_le(content, files.tables[i].bytes, 8);
  }
  for (std::size_t i = files.logs.size() - logs; i < files.logs.size(); ++i) append_le(content, files.logs[i], 8);
  Bytes bytes;
  Bytes sized;
  append_le(sized, content.size(), 4);
  sized += content;
  append_le(bytes, XXH3_64bits(sized.data(), sized.size()), 8);
  return bytes + sized;
}

std::optional<NumberedList> decode(BytesView bytes) {
  if (bytes.size() < kListHeader) return std::nullopt;
  const auto checksum = take_le(bytes, 8);
  auto size_bytes = bytes;
  const auto size = take_le(size_bytes, 4);
  if (size > size_bytes.size() || XXH3_64bits(bytes.data(), size + 4) != checksum) return std::nullopt;
  auto in = size_bytes.substr(0, size);
  if (in.size() < 33) return std::nullopt;
  NumberedList list;
  list.number = take_le(in, 8);
  list.files.manifest = take_le(in, 8);
  list.files.manifest_bytes = take_le(in, 8);
  const auto flags = take_le(in, 1);
  list.files.relaxed = (flags & kRelaxed) != 0;
  list.files.complete = (flags & kComplete) != 0;
  const auto tables = take_le(in, 4);
  const auto logs = take_le(in, 4);
  if (in.size() != tables * 16 + logs * 8) return std::nullopt;
  for (std::size_t i = 0; i < tables; ++i) {
    const auto number = take_le(in, 8);
    list.files.tables.push_back({number, take_le(in, 8)});
  }
  for (std::size_t i = 0; i < logs; ++i) list.files.logs.push_back(take_le(in, 8));
  return list;
}

struct Content {
  std::optional<std::uint64_t> sequence;
  std::optional<NumberedList> list;
};

// The readable content; nothing if the file is no mark.
std::optional<Content> read_content(const DataFile& file) {
  Bytes bytes(std::min<std::uint64_t>(file.size(), kFileSize), '\0');
  if (!file.read_at(0, bytes) || !BytesView(bytes).starts_with(kMagic)) return std::nullopt;
  bytes.resize(kFileSize, '\0');
  Content content;
  for (std::size_t slot = 0; slot < 2; ++slot) {
    BytesView at = BytesView(bytes).substr(kSlotAt[slot]);
    const auto sequence = take_le(at, 8);
    if (take_le(at, 8) == slot_checksum(sequence, slot))
      content.sequence = std::max(content.sequence.value_or(0), sequence);
    auto list = decode(BytesView(bytes).substr(kListAt[slot], kListSpace));
    if (list && (!content.list || list->number > content.list->number)) content.list = std::move(list);
  }
  return content;
}

}  // namespace

class MarkFile::Impl {
 public:
  explicit Impl(std::string name) : file(name, O_RDWR | O_CREAT), path(std::move(name)) {
    head.resize(kHeadSize, '\0');
  }

  void set_slot(std::size_t slot, std::uint64_t sequence) {
    Bytes bytes;
    append_le(bytes, sequence, 8);
    append_le(bytes, slot_checksum(sequence, slot), 8);
    head.replace(kSlotAt[slot], bytes.size(), bytes);
  }

  const DataFile file;
  const std::string path;
  Bytes head{kMagic};
  std::uint64_t next_list = 1;
  std::size_t next_slot = 0;
  bool writes_fail = false;  // the log says so already
};

MarkFile::MarkFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MarkFile::~MarkFile() = default;

Result<std::unique_ptr<MarkFile>> MarkFile::open(const std::string& folder) {
  auto impl = std::make_unique<Impl>(folder + "/" + kMarkName);
  const auto failed = [&](const char* what) { return system_error(what, impl->path, errno); };
  if (!impl->file.is_open()) return failed("cannot open");
  const auto content = read_content(impl->file);
  if (impl->file.size() == 0) {
    // Where files are copied when they are written to, a page that is written again could need room that a full disk
    // does not have.
    int flags = 0;
    if (::ioctl(impl->file.get(), FS_IOC_GETFLAGS, &flags) == 0) {
      flags |= FS_NOCOW_FL;
      [[maybe_unused]] const int ignored = ::ioctl(impl->file.get(), FS_IOC_SETFLAGS, &flags);
    }
  }
  const auto sequence = content && content->sequence ? *content->sequence : 0;
  for (std::size_t slot = 0; slot < 2; ++slot) impl->set_slot(slot, sequence);
  if (!content || impl->file.size() < kFileSize) {
    Bytes page = impl->head;
    page.resize(kPage, '\0');
    // The page is written, not only made room for, so that it has its place on the disk before the disk is full.
    if (!impl->file.write_at(0, page) || ::ftruncate(impl->file.get(), kFileSize) != 0 || !impl->file.sync()) {
      return failed("cannot write");
    }
  } else if (!impl->file.write_at(0, impl->head)) {
    return failed("cannot write");
  }
  if (content && content->list) impl->next_list = content->list->number + 1;
  return std::unique_ptr<MarkFile>(new MarkFile(std::move(impl)));
}

std::optional<Mark> MarkFile::read(const std::string& folder) {
  const DataFile file(folder + "/" + kMarkName, O_RDONLY);
  if (!file.is_open()) return std::nullopt;
  auto content = read_content(file);
  if (!content || (!content->sequence && !content->list)) return std::nullopt;
  Mark mark{.acknowledged = {content->sequence.value_or(0)}, .files = {}};
  if (content->list) mark.files = std::move(content->list->files);
  return mark;
}

void MarkFile::acknowledge(CommitSequence sequence) {
  // One of the two slots is always whole: the one that this does not change.
  impl_->set_slot(impl_->next_slot, sequence.value);
  impl_->next_slot ^= 1;
  const bool failed = !impl_->file.write_at(0, impl_->head);
  if (failed && !impl_->writes_fail) {
    log::warning("mark_not_kept", {{"cause", system_error("cannot write", impl_->path, errno).message},
                                   {"message", "a log that loses its end will not be noticed"}});
  }
  impl_->writes_fail = failed;
}

Result<void> MarkFile::set_files(const LiveFiles& files) {
  const auto number = impl_->next_list++;
  if (!impl_->file.write_at(kListAt[number % 2], encode({number, files}))) {
    return system_error("cannot write", impl_->path, errno);
  }
  return {};
}

}  // namespace stator::storage
