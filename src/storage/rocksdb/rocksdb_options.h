#pragma once

#include <rocksdb/options.h>

#include <chrono>
#include <cstdarg>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stator/base/bytes.h"
#include "stator/base/mutex.h"
#include "stator/storage/rocksdb/rocksdb_store.h"

// For the files of this folder: how all of them open a database.
namespace stator::storage {

// On disk: keys that start with 0x00 are ours, everything behind them is the engine's.
//   00 's' 'e' 'q'  ->  01 sequence:u64be     the newest commit, written in the same batch as its changes
inline constexpr BytesView kSequenceKey("\0seq", 4);

// In the log, before that of a commit, is a note that goes into no table:
//   00 's' 'y' 'n'  sequence:u64be     the newest commit that was on disk when this one was written; not if relaxed
inline constexpr BytesView kSyncedNote("\0syn", 4);
inline constexpr char kSequenceVersion = 1;

// RocksDB's warnings and errors go to our log, each kind at most once a minute, and its chatter nowhere: there are no
// LOG files in the data folder.  Thread-safe.
class LogBridge final : public rocksdb::Logger {
 public:
  LogBridge() : Logger(rocksdb::WARN_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override { Logv(rocksdb::WARN_LEVEL, format, arguments); }
  void Logv(rocksdb::InfoLogLevel level, const char* format, va_list arguments) override;

  // Between the two, lines are kept back: when opening fails, its error says it all in one.
  void hold();
  void let_go(bool print);

 private:
  static void write(rocksdb::InfoLogLevel level, BytesView text);

  Mutex mutex_;
  bool holding_ GUARDED_BY(mutex_) = false;
  std::vector<std::pair<rocksdb::InfoLogLevel, std::string>> held_ GUARDED_BY(mutex_);
  // By format string; RocksDB has a few hundred, all literals.
  std::map<const void*, std::chrono::steady_clock::time_point> said_ GUARDED_BY(mutex_);
};

// The memory that a write buffer takes at a time.
std::uint64_t arena_block_bytes(std::uint64_t write_buffer);

rocksdb::Options rocksdb_options(const RocksDbOptions& options, std::shared_ptr<rocksdb::Logger> log);

}  // namespace stator::storage
