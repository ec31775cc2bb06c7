#include "stator/engine/index/index_builder.h"

#include <algorithm>
#include <future>

#include "stator/base/log.h"
#include "stator/base/priority.h"
#include "stator/engine/index/index_entry.h"
#include "stator/engine/table_change.h"

namespace stator::engine {
namespace {

constexpr int kNiceness = 10;  // a build takes minutes, and requests do not wait for it

// An item that the walk came by.
struct WalkedItem {
  KeyBytes key;
  // Worked out ahead of the commit, where nobody else writes to the store.
  struct Plan {
    std::optional<IndexEntry> entry;  // none: the item is not for this index
    bool is_there;                    // the entry
  };
  std::optional<Plan> plan;
};

// Some items one after another.
struct WalkedItems {
  std::uint64_t seen = 0;  // FreshnessMap::now() before they were read
  std::vector<WalkedItem> items;
};

// Adds the missing entries of a few items to an index.  Answers whether the index is still there to be built.
class BuildChunk final : public Work {
 public:
  // Not empty.
  BuildChunk(const Catalog& catalog, TableId table, IndexId index, WalkedItems walked, const Lease& lease,
             std::promise<Result<bool>> done)
      : catalog_(catalog),
        table_(table),
        index_(index),
        walked_(std::move(walked)),
        lease_(lease),
        done_(std::move(done)) {}

  void execute(PendingCommit& commit) override { outcome_ = add_entries(commit); }
  void will_read(std::vector<KeyBytes>& keys) const override {
    keys.push_back(lease_key());
    for (const auto& item : walked_.items) keys.push_back(item.key);
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
      commit.put(build_progress_key(table_, index_), walked_.items.back().key);
      return true;
    }
    return false;
  }

  Result<void> add_missing(const Table& table, const Index& index, PendingCommit& commit) const {
    std::vector<IndexEntry> entries;
    std::vector<KeyBytes> entry_keys;
    for (const auto& [key, plan] : walked_.items) {
      if (plan && commit.is_fresh(key, walked_.seen)) {
        if (plan->entry) TRY(add_if_missing(table, index, *plan, commit));
        continue;
      }
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
      if (!TRY(commit.get(entry.key))) add(table, index, std::move(entry), commit);
    }
    return {};
  }

  // A plan is used again when the work executes again.
  Result<void> add_if_missing(const Table& table, const Index& index, const WalkedItem::Plan& plan,
                              PendingCommit& commit) const {
    const auto& key = plan.entry->key;
    const bool there = commit.is_fresh(key, walked_.seen) ? plan.is_there : TRY(commit.get(key)).has_value();
    if (!there) add(table, index, *plan.entry, commit);
    return {};
  }

  // An entry that is there was written since the index was added.
  static void add(const Table& table, const Index& index, IndexEntry entry, PendingCommit& commit) {
    commit.add_statistics(table.id, index.id, 1, static_cast<std::int64_t>(entry.item.item_size_bytes()));
    commit.put(std::move(entry.key), std::move(entry.item).bytes());
  }

  const Catalog& catalog_;
  const TableId table_;
  const IndexId index_;
  const WalkedItems walked_;
  const Lease& lease_;
  std::promise<Result<bool>> done_;
  Result<bool> outcome_ = false;
};

// Nothing if the item cannot be read: the work reads it again, and reports what it finds.
Result<WalkedItem::Plan> plan_entry(const Table& table, const Index& index, BytesView item,
                                    const storage::Snapshot& snapshot) {
  const auto stored = TRY(value::StoredItem::from_bytes(Bytes(item)));
  WalkedItem::Plan plan{.entry = index_entry(table, index, TRY(stored.parse()), stored), .is_there = false};
  if (plan.entry) plan.is_there = TRY(snapshot.get(plan.entry->key)).has_value();
  return plan;
}

// The first items of a range; none at its end.
Result<WalkedItems> walk(const storage::Store& store, const FreshnessMap& freshness, const storage::KeyRange& range,
                         const Table& table, const Index& index, std::size_t most) {
  WalkedItems walked{.seen = freshness.now(), .items = {}};
  const bool plans = !store.capabilities().shared;
  const auto snapshot = store.snapshot();
  const auto cursor = snapshot->cursor(range, storage::Direction::Forward);
  for (; cursor->valid() && walked.items.size() < most; cursor->next()) {
    auto& item = walked.items.emplace_back(KeyBytes(cursor->key()), std::nullopt);
    if (!plans) continue;
    if (auto plan = plan_entry(table, index, cursor->value(), *snapshot)) item.plan = std::move(*plan);
  }
  TRY(cursor->status());
  return walked;
}

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
  lower_priority(kNiceness);
  log::info("index_build_started", {{"table", table.name}, {"index", index.name}});
  storage::KeyRange rest = storage::KeyRange::prefix(index_prefix(table.id, kBaseIndex));
  if (const auto progress = TRY(store_.get(build_progress_key(table.id, index.id)))) rest.begin = *progress + '\0';
  for (;;) {
    if (!lease_.hold()) return Outcome::NotOurs;
    auto walked = TRY(walk(store_, committer_.freshness(), rest, table, index, kChunkItems));
    if (walked.items.empty()) break;
    rest.begin = walked.items.back().key + '\0';
    std::promise<Result<bool>> promise;
    auto done = promise.get_future();
    committer_.submit(
        std::make_unique<BuildChunk>(catalog_, table.id, index.id, std::move(walked), lease_, std::move(promise)));
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
