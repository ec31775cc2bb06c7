#include "stator/engine/index/index_builder.h"

#include <algorithm>
#include <future>

#include "stator/base/log.h"
#include "stator/engine/index/index_entry.h"
#include "stator/engine/table_change.h"

namespace stator::engine {
namespace {

// Adds the missing entries of a few items to an index.  Answers whether the index is still there to be built.
class BuildChunk final : public Work {
 public:
  BuildChunk(const Catalog& catalog, TableId table, IndexId index, std::vector<KeyBytes> keys, const Lease& lease,
             std::promise<Result<bool>> done)
      : catalog_(catalog),
        table_(table),
        index_(index),
        keys_(std::move(keys)),
        lease_(lease),
        done_(std::move(done)) {}

  void execute(PendingCommit& commit) override { outcome_ = add_entries(commit); }
  void will_read(std::vector<KeyBytes>& keys) const override {
    keys.push_back(lease_key());
    keys.insert(keys.end(), keys_.begin(), keys_.end());
  }

  void finish(const Result<storage::CommitSequence>& committed) override {
    if (!committed) outcome_ = Error(committed.error());
    done_.set_value(std::move(outcome_));
  }

 private:
  Result<bool> add_entries(PendingCommit& commit) {
    TRY(lease_.check(commit));
    const auto table = catalog_.find(table_);
    if (table == nullptr) return false;
    for (const auto& index : table->indexes) {
      if (index.id != index_ || !index.building) continue;
      TRY(add_missing(*table, index, commit));
      commit.put(build_progress_key(table_, index_), keys_.back());
      return true;
    }
    return false;
  }

  Result<void> add_missing(const Table& table, const Index& index, PendingCommit& commit) const {
    std::vector<IndexEntry> entries;
    std::vector<KeyBytes> entry_keys;
    for (const auto& key : keys_) {
      auto bytes = TRY(commit.get(key));
      if (!bytes) continue;  // deleted since the walk came by
      const auto stored = TRY(value::StoredItem::from_bytes(std::move(*bytes)));
      auto entry = index_entry(table, index, TRY(stored.parse()), stored);
      if (!entry) continue;  // not for this index
      entry_keys.push_back(entry->key);
      entries.push_back(std::move(*entry));
    }
    TRY(commit.read_ahead(entry_keys));
    for (auto& entry : entries) {
      if (TRY(commit.get(entry.key))) continue;  // written since the index was added
      commit.add_statistics(table.id, index.id, 1, static_cast<std::int64_t>(entry.item.item_size_bytes()));
      commit.put(std::move(entry.key), std::move(entry.item).bytes());
    }
    return {};
  }

  const Catalog& catalog_;
  const TableId table_;
  const IndexId index_;
  const std::vector<KeyBytes> keys_;
  const Lease& lease_;
  std::promise<Result<bool>> done_;
  Result<bool> outcome_ = false;
};

}  // namespace

IndexBuilder::IndexBuilder(const storage::Store& store, Catalog& catalog, Committer& committer, Lease& lease,
                           std::function<Result<void>()> catch_up)
    : store_(store),
      catalog_(catalog),
      committer_(committer),
      lease_(lease),
      catch_up_(std::move(catch_up)),
      thread_([this] { return build_queue(); }) {}

void IndexBuilder::build(TableId table) {
  {
    const MutexLock lock(mutex_);
    if (std::ranges::find(queue_, table) != queue_.end()) return;
    queue_.push_back(table);
  }
  thread_.wake();
}

bool IndexBuilder::build_queue() {
  for (;;) {
    TableId table;
    {
      const MutexLock lock(mutex_);
      if (queue_.empty()) return true;
      table = queue_.front();
      queue_.pop_front();
    }
    if (thread_.stopping()) return true;
    const auto built = build_table(table);
    if (built && *built == Outcome::Done) continue;
    if (!built) log::warning("index_build_delayed", {{"table", table.value}, {"cause", built.error().message}});
    const MutexLock lock(mutex_);
    if (std::ranges::find(queue_, table) == queue_.end()) queue_.push_back(table);
    return false;
  }
}

Result<IndexBuilder::Outcome> IndexBuilder::build_table(TableId id) {
  TRY(catch_up_());
  const auto table = catalog_.find(id);
  if (table == nullptr) return Outcome::Done;
  for (const auto& index : table->indexes) {
    if (index.building && TRY(build_index(*table, index)) == Outcome::NotOurs) return Outcome::NotOurs;
  }
  return Outcome::Done;
}

Result<IndexBuilder::Outcome> IndexBuilder::build_index(const Table& table, const Index& index) {
  if (!lease_.hold()) return Outcome::NotOurs;
  log::info("index_build_started", {{"table", table.name}, {"index", index.name}});
  storage::KeyRange rest = storage::KeyRange::prefix(index_prefix(table.id, kBaseIndex));
  if (const auto progress = TRY(store_.get(build_progress_key(table.id, index.id)))) rest.begin = *progress + '\0';
  for (;;) {
    if (!lease_.hold()) return Outcome::NotOurs;
    std::vector<KeyBytes> keys;
    {
      const auto snapshot = store_.snapshot();
      const auto cursor = snapshot->cursor(rest, storage::Direction::Forward);
      for (; cursor->valid() && keys.size() < kChunkItems; cursor->next()) keys.emplace_back(cursor->key());
      TRY(cursor->status());
    }
    if (keys.empty()) break;
    rest.begin = keys.back() + '\0';
    std::promise<Result<bool>> promise;
    auto done = promise.get_future();
    committer_.submit(
        std::make_unique<BuildChunk>(catalog_, table.id, index.id, std::move(keys), lease_, std::move(promise)));
    if (!TRY(done.get()) || thread_.stopping()) return Outcome::Done;
  }

  std::promise<Result<void>> promise;
  auto done = promise.get_future();
  committer_.submit(TableChange::finish_index(table.id, index.id, catalog_, [&](Result<TablePtr> finished) {
    promise.set_value(finished ? Result<void>() : Result<void>(finished.error()));
  }));
  const auto finished = done.get();
  // Deleted behind the last chunk: then there is nothing left to do.
  if (!finished && finished.error().code == ErrorCode::ResourceNotFound) return Outcome::Done;
  TRY(finished);
  log::info("index_built", {{"table", table.name}, {"index", index.name}});
  return Outcome::Done;
}

}  // namespace stator::engine
