#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <atomic>
#include <functional>
#include <utility>

#include "stator/base/mutex.h"
#include "stator/base/priority.h"
#include "stator/storage/rocksdb/rocksdb_status.h"

namespace stator::storage {

// Hears when a flush or a compaction fails, and when a read finds damage.  RocksDB would go on taking writes until too
// many files wait for compaction, and then let them hang; we stop at once.  Also hears when the files of the database
// change, and lets requests have the processor before compactions.  Thread-safe.
class FailureListener final : public rocksdb::EventListener {
 public:
  // Before the database is opened.
  void on_new_files(std::function<void(rocksdb::DB&)> call) { new_files_ = std::move(call); }

  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& /*info*/) override { new_files_(*db); }
  // On the thread that compacts.  A thread that wakes up for a request does not always take the core from one that has
  // the same priority.
  void OnCompactionBegin(rocksdb::DB* /*db*/, const rocksdb::CompactionJobInfo& /*info*/) override {
    constexpr int kNiceness = 10;
    lower_priority(kNiceness);
  }
  void OnCompactionCompleted(rocksdb::DB* db, const rocksdb::CompactionJobInfo& /*info*/) override { new_files_(*db); }

  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status* status) override { note(*status); }

  // Notes a read that failed because a file is damaged.  A sum of values that are no counters is not counted as damage.
  void note_read(const rocksdb::Status& status) {
    if (trouble_of(status) == StoreTrouble::Damaged && !table_in(status.ToString()).empty()) note(status);
  }

  bool failed() const { return failed_.load(std::memory_order_acquire); }
  rocksdb::Status status() const {
    MutexLock lock(mutex_);
    return status_;
  }
  void forget() {
    MutexLock lock(mutex_);
    failed_.store(false, std::memory_order_release);
  }

 private:
  void note(const rocksdb::Status& status) {
    MutexLock lock(mutex_);
    // Damage is not forgotten over a disk that was full before.
    if (failed_.load(std::memory_order_relaxed) && !status.IsCorruption()) return;
    status_ = status;
    failed_.store(true, std::memory_order_release);
  }

  std::function<void(rocksdb::DB&)> new_files_;
  mutable Mutex mutex_;
  std::atomic<bool> failed_{false};
  rocksdb::Status status_ GUARDED_BY(mutex_);
};

}  // namespace stator::storage
