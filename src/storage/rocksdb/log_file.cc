#include "stator/storage/rocksdb/log_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stator/storage/rocksdb/file.h"

namespace stator::storage {
namespace {

constexpr std::size_t kBlock = 32768;
constexpr std::size_t kHeader = 7;
enum PartType : unsigned char { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

// What ends the batch of every commit: a put (01) of `\0seq`, whose value is 01 and the sequence.
constexpr BytesView kSequencePut("\x01\x04\0seq\x09\x01", 8);

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82F63B78U : crc >> 1;
    tables[0][i] = crc;
  }
  for (std::size_t table = 1; table < 8; ++table) {
    for (std::size_t i = 0; i < 256; ++i) {
      tables[table][i] = (tables[table - 1][i] >> 8) ^ tables[0][tables[table - 1][i] & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

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
  explicit LogReader(const LogVisitor& visitor) : visitor_(visitor) {}

  void read_block(std::uint64_t offset, BytesView block) {
    std::size_t at = 0;
    while (at < block.size() && kBlock - at >= kHeader) {
      if (const auto part = part_at(block, at)) {
        take(offset + at, *part);
        at += kHeader + part->payload.size();
        continue;
      }
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
  bool damaged_ = false;     // since the last whole record
  bool open_ = false;        // record_ waits for its next part
  std::uint64_t begin_ = 0;  // of the record
  Bytes record_;
};

}  // namespace

std::uint32_t crc32c(BytesView bytes, std::uint32_t start) {
  std::uint32_t crc = ~start;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    const auto low = crc ^ read_u32le(bytes, 0);
    const auto high = read_u32le(bytes, 4);
    crc = kTables[7][low & 0xFF] ^ kTables[6][low >> 8 & 0xFF] ^ kTables[5][low >> 16 & 0xFF] ^ kTables[4][low >> 24] ^
          kTables[3][high & 0xFF] ^ kTables[2][high >> 8 & 0xFF] ^ kTables[1][high >> 16 & 0xFF] ^
          kTables[0][high >> 24];
  }
  for (const auto byte : bytes) crc = crc >> 8 ^ kTables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~crc;
}

std::optional<std::uint64_t> commit_of_record(BytesView record) {
  if (record.size() < kSequencePut.size() + 8) return std::nullopt;
  const auto tail = record.substr(record.size() - kSequencePut.size() - 8);
  if (!tail.starts_with(kSequencePut)) return std::nullopt;
  return read_u64be(tail.data() + kSequencePut.size());
}

Result<std::uint64_t> read_log_file(const std::string& path, const LogVisitor& visitor) {
  const File file(path, O_RDONLY);
  if (!file.is_open()) return system_error("cannot open", path, errno);
  const auto size = file.size();
  LogReader reader(visitor);
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

}  // namespace stator::storage
