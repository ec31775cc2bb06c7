#pragma once

#include <rocksdb/wal_filter.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <string>

#include "stator/storage/rocksdb/log_file.h"

namespace stator::storage {

// Keeps RocksDB from commits behind a hole in the logs.
//
// A power cut can leave an unsynced commit on disk without those before it.  RocksDB ends at a hole only if it is a
// record with a wrong checksum.  It goes on where a log lost its end at the boundary of a record and a newer log has
// later commits, and behind zeros up to the end of a block.
//
// For one opening of a database.  The database must not outlive it.
class ReplayFilter final : public rocksdb::WalFilter {
 public:
  // As check_folder() has found: the newest commit in tables, and the newest one that the logs lead to without a hole.
  ReplayFilter(std::uint64_t flushed, std::uint64_t reachable) : taken_(flushed), reachable_(reachable) {}

  const char* Name() const override { return "StatorReplayFilter"; }
  WalProcessingOption LogRecordFound(unsigned long long /*log*/, const std::string& /*name*/,
                                     const rocksdb::WriteBatch& batch, rocksdb::WriteBatch* /*instead*/,
                                     bool* /*changed*/) override {
    const auto commit = commit_of_record(batch.Data());
    const bool taken = !commit || (*commit <= reachable_ && taken_.take(*commit));
    return taken ? WalProcessingOption::kContinueProcessing : WalProcessingOption::kIgnoreCurrentRecord;
  }

 private:
  CommitChain taken_;
  const std::uint64_t reachable_;
};

}  // namespace stator::storage
