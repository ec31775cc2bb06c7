#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stator/engine/check/check.h"
#include "stator/engine/keyspace.h"
#include "stator/engine/schema.h"
#include "stator/value/attribute_value.h"

namespace stator::engine {

// A check under way: its reads and its findings.  Confined to one thread.
class Checking {
 public:
  // A snapshot of `store`; `mends`: whether to mend it.  All outlive it.
  Checking(const storage::Snapshot& snapshot, storage::Store& store, const CheckOptions& options, CheckReport& report,
           bool mends)
      : snapshot_(snapshot), store_(store), options_(options), report_(report), mends_(mends ? &store : nullptr) {}

  CheckReport& report() { return report_; }
  // No commit in the lane of the key that the snapshot sees is newer.
  storage::CommitSequence last_commit_of(BytesView key) const { return store_.last_commit_of(key); }
  std::uint8_t change_partitions() const { return engine::change_partitions(store_.capabilities().lanes); }
  // Not if anything cannot be read: values computed from the rest would be wrong, and a damaged store takes no commit.
  bool repairs() const {
    return mends_ != nullptr && unreadable() == 0 && report_.total(FindingKind::DamagedFile) == 0;
  }
  // How many parts could not be read so far.  Where it has not changed, all was read.
  std::uint64_t unreadable() const { return report_.total(FindingKind::Unreadable); }
  const storage::Snapshot& snapshot() const { return snapshot_; }
  void expect_records(std::uint64_t total) { expected_ = total; }

  void find(Finding finding);
  // Where a finding is.
  void find(FindingKind kind, const Table& table, const Index* index, std::string key, std::string what);

  // Hands every record of a range to `visit(key, value)`.  A part that cannot be read is a finding, and ends the range.
  // Errors: Busy.
  template <typename Visit>
  Result<void> each(const storage::KeyRange& range, std::string_view table, Visit visit) {
    const auto cursor = snapshot_.cursor(range, storage::Direction::Forward);
    for (; cursor->valid(); cursor->next()) {
      TRY(step());
      TRY(visit(cursor->key(), cursor->value()));
    }
    if (const auto status = cursor->status(); !status) find_unreadable(table, status.error());
    return {};
  }
  // The value at a key; an error is a finding, and answered as `unreadable`.
  struct Looked {
    std::optional<Bytes> value;
    bool unreadable = false;
  };
  Looked look(BytesView key, std::string_view table);

  // Changes that mend a finding, kept until there are enough for a commit.  Nothing when nothing is to be mended.
  void put(KeyBytes key, Bytes value);
  void erase(KeyBytes key);
  Result<void> mend_now();  // commits the changes kept so far
  Result<void> mend_if_many();

 private:
  Result<void> step();
  void find_unreadable(std::string_view table, const Error& error);

  const storage::Snapshot& snapshot_;
  const storage::Store& store_;
  const CheckOptions& options_;
  CheckReport& report_;
  storage::Store* const mends_;
  std::uint64_t expected_ = 0;
  std::uint64_t steps_ = 0;
  storage::Batch mending_;
};

// Items, indexes, expiries and counters of one table.  Errors: Busy, Storage.
Result<void> check_table(Checking& checking, const Table& table);

// "{"pk":{"S":"u1"}}", the table's key attributes of an item that has them.
std::string key_text(const Table& table, const value::Item& item);
// Some of a key's bytes.
std::string key_text(BytesView key);
// Why an item cannot have a key in this table; nothing when it can.
std::optional<std::string> key_problem(const Table& table, const value::Item& item);

}  // namespace stator::engine
