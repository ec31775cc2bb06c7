#include "stator/storage/testing/faulty_store.h"

#include <utility>

namespace stator::storage::testing {
namespace {

Error told_to_fail() { return {ErrorCode::Storage, "No space left on device (injected)"}; }

class FailedCursor final : public Cursor {
 public:
  bool valid() const override { return false; }
  void next() override {}
  BytesView key() const override { return {}; }
  BytesView value() const override { return {}; }
  Result<void> status() const override { return told_to_fail(); }
};

class FaultySnapshot final : public Snapshot {
 public:
  FaultySnapshot(std::unique_ptr<Snapshot> snapshot, std::function<bool()> fails)
      : snapshot_(std::move(snapshot)), fails_(std::move(fails)) {}
  Result<std::optional<Bytes>> get(BytesView key) const override {
    if (fails_()) return told_to_fail();
    return snapshot_->get(key);
  }
  std::unique_ptr<Cursor> cursor(const KeyRange& range, Direction direction) const override {
    if (fails_()) return std::make_unique<FailedCursor>();
    return snapshot_->cursor(range, direction);
  }

 private:
  std::unique_ptr<Snapshot> snapshot_;
  std::function<bool()> fails_;
};

}  // namespace

void FaultyStore::fail_commits(std::size_t count) {
  MutexLock lock(mutex_);
  failures_ = count;
}

void FaultyStore::fail_commits_after_the_fact(std::size_t count) {
  MutexLock lock(mutex_);
  failures_after_the_fact_ = count;
}

void FaultyStore::fail_commits_found_at_recovery(std::size_t count) {
  MutexLock lock(mutex_);
  failures_found_at_recovery_ = count;
}

void FaultyStore::conflict_commits(std::size_t count) {
  MutexLock lock(mutex_);
  conflicts_ = count;
}

void FaultyStore::fail_reads(bool fail) {
  MutexLock lock(mutex_);
  fail_reads_ = fail;
}

void FaultyStore::fail_recover(bool fail) {
  MutexLock lock(mutex_);
  fail_recover_ = fail;
}

void FaultyStore::be_in_trouble(StoreTrouble trouble) {
  MutexLock lock(mutex_);
  trouble_ = trouble;
}

Error FaultyStore::trouble_error() const {
  return trouble_ == StoreTrouble::Damaged ? Error{ErrorCode::Corruption, "block checksum mismatch (injected)"}
                                           : told_to_fail();
}

StoreHealth FaultyStore::health() const {
  MutexLock lock(mutex_);
  if (trouble_ == StoreTrouble::None) return store_->health();
  return {.trouble = trouble_, .cause = trouble_error().message};
}

void FaultyStore::report_shared(bool shared) {
  MutexLock lock(mutex_);
  shared_ = shared;
}

void FaultyStore::report_durable(bool durable) {
  MutexLock lock(mutex_);
  durable_ = durable;
}

void FaultyStore::before_commit(std::function<void(const Batch&)> hook) {
  MutexLock lock(mutex_);
  hook_ = std::move(hook);
}

std::size_t FaultyStore::commits_tried() const {
  MutexLock lock(mutex_);
  return commits_tried_;
}

std::size_t FaultyStore::recoveries_tried() const {
  MutexLock lock(mutex_);
  return recoveries_tried_;
}

bool FaultyStore::reads_fail() const {
  MutexLock lock(mutex_);
  return fail_reads_;
}

Result<std::optional<Bytes>> FaultyStore::get(BytesView key) const {
  if (reads_fail()) return told_to_fail();
  return store_->get(key);
}

std::unique_ptr<Snapshot> FaultyStore::snapshot() const {
  return std::make_unique<FaultySnapshot>(store_->snapshot(), [this] { return reads_fail(); });
}

FaultyStore::Fate FaultyStore::next_fate() {
  MutexLock lock(mutex_);
  ++commits_tried_;
  if (failed_ && fail_recover_) return Fate::Fail;
  if (failures_ > 0) {
    --failures_;
    failed_ = true;
    return Fate::Fail;
  }
  if (failures_after_the_fact_ > 0) {
    --failures_after_the_fact_;
    failed_ = true;
    return Fate::FailAfterTheFact;
  }
  if (failures_found_at_recovery_ > 0) {
    --failures_found_at_recovery_;
    failed_ = true;
    return Fate::FailUntilRecovery;
  }
  if (conflicts_ > 0) {
    --conflicts_;
    return Fate::Conflict;
  }
  return Fate::Succeed;
}

Result<CommitSequence> FaultyStore::commit(Batch batch) {
  std::function<void(const Batch&)> hook;
  {
    MutexLock lock(mutex_);
    hook = hook_;
  }
  if (hook) hook(batch);
  {
    MutexLock lock(mutex_);
    const bool accepted =
        trouble_ == StoreTrouble::None || (trouble_ == StoreTrouble::DiskFull && batch.is_freeing_space());
    if (!accepted) {
      ++commits_tried_;
      return trouble_error();
    }
  }
  switch (next_fate()) {
    case Fate::Succeed: break;
    case Fate::Fail: return told_to_fail();
    case Fate::FailAfterTheFact: TRY(store_->commit(std::move(batch))); return told_to_fail();
    case Fate::FailUntilRecovery: {
      MutexLock lock(mutex_);
      found_at_recovery_.push_back(std::move(batch));
      return told_to_fail();
    }
    case Fate::Conflict: return Error{ErrorCode::Conflict, "something this commit depends on has changed (injected)"};
  }
  return store_->commit(std::move(batch));
}

Result<void> FaultyStore::recover() {
  std::vector<Batch> found;
  {
    MutexLock lock(mutex_);
    ++recoveries_tried_;
    if (trouble_ != StoreTrouble::None) return trouble_error();
    if (fail_recover_) return told_to_fail();
    failed_ = false;
    found.swap(found_at_recovery_);
  }
  TRY(store_->recover());
  for (auto& batch : found) TRY(store_->commit(std::move(batch)));
  return {};
}

Capabilities FaultyStore::capabilities() const {
  auto capabilities = store_->capabilities();
  MutexLock lock(mutex_);
  capabilities.shared = capabilities.shared || shared_;
  capabilities.durable = capabilities.durable || durable_;
  return capabilities;
}

}  // namespace stator::storage::testing
