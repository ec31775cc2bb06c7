#include "stator/engine/write/pending_commit.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <utility>

namespace stator::engine {

FreshnessMap::Slot& FreshnessMap::slot(BytesView key) { return slots_[XXH3_64bits(key.data(), key.size()) % kSlots]; }

PendingCommit::PendingCommit(storage::Store& store, FreshnessMap& freshness, std::uint64_t number, WallTime time,
                             bool reads_written)
    : store_(store),
      freshness_(freshness),
      number_(number),
      time_(time),
      shared_(store.capabilities().shared),
      lanes_(store.capabilities().lanes),
      reads_written_(reads_written) {
  batch_.made_in_epoch(store.epoch());
  if (!shared_) return;
  batch_.read_at(store.read_point());
  if (const auto* clock = store.clock()) batch_.made_at(clock->now());
}

bool PendingCommit::is_fresh(BytesView key, std::uint64_t seen) const {
  // Other processes write to a shared store: nothing read ahead counts, and every read is declared.
  return !shared_ && freshness_.slot(key).commit <= seen;
}

Result<std::optional<Bytes>> PendingCommit::get(BytesView key) {
  if (const auto& slot = freshness_.slot(key); slot.commit == number_) {
    for (auto at = slot.last_write; at != kNoWrite; at = writes_[at].previous) {
      const auto& operation = batch_.operations()[writes_[at].operation];
      if (operation.key != key) continue;
      return operation.kind == storage::Batch::Kind::Put ? std::optional(operation.value) : std::nullopt;
    }
  }
  if (shared_) batch_.depends_on(Bytes(key));
  return read(key);
}

Result<std::optional<Bytes>> PendingCommit::read(BytesView key) const {
  // Values that are written and not published are newer than those that readers see.
  if (!shared_) {
    const bool unpublished = reads_written_ && freshness_.slot(key).commit > freshness_.now();
    return unpublished ? store_.get_written(key) : store_.get(key);
  }
  if (const auto found = ahead_.find(key); found != ahead_.end()) return found->second;
  auto value = store_.get(key);
  if (!value && value.error().code == ErrorCode::Outdated) outdated_ = true;
  return value;
}

Result<void> PendingCommit::read_ahead(const std::vector<KeyBytes>& keys) {
  if (!shared_) return {};
  std::vector<BytesView> unknown;
  for (const auto& key : keys) {
    if (!ahead_.contains(key)) unknown.push_back(key);
  }
  if (unknown.empty()) return {};
  auto read = store_.get_all(unknown);
  if (!read) {
    outdated_ = outdated_ || read.error().code == ErrorCode::Outdated;
    return std::move(read).error();
  }
  // Nothing was read before the first time.
  if (ahead_.empty() && batch_.keys_read().empty()) batch_.read_at(read->at);
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    if (read->values[i]) bytes_ahead_ += read->values[i]->size();
    ahead_.emplace(unknown[i], std::move(read->values[i]));
  }
  return {};
}

Result<std::int64_t> PendingCommit::counter(BytesView key) const {
  // The FreshnessMap does not have additions, so it cannot tell whether an unpublished commit has one.
  const auto bytes = TRY(reads_written_ ? store_.get_written(key) : read(key));
  const auto value = bytes ? TRY(storage::decode_counter(*bytes)) : 0;
  const auto added = added_.find(key);
  return added == added_.end() ? value : storage::add_to_counter(value, added->second);
}

Result<std::int64_t> PendingCommit::greatest_table_with_items() const {
  const auto snapshot = store_.snapshot();
  const auto last = snapshot->cursor(all_items(), storage::Direction::Backward);
  if (const auto status = last->status(); !status) {
    outdated_ = outdated_ || status.error().code == ErrorCode::Outdated;
    return status.error();
  }
  return last->valid() ? table_of_item(last->key()).value_or(TableId{}).value : 0;
}

void PendingCommit::note_write(BytesView key) {
  auto& slot = freshness_.slot(key);
  writes_.push_back({batch_.operations().size(), slot.commit == number_ ? slot.last_write : kNoWrite});
  slot = {number_, static_cast<std::uint32_t>(writes_.size() - 1)};
}

void PendingCommit::put(KeyBytes key, Bytes value) {
  note_write(key);
  size_bytes_ += key.size() + value.size();
  batch_.put(std::move(key), std::move(value));
}

void PendingCommit::erase(KeyBytes key) {
  note_write(key);
  size_bytes_ += key.size();
  batch_.erase(std::move(key));
}

void PendingCommit::erase_range(storage::KeyRange range) { batch_.erase_range(std::move(range)); }

void PendingCommit::add(KeyBytes counter, std::int64_t delta) {
  if (delta == 0) return;
  auto& added = added_[counter];
  added = storage::add_to_counter(added, delta);
  batch_.add(std::move(counter), delta);
}

void PendingCommit::add_statistics(TableId table, IndexId index, std::int64_t items, std::int64_t bytes) {
  for (auto& delta : statistics_) {
    if (delta.table == table && delta.index == index) {
      delta.items += items;
      delta.bytes += bytes;
      return;
    }
  }
  statistics_.push_back({table, index, items, bytes});
}

void PendingCommit::append_change(TableId table, std::uint64_t hash, Bytes record) {
  size_bytes_ += record.size();
  const auto partition = change_partition(hash, change_partitions(lanes_));
  put_sequenced(change_key(table, partition, next_ordinal_++), kChangeSequenceAt, std::move(record));
}

void PendingCommit::note_time() {
  if (std::exchange(time_noted_, true)) return;
  Bytes time;
  append_u64be(time, static_cast<std::uint64_t>(time_.time_since_epoch().count()));
  put_sequenced(commit_time_key({}), kCommitTimeSequenceAt, std::move(time));
}

void PendingCommit::put_sequenced(KeyBytes key, std::size_t sequence_at, Bytes value) {
  batch_.put_sequenced(std::move(key), sequence_at, std::move(value));
}

storage::Batch PendingCommit::take_batch() {
  const auto add = [&](const auto& delta, Statistic statistic, std::int64_t change) {
    if (change != 0) batch_.add(statistic_key(delta.table, delta.index, statistic), change);
  };
  for (const auto& delta : statistics_) {
    add(delta, Statistic::Items, delta.items);
    add(delta, Statistic::Bytes, delta.bytes);
  }
  statistics_.clear();
  return std::move(batch_);
}

}  // namespace stator::engine
