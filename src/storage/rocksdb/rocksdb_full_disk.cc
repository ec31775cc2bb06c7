#include <rocksdb/convenience.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stator/base/log.h"
#include "stator/storage/rocksdb/rocksdb_reads.h"
#include "stator/storage/rocksdb/rocksdb_store_impl.h"

namespace stator::storage {
namespace {

// The room for the first compaction that is needed to go back to normal: all of its input, but at most this, and at
// most this part of the data.  A store that is full again so soon afterwards needs twice as much.
constexpr std::uint64_t kMostCompactionRoom = 64ULL << 20;
constexpr std::uint64_t kCompactionShare = 4;
constexpr std::chrono::seconds kFullAgainSoon{60};
constexpr unsigned kMostDoublings = 10;
// The input of a compaction up to which it is worth reading it, to learn how little would be left of it.
constexpr std::uint64_t kMostCounted = 1ULL << 30;

}  // namespace

Result<void> RocksDbStore::open_on_full_disk(const Error& cause) {
  auto opened = Result<void>(cause);
  // A start before this one may have given the reserve up, and left some of it.
  if (take_reserve() || probe_disk(options_.path, DiskRoom::kLeastReserve)) opened = open_database(Mode::OnReserve);
  if (!opened) opened = open_database(Mode::ReadOnly);
  TRY(std::move(opened));
  failed_ = true;
  failure_ = cause.message;
  set_health({.trouble = StoreTrouble::DiskFull, .cause = cause.message});
  log::error("disk_full", {{"cause", cause.message}, {"message", "the database is read-only"}});
  return {};
}

Result<void> RocksDbStore::enter_reserve() {
  const Error full{ErrorCode::Storage, failure_};
  TRY(close_database());
  take_reserve();
  if (!open_database(Mode::OnReserve)) {
    too_little_for_reserve_ = free_bytes(options_.path).value_or(0);
    return go_on_reading(full);
  }
  return full;
}

bool RocksDbStore::take_reserve() {
  const auto bytes = reserve_bytes(options_.path);
  if (bytes == 0 || !release_reserve(options_.path)) return false;
  reserve_released_ += bytes;
  return true;
}

void RocksDbStore::compact_deleted() {
  if (db_ == nullptr || listener_->failed()) return;
  if (last_commit() == compacted_.commit && free_bytes(options_.path).value_or(0) <= compacted_.free) return;
  const auto fits = [&](std::uint64_t bytes) {
    const auto free = free_bytes(options_.path);
    return free && bytes + room_.compaction_headroom < *free;
  };
  if (fits(property("rocksdb.cur-size-all-mem-tables")) && db_->Flush({}).ok()) {
    // Room that one compaction gives back may be enough for the next.
    auto waiting = files_with_deletions();
    while (const auto next = smallest_to_compact(waiting)) {
      for (const auto& file : next->files) waiting.erase(file);
      if (!fits(next->bytes) && !(next->bytes <= kMostCounted && fits(bytes_left_in(*next)))) continue;
      rocksdb::CompactRangeOptions compact;
      compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
      const rocksdb::Slice first(next->first);
      const rocksdb::Slice last(next->last);
      if (!db_->CompactRange(compact, &first, &last).ok()) break;
    }
  }
  compacted_ = {.commit = last_commit(), .free = free_bytes(options_.path).value_or(0)};
}

std::set<std::string> RocksDbStore::files_with_deletions() const {
  rocksdb::TablePropertiesCollection tables;  // by path
  if (!db_->GetPropertiesOfAllTables(&tables).ok()) return {};
  std::set<std::string> names;
  for (const auto& [path, properties] : tables) {
    if (properties->num_deletions + properties->num_range_deletions > 0) names.insert(path.substr(path.rfind('/')));
  }
  return names;
}

std::optional<RocksDbStore::CompactionInput> RocksDbStore::smallest_to_compact(
    const std::set<std::string>& names) const {
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::optional<CompactionInput> smallest;
  for (const auto& file : files) {
    if (!names.contains(file.name)) continue;
    auto input = compacted_with(file, files);
    if (!smallest || input.bytes < smallest->bytes) smallest = std::move(input);
  }
  return smallest;
}

RocksDbStore::CompactionInput RocksDbStore::compacted_with(const rocksdb::LiveFileMetaData& file,
                                                           const std::vector<rocksdb::LiveFileMetaData>& files) {
  CompactionInput input{.first = file.smallestkey, .last = file.largestkey, .files = {}};
  for (std::size_t known = 0;;) {
    input.bytes = 0;
    input.files.clear();
    for (const auto& other : files) {
      if (other.largestkey < input.first || other.smallestkey > input.last) continue;
      input.bytes += other.size;
      input.files.push_back(other.name);
      input.first = std::min(input.first, other.smallestkey);
      input.last = std::max(input.last, other.largestkey);
    }
    if (input.files.size() == known) return input;
    known = input.files.size();
  }
}

std::uint64_t RocksDbStore::bytes_left_in(const CompactionInput& input) const {
  // For a reader with an older snapshot, a compaction keeps what was deleted.
  if (older_snapshots()) return input.bytes;
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> row(db_->NewIterator(options));
  std::uint64_t bytes = 0;
  for (row->Seek(input.first); row->Valid() && row->key().compare(input.last) <= 0 && bytes < input.bytes;
       row->Next()) {
    bytes += row->key().size() + row->value().size();
  }
  return row->status().ok() ? std::min(bytes, input.bytes) : input.bytes;
}

void RocksDbStore::note_full() {
  if (std::exchange(noted_full_, true)) return;
  const bool soon = recovered_at_ && std::chrono::steady_clock::now() - *recovered_at_ < kFullAgainSoon;
  full_again_ = soon ? std::min(full_again_ + 1, kMostDoublings) : 0;
}

std::uint64_t RocksDbStore::compaction_room() const {
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::uint64_t data = 0;
  std::uint64_t input = 0;  // of level 0, and what it is merged with
  for (const auto& file : files) {
    data += file.size;
    const bool merged =
        file.level == 0 || std::any_of(files.begin(), files.end(), [&](const auto& other) {
          return other.level == 0 && other.largestkey >= file.smallestkey && other.smallestkey <= file.largestkey;
        });
    if (merged) input += file.size;
  }
  return std::min(input, std::min(kMostCompactionRoom, data / kCompactionShare) << full_again_);
}

void RocksDbStore::drop_erased_files(const Batch& batch) {
  if (older_snapshots()) return;
  for (const auto& operation : batch.operations()) {
    if (operation.kind != Batch::Kind::EraseRange || operation.value.empty()) continue;
    const auto first = is_reserved_key(operation.key) ? kFirstUserKey : BytesView(operation.key);
    if (operation.value <= first) continue;
    const auto begin = slice(first);
    const auto end = slice(operation.value);
    rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &begin, &end, false).PermitUncheckedError();
  }
}

}  // namespace stator::storage
