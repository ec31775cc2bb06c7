#include "stator/storage/testing/faulty_store.h"

#include <utility>

#include "stator/storage/failed_cursor.h"

namespace stator::storage::testing {
namespace {

Error told_to_fail() { return {ErrorCode::Storage, "No space left on device (injected)"}; }

Error outdated() { return {ErrorCode::Outdated, "another process has begun a new epoch (injected)"}; }

class FaultySnapshot final : public Snapshot {
 public:
  FaultySnapshot(std::unique_ptr<Snapshot> snapshot, std::function<Result<void>()> check)
      : snapshot_(std::move(snapshot)), check_(std::move(check)) {}
  Result<std::optional<Bytes>> get(BytesView key) const override {
    TRY(check_());
    return snapshot_->get(key);
  }
  std::unique_ptr<Cursor> cursor(const KeyRange& range, Direction direction) const override {
    if (auto checked = check_(); !checked) return std::make_unique<FailedCursor>(std::move(checked).error());
    return snapshot_->cursor(range, direction);
  }

 private:
  std::unique_ptr<Snapshot> snapshot_;
  std::function<Result<void>()> check_;
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

void FaultyStore::keep_written_in_trouble() {
  MutexLock lock(mutex_);
  keep_written_ = true;
}

Error FaultyStore::trouble_error() const {
  return trouble_ == StoreTrouble::Damaged ? Error{ErrorCode::Corruption, "block checksum mismatch (injected)"}
                                           : told_to_fail();
}

StoreHealth FaultyStore::health() const {
  MutexLock lock(mutex_);
  auto health = trouble_ == StoreTrouble::None ? store_->health()
                                               : StoreHealth{.trouble = trouble_, .cause = trouble_error().message};
  health.readable = !fail_reads_;
  return health;
}

void FaultyStore::report_shared(bool shared) {
  MutexLock lock(mutex_);
  shared_ = shared;
}

void FaultyStore::report_durable(bool durable) {
  MutexLock lock(mutex_);
  durable_ = durable;
}

void FaultyStore::report_two_steps(bool two_steps) {
  MutexLock lock(mutex_);
  two_steps_ = two_steps;
}

void FaultyStore::before_commit(std::function<void(const Batch&)> hook) {
  MutexLock lock(mutex_);
  hook_ = std::move(hook);
}

void FaultyStore::before_publish(std::function<void()> hook) {
  MutexLock lock(mutex_);
  publish_hook_ = std::move(hook);
}

std::size_t FaultyStore::commits_tried() const {
  MutexLock lock(mutex_);
  return commits_tried_;
}

std::size_t FaultyStore::recoveries_tried() const {
  MutexLock lock(mutex_);
  return recoveries_tried_;
}

Result<void> FaultyStore::check_read() const {
  MutexLock lock(mutex_);
  if (fail_reads_) return told_to_fail();
  return {};
}

Result<void> FaultyStore::check_epoch() const {
  MutexLock lock(mutex_);
  if (newest_epoch_ != entered_epoch_) return outdated();
  return {};
}

Result<std::optional<Bytes>> FaultyStore::get(BytesView key) const {
  TRY(check_read());
  TRY(check_epoch());
  return store_->get(key);
}

Result<ValuesRead> FaultyStore::get_all(const std::vector<BytesView>& keys) const {
  TRY(check_read());
  TRY(check_epoch());
  return store_->get_all(keys);
}

CommitSequence FaultyStore::epoch() const {
  if (store_->capabilities().shared) return store_->epoch();
  MutexLock lock(mutex_);
  return entered_epoch_;
}

void FaultyStore::enter_epoch(CommitSequence epoch) {
  if (store_->capabilities().shared) return store_->enter_epoch(epoch);
  MutexLock lock(mutex_);
  entered_epoch_ = epoch;
}

void FaultyStore::begin_epoch() {
  MutexLock lock(mutex_);
  ++newest_epoch_.value;
}

Result<SnapshotOfEpoch> FaultyStore::snapshot_of_epoch() const {
  CommitSequence epoch;
  {
    MutexLock lock(mutex_);
    epoch = newest_epoch_;
  }
  auto taken = TRY(store_->snapshot_of_epoch());
  taken.snapshot = std::make_unique<FaultySnapshot>(std::move(taken.snapshot), [this] { return check_read(); });
  if (!store_->capabilities().shared) taken.epoch = epoch;
  return taken;
}

std::unique_ptr<Snapshot> FaultyStore::snapshot() const {
  auto current = check_epoch();
  return std::make_unique<FaultySnapshot>(store_->snapshot(), [this, current = std::move(current)]() -> Result<void> {
    TRY(check_read());
    return current;
  });
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

Result<void> FaultyStore::begin_commit(const Batch& batch) {
  std::function<void(const Batch&)> hook;
  {
    MutexLock lock(mutex_);
    hook = hook_;
  }
  if (hook) hook(batch);
  MutexLock lock(mutex_);
  if (batch.epoch() != newest_epoch_ && shared_ && !store_->capabilities().shared) return outdated();
  const bool accepted =
      trouble_ == StoreTrouble::None || (trouble_ == StoreTrouble::DiskFull && batch.is_freeing_space());
  if (accepted) return {};
  ++commits_tried_;
  return trouble_error();
}

Result<CommitSequence> FaultyStore::commit(Batch batch) {
  TRY(begin_commit(batch));
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
  const bool begins_epoch = batch.is_beginning_epoch();
  auto committed = store_->commit(std::move(batch));
  MutexLock lock(mutex_);
  if (committed && begins_epoch && shared_ && !store_->capabilities().shared) newest_epoch_ = *committed;
  return committed;
}

Result<CommitSequence> FaultyStore::write(Batch batch) {
  if (!capabilities().two_steps) return commit(std::move(batch));
  TRY(begin_commit(batch));
  const auto fate = next_fate();
  MutexLock lock(mutex_);
  if (fate == Fate::Fail) lost_written_ = true;
  if (lost_written_) return told_to_fail();
  unpublished_.push_back({std::move(batch), fate});
  return CommitSequence{store_->last_commit().value + unpublished_.size()};
}

Result<void> FaultyStore::publish(CommitSequence sequence) {
  std::function<void()> hook;
  {
    MutexLock lock(mutex_);
    hook = publish_hook_;
  }
  if (hook) hook();
  MutexLock lock(mutex_);
  if (trouble_ != StoreTrouble::None) return trouble_error();
  while (!unpublished_.empty() && store_->last_commit() < sequence && !lost_written_) {
    auto [batch, fate] = std::move(unpublished_.front());
    unpublished_.pop_front();
    lost_written_ = fate != Fate::Succeed;
    if (fate == Fate::FailUntilRecovery) {
      found_at_recovery_.push_back(std::move(batch));
    } else {
      TRY(store_->commit(std::move(batch)));
    }
  }
  if (lost_written_ || store_->last_commit() < sequence) return told_to_fail();
  return {};
}

Result<std::optional<Bytes>> FaultyStore::get_written(BytesView key) const {
  TRY(check_read());
  auto value = TRY(store_->get(key));
  MutexLock lock(mutex_);
  for (const auto& [batch, fate] : unpublished_) {
    for (const auto& operation : batch.operations()) {
      if (operation.key != key) continue;
      if (operation.kind == Batch::Kind::Put) value = operation.value;
      if (operation.kind == Batch::Kind::Erase) value.reset();
      if (operation.kind == Batch::Kind::Add) {
        value = encode_counter(add_to_counter(value ? TRY(decode_counter(*value)) : 0, operation.delta));
      }
    }
  }
  return value;
}

Result<void> FaultyStore::recover() {
  std::vector<Batch> found;
  {
    MutexLock lock(mutex_);
    ++recoveries_tried_;
    if (trouble_ != StoreTrouble::None) {
      if (!keep_written_) return trouble_error();
      for (auto& [batch, fate] : std::exchange(unpublished_, {})) TRY(store_->commit(std::move(batch)));
      return trouble_error();
    }
    if (fail_recover_) return told_to_fail();
    failed_ = false;
    lost_written_ = false;
    unpublished_.clear();
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
  capabilities.two_steps = two_steps_ && !capabilities.shared;
  return capabilities;
}

}  // namespace stator::storage::testing
