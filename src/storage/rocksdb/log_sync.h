#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stator/base/mutex.h"

namespace stator::storage {

// The files that RocksDB writes to, with a sync of its logs that needs no lock of RocksDB's.
//
// RocksDB's own SyncWAL() must not run beside a write: if the write fails, it stops the process.  sync() has
// descriptors of its own, so that the disk can take one commit while RocksDB appends the next.  Thread-safe.
//
// A log of small commits is filled ahead: behind its last record are up to 256 KB of the byte ff.  The next records
// overwrite them, and the sync of blocks that were written before takes half the time of one that makes a file longer.
// No record is valid in the filling, so a reader ends there.  A log that is closed has no filling.
class LogSync final : public rocksdb::FileSystemWrapper {
 public:
  // Logs are the files .log in `folder` itself; files that a checkpoint copies elsewhere are not synced here.
  // `sync_file` is fdatasync(), or fails in a test.
  using SyncFile = std::function<int(int descriptor)>;
  static constexpr std::uint64_t kFilledAhead = 256ULL << 10;
  LogSync(std::string folder, SyncFile sync_file);
  ~LogSync() override;
  const char* Name() const override { return "StatorLogSync"; }

  // All that was appended to logs before this call is on disk when it returns, and so are the names of the logs.
  rocksdb::IOStatus sync();

  // A file that RocksDB has closed is not synced any more: no commit waits for it.
  void drop_closed();

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* context) override;

 private:
  struct Log;
  class LogFile;

  void close(const std::shared_ptr<Log>& log);

  const std::string folder_;
  const SyncFile sync_file_;

  // A log stays here, and keeps its room on the disk, until it is closed and synced.
  Mutex mutex_;
  std::vector<std::shared_ptr<Log>> logs_ GUARDED_BY(mutex_);
};

}  // namespace stator::storage
