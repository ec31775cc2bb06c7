#include "stator/storage/rocksdb/rocksdb_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace stator::storage {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

StoreTrouble trouble_of(const rocksdb::Status& status) {
  if (status.IsCorruption()) return StoreTrouble::Damaged;
  const auto text = status.ToString();
  // RocksDB notes some of them in the status, and others only in its text.
  if (status.IsNoSpace() || contains(text, "No space left on device") || contains(text, "Disk quota exceeded")) {
    return StoreTrouble::DiskFull;
  }
  if (contains(text, "Too many open files")) return StoreTrouble::NoDescriptors;
  // A table file that is gone, or shorter than it was.
  if (!table_in(text).empty() && (contains(text, "No such file") || contains(text, "runcated")))
    return StoreTrouble::Damaged;
  return StoreTrouble::DiskFailing;
}

Error storage_error(std::string_view what, const rocksdb::Status& status) {
  const auto text = status.ToString();
  switch (trouble_of(status)) {
    case StoreTrouble::Damaged: return {ErrorCode::Corruption, fmt::format("{}: {}", what, text)};
    case StoreTrouble::DiskFull: return {ErrorCode::Storage, fmt::format("{}: the disk is full: {}", what, text)};
    case StoreTrouble::NoDescriptors:
      return {ErrorCode::Storage, fmt::format("{}: the process may not open more files: {}", what, text)};
    case StoreTrouble::None:
    case StoreTrouble::MemoryFull:
    case StoreTrouble::Unreachable:
    case StoreTrouble::TakenOver:
    case StoreTrouble::Upgraded:
    case StoreTrouble::DiskFailing: break;
  }
  return {ErrorCode::Storage, fmt::format("{}: {}", what, text)};
}

bool is_in_use(const rocksdb::Status& status) {
  const auto text = status.ToString();
  return contains(text, "lock file") || contains(text, "lock hold by current process");
}

std::string table_in(std::string_view text) {
  // RocksDB looks for a missing file under its old name, too, and complains about that one.
  const auto end = std::min(text.find(".sst"), text.find(".ldb"));
  if (end == std::string_view::npos) return {};
  auto begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
  return begin == end ? std::string() : std::string(text.substr(begin, end - begin)) + ".sst";
}

}  // namespace stator::storage
