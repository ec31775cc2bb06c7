#include "stator/storage/rocksdb/rocksdb_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cstdio>

#include "stator/base/log.h"
#include "stator/storage/rocksdb/counter_merge.h"
#include "stator/storage/rocksdb/memtable/key_tree_factory.h"

namespace stator::storage {

void LogBridge::Logv(rocksdb::InfoLogLevel level, const char* format, va_list arguments) {
  if (level < rocksdb::WARN_LEVEL || level == rocksdb::HEADER_LEVEL) return;
  for (const BytesView usual : {
           "File Deletions",  // said by every checkpoint
           ": dropping ",     // the filling of a log; folder_check.cc has seen that no commit is lost
       }) {
    if (BytesView(format).find(usual) != BytesView::npos) return;
  }
  char buffer[512];
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  std::string text(buffer);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  MutexLock lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  const auto [said, first] = said_.try_emplace(format, now);
  if (!first && now - said->second < std::chrono::minutes(1)) return;
  said->second = now;
  if (holding_) {
    held_.emplace_back(level, text);
  } else {
    write(level, text);
  }
}

void LogBridge::hold() {
  MutexLock lock(mutex_);
  holding_ = true;
}

void LogBridge::let_go(bool print) {
  MutexLock lock(mutex_);
  holding_ = false;
  for (const auto& [level, text] : std::exchange(held_, {})) {
    if (print) write(level, text);
  }
}

void LogBridge::write(rocksdb::InfoLogLevel level, BytesView text) {
  if (level >= rocksdb::ERROR_LEVEL) {
    log::error("rocksdb", {{"message", text}});
  } else {
    log::warning("rocksdb", {{"message", text}});
  }
}

std::uint64_t arena_block_bytes(std::uint64_t write_buffer) {
  return std::min<std::uint64_t>(1 << 20, write_buffer / 8);
}

rocksdb::Options rocksdb_options(const RocksDbOptions& options, std::shared_ptr<rocksdb::Logger> log) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(options.block_cache_bytes, /*num_shard_bits=*/6);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.format_version = 5;
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  // Index and filter blocks live in the cache, so that its size bounds the memory of a large store.  They are cut into
  // pieces: one index of a whole file is megabytes large, falls out of the cache, and is then read and unpacked again
  // for every item.
  table.cache_index_and_filter_blocks = true;
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.enable_index_compression = false;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.pin_top_level_index_and_filter = true;

  rocksdb::Options rocks;
  rocks.create_if_missing = true;
  rocks.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocks.merge_operator = new_counter_merge();
  // A hot counter would otherwise pile up one operand per commit until the next flush, and reading it would add them
  // all.
  rocks.max_successive_merges = 16;
  // Also at the last level: ZSTD makes files smaller, and took a quarter of the processor time of a load by batches.
  rocks.compression = rocksdb::kLZ4Compression;
  rocks.level_compaction_dynamic_level_bytes = true;

  rocks.write_buffer_size = options.write_buffer_bytes;
  rocks.max_write_buffer_number = 3;
  // Most reads find nothing in a write buffer.
  rocks.memtable_whole_key_filtering = true;
  rocks.memtable_prefix_bloom_size_ratio = 0.02;
  rocks.arena_block_size = arena_block_bytes(options.write_buffer_bytes);
  rocks.memtable_factory = new_key_tree_factory();

  // One commit at a time, so nothing to run in parallel or to order.
  rocks.allow_concurrent_memtable_write = false;
  rocks.enable_write_thread_adaptive_yield = false;

  // Reserving the log ahead makes a sync no cheaper (measured), and an empty store 70 MB large.  Overwriting old logs
  // would, but recycling does not go with point-in-time recovery, and in this version risks holes in what is recovered.
  // LogSync fills logs ahead instead.
  rocks.allow_fallocate = false;
  rocks.recycle_log_file_num = 0;
  // Up to a damaged record, and behind it only if no commit is missing.  check_folder() has seen before that this loses
  // nothing that was acknowledged, and ReplayFilter closes the holes that RocksDB does not see.
  rocks.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  rocks.track_and_verify_wals_in_manifest = true;

  rocks.max_bgerror_resume_count = 0;  // see recover()

  rocks.max_background_jobs = 2;
  rocks.max_open_files = options.open_files;
  rocks.max_file_opening_threads = 1;
  rocks.stats_dump_period_sec = 0;
  rocks.stats_persist_period_sec = 0;
  rocks.info_log = std::move(log);
  rocks.avoid_unnecessary_blocking_io = true;
  rocks.bytes_per_sync = 1 << 20;
  rocks.skip_stats_update_on_db_open = true;
  return rocks;
}

}  // namespace stator::storage
