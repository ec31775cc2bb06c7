#include "stator/storage/rocksdb/disk_room.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "stator/storage/rocksdb/data_folder.h"

namespace stator::storage {
namespace {

constexpr std::uint64_t kMega = 1ULL << 20;
constexpr std::uint64_t kRoomForEverything = 4096 * kMega;

std::uint64_t size_of_folder(const std::string& path) {
  namespace fs = std::filesystem;
  std::uint64_t bytes = 0;
  std::error_code code;
  for (fs::directory_iterator file(path, code), end; !code && file != end; file.increment(code)) {
    std::error_code ignored;
    if (!fs::is_regular_file(file->symlink_status(ignored))) continue;
    const auto size = file->file_size(ignored);
    if (!ignored) bytes += size;
  }
  return bytes;
}

}  // namespace

DiskRoom DiskRoom::of(std::uint64_t bytes, std::uint64_t write_buffer) {
  return {.bytes = bytes,
          .write_buffer = std::min(write_buffer, std::max(bytes / 32, kMega / 8)),
          .table_file = std::clamp(bytes / 16, kMega / 4, 64 * kMega),
          .reserve = std::min(16 * kMega, bytes / 8),
          .compaction_headroom = std::min(kMega, bytes / 64),
          .recovery_headroom = std::min(8 * kMega, bytes / 16)};
}

DiskRoom DiskRoom::in(const std::string& folder, std::uint64_t write_buffer) {
  const auto free = free_bytes(folder);
  return of(free ? *free + size_of_folder(folder) : kRoomForEverything, write_buffer);
}

}  // namespace stator::storage
