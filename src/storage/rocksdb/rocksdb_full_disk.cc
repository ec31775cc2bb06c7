#include <rocksdb/convenience.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "stator/base/log.h"
#include "stator/storage/rocksdb/rocksdb_reads.h"
#include "stator/storage/rocksdb/rocksdb_store_impl.h"

namespace stator::storage {
namespace {

// What going back to normal wants for the first compaction: all of its input, but at most this, and at most this part
// of the data.  A store that is full again so soon after wants twice as much.
constexpr std::uint64_t kMostCompactionRoom = 64ULL << 20;
constexpr std::uint64_t kCompactionShare = 4;
constexpr std::chrono::seconds kFullAgainSoon{60};
constexpr unsigned kMostDoublings = 10;

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
    TRY(open_database(Mode::ReadOnly));
  }
  return full;
}

bool RocksDbStore::take_reserve() {
  const auto bytes = reserve_bytes(options_.path);
  if (bytes == 0 || !release_reserve(options_.path)) return false;
  reserve_released_ += bytes;
  return true;
}

void RocksDbStore::note_erased(const Batch& batch) {
  for (const auto& operation : batch.operations()) {
    const bool range = operation.kind == Batch::Kind::EraseRange;
    if (!range && operation.kind != Batch::Kind::Erase) continue;
    const auto end = range ? operation.value : operation.key + Bytes(1, '\0');
    erased_.begin = erased_.begin.empty() ? operation.key : std::min(erased_.begin, operation.key);
    erased_.end = std::max(erased_.end, end);
  }
}

void RocksDbStore::compact_erased() {
  const auto erased = std::exchange(erased_, {});
  if (db_ == nullptr || erased.end.empty() || listener_->failed()) return;
  const auto fits = [&](std::uint64_t bytes) {
    const auto free = free_bytes(options_.path);
    return free && bytes + room_.compaction_headroom < *free;
  };
  if (!fits(property("rocksdb.cur-size-all-mem-tables")) || !db_->Flush({}).ok()) return;
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  for (const auto& file : files) {
    if (file.largestkey < erased.begin || file.smallestkey >= erased.end) continue;
    if (!fits(bytes_compacted_with(file, files))) continue;
    rocksdb::CompactRangeOptions compact;
    compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    const rocksdb::Slice begin(file.smallestkey);
    const rocksdb::Slice end(file.largestkey);
    if (!db_->CompactRange(compact, &begin, &end).ok()) return;
  }
}

std::uint64_t RocksDbStore::bytes_compacted_with(const rocksdb::LiveFileMetaData& file,
                                                 const std::vector<rocksdb::LiveFileMetaData>& files) {
  auto first = file.smallestkey;
  auto last = file.largestkey;
  for (std::uint64_t bytes = 0;;) {
    std::uint64_t found = 0;
    for (const auto& other : files) {
      if (other.largestkey < first || other.smallestkey > last) continue;
      found += other.size;
      first = std::min(first, other.smallestkey);
      last = std::max(last, other.largestkey);
    }
    if (found == bytes) return bytes;
    bytes = found;
  }
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
  if (open_snapshots_.load(std::memory_order_acquire) > 0) return;
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
