#include "stator/storage/rocksdb/log_file.h"

#include <algorithm>
#include <utility>

#include "stator/storage/rocksdb/crc32c.h"
#include "stator/storage/rocksdb/file.h"

namespace stator::storage {
namespace {

constexpr std::size_t kBlock = 32768;
constexpr std::size_t kHeader = 7;
enum PartType : unsigned char { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

// The last bytes of the batch of every commit: a put (01) of `\0seq`, whose value is 01 and the sequence.
constexpr BytesView kSequencePut("\x01\x04\0seq\x09\x01", 8);
constexpr std::size_t kSequencePutSize = 16;  // with the sequence
// The bytes before it in a store that syncs its commits: a note (03) `\0syn` and the sequence.
constexpr BytesView kSyncedNotePut("\x03\x0c\0syn", 6);
constexpr std::size_t kSyncedNoteSize = 14;

std::uint32_t byte_at(BytesView bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

std::uint32_t read_u32le(BytesView bytes, std::size_t at) {
  return byte_at(bytes, at) | byte_at(bytes, at + 1) << 8 | byte_at(bytes, at + 2) << 16 | byte_at(bytes, at + 3) << 24;
}

// RocksDB stores checksums like this, so that a checksum of bytes with checksums in them stays a good one.
std::uint32_t unmasked(std::uint32_t masked) {
  const std::uint32_t rotated = masked - 0xA282EAD8U;
  return rotated >> 17 | rotated << 15;
}

struct Part {
  PartType type;
  BytesView payload;
};

// The part at `at`, if it is valid.
std::optional<Part> part_at(BytesView block, std::size_t at) {
  if (block.size() - at < kHeader) return std::nullopt;
  const auto type = byte_at(block, at + 6);
  if (type < kFull || type > kLast) return std::nullopt;
  const std::size_t length = byte_at(block, at + 4) | byte_at(block, at + 5) << 8;
  if (block.size() - at - kHeader < length) return std::nullopt;
  if (crc32c(block.substr(at + 6, length + 1)) != unmasked(read_u32le(block, at))) return std::nullopt;
  return Part{static_cast<PartType>(type), block.substr(at + kHeader, length)};
}

class LogReader {
 public:
  LogReader(const LogVisitor& visitor, std::uint64_t filled_from) : visitor_(visitor), filled_from_(filled_from) {}

  void read_block(std::uint64_t offset, BytesView block) {
    std::size_t at = 0;
    while (at < block.size() && kBlock - at >= kHeader) {
      if (const auto part = part_at(block, at)) {
        take(offset + at, *part);
        at += kHeader + part->payload.size();
        continue;
      }
      if (offset + at >= filled_from_) return;
      const bool short_of_header = block.size() - at < kHeader;
      abandon(offset + at,
              short_of_header ? "it ends in the middle of a record" : "a record does not fit its checksum");
      // A length cannot be trusted where the checksum is wrong, so the next part may begin anywhere.
      do ++at;
      while (at < block.size() && !part_at(block, at));
    }
  }

  void unreadable_block(std::uint64_t offset) { abandon(offset, "it cannot be read"); }

  void end() {
    if (std::exchange(open_, false)) report(begin_, "it ends in the middle of a record");
  }

 private:
  void take(std::uint64_t offset, const Part& part) {
    if (part.type == kFull || part.type == kFirst) {
      if (std::exchange(open_, false)) report(begin_, "a record has no end");
      begin_ = offset;
      if (part.type == kFull) return emit(part.payload);
      record_.assign(part.payload);
      open_ = true;
      return;
    }
    if (!open_) return report(offset, "a record has no beginning");
    record_.append(part.payload);
    if (part.type == kLast) {
      open_ = false;
      emit(record_);
    }
  }

  void emit(BytesView record) {
    damaged_ = false;
    visitor_.record(begin_, record);
  }

  void abandon(std::uint64_t offset, std::string_view what) {
    report(std::exchange(open_, false) ? begin_ : offset, what);
  }

  void report(std::uint64_t offset, std::string_view what) {
    if (!std::exchange(damaged_, true)) visitor_.damage(offset, what);
  }

  const LogVisitor& visitor_;
  const std::uint64_t filled_from_;  // no byte from here on is anything but filling
  bool damaged_ = false;             // since the last whole record
  bool open_ = false;                // record_ waits for its next part
  std::uint64_t begin_ = 0;          // of the record
  Bytes record_;
};

std::uint64_t size_before_filling(const DataFile& file) {
  Bytes block;
  for (auto end = file.size(); end > 0; end -= block.size()) {
    block.resize(std::min<std::uint64_t>(kBlock, end));
    const auto begin = end - block.size();
    if (!file.read_at(begin, block)) return end;
    if (const auto last = block.find_last_not_of(kLogFilling); last != Bytes::npos) return begin + last + 1;
  }
  return 0;
}

}  // namespace

std::optional<std::uint64_t> commit_of_record(BytesView record) {
  if (record.size() < kSequencePutSize) return std::nullopt;
  const auto put = record.substr(record.size() - kSequencePutSize);
  if (!put.starts_with(kSequencePut)) return std::nullopt;
  return read_u64be(put.data() + kSequencePut.size());
}

std::optional<std::uint64_t> synced_at_record(BytesView record) {
  constexpr std::size_t kEnd = kSyncedNoteSize + kSequencePutSize;
  if (record.size() < kEnd || !commit_of_record(record)) return std::nullopt;
  const auto note = record.substr(record.size() - kEnd, kSyncedNoteSize);
  if (!note.starts_with(kSyncedNotePut)) return std::nullopt;
  return read_u64be(note.data() + kSyncedNotePut.size());
}

Result<std::uint64_t> size_before_filling(const std::string& path) {
  const DataFile file(path, O_RDONLY);
  if (!file.is_open()) return system_error("cannot open", path, errno);
  return size_before_filling(file);
}

Result<std::uint64_t> read_log_file(const std::string& path, RecordFile kind, const LogVisitor& visitor) {
  const DataFile file(path, O_RDONLY);
  if (!file.is_open()) return system_error("cannot open", path, errno);
  const auto size = file.size();
  LogReader reader(visitor, kind == RecordFile::Log ? size_before_filling(file) : size);
  Bytes block;
  for (std::uint64_t offset = 0; offset < size; offset += kBlock) {
    block.resize(std::min<std::uint64_t>(kBlock, size - offset));
    if (file.read_at(offset, block)) {
      reader.read_block(offset, block);
    } else {
      reader.unreadable_block(offset);
    }
  }
  reader.end();
  return size;
}

Result<void> write_log_again(const std::string& path, std::uint64_t synced) {
  std::optional<std::uint64_t> begin;
  const auto note = [&](std::uint64_t offset, BytesView record) {
    if (!begin && commit_of_record(record).value_or(0) > synced) begin = offset;
  };
  TRY(read_log_file(path, RecordFile::Log, {.record = note, .damage = [](auto, auto) {}}));
  if (!begin) return {};
  const DataFile file(path, O_RDWR);
  if (!file.is_open()) return system_error("cannot open", path, errno);
  // The last record may end in bytes of the filling.
  const auto end = std::min(file.size(), size_before_filling(file) + kSequencePutSize);
  Bytes block;
  for (auto at = *begin; at < end; at += block.size()) {
    block.resize(std::min<std::uint64_t>(kBlock, end - at));
    if (!file.read_at(at, block) || !file.write_at(at, block)) return system_error("cannot write", path, errno);
  }
  return {};
}

}  // namespace stator::storage
