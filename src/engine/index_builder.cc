#include "stator/engine/index_builder.h"

#include <future>

#include "stator/base/log.h"
#include "stator/engine/index_entry.h"
#include "stator/engine/table_change.h"

namespace stator::engine {
namespace {

// Adds the missing entries of a few items to an index.  Answers whether the index is still there to be built.
class BuildChunk final : public Work {
 public:
  BuildChunk(const Catalog& catalog, TableId table, IndexId index, std::vector<KeyBytes> keys,
             std::promise<Result<bool>> done)
      : catalog_(catalog), table_(table), index_(index), keys_(std::move(keys)), done_(std::move(done)) {}

  void execute(PendingCommit& commit) override { outcome_ = add_entries(commit); }

  void finish(const Result<storage::CommitSequence>& committed) override {
    if (!committed) outcome_ = Error(committed.error());
    done_.set_value(std::move(outcome_));
  }

 private:
  Result<bool> add_entries(PendingCommit& commit) {
    const auto table = catalog_.find(table_);
    if (table == nullptr) return false;
    for (const auto& index : table->indexes) {
      if (index.id != index_ || !index.building) continue;
      for (const auto& key : keys_) TRY(add_entry(*table, index, key, commit));
      commit.put(build_progress_key(table_, index_), keys_.back());
      return true;
    }
    return false;
  }

  static Result<void> add_entry(const Table& table, const Index& index, const KeyBytes& key, PendingCommit& commit) {
    auto bytes = TRY(commit.get(key));
    if (!bytes) return {};  // deleted since the walk came by
    const auto stored = TRY(value::StoredItem::from_bytes(std::move(*bytes)));
    auto entry = index_entry(table, index, TRY(stored.parse()), stored);
    if (!entry || TRY(commit.get(entry->key))) return {};  // not for this index, or written since it was added
    commit.add_statistics(table.id, index.id, 1, static_cast<std::int64_t>(entry->item.item_size_bytes()));
    commit.put(std::move(entry->key), std::move(entry->item).bytes());
    return {};
  }

  const Catalog& catalog_;
  const TableId table_;
  const IndexId index_;
  const std::vector<KeyBytes> keys_;
  std::promise<Result<bool>> done_;
  Result<bool> outcome_ = false;
};

}  // namespace

IndexBuilder::IndexBuilder(const storage::Store& store, Catalog& catalog, Committer& committer)
    : store_(store), catalog_(catalog), committer_(committer) {}

IndexBuilder::~IndexBuilder() { stop(); }

void IndexBuilder::build(TableId table) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  queue_.push_back(table);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  wake_.notify_one();
}

void IndexBuilder::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool IndexBuilder::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void IndexBuilder::run() {
  for (;;) {
    TableId table;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      table = queue_.front();
      queue_.pop_front();
    }
    const auto built = build_table(table);
    if (built) continue;
    log::warning("index_build_delayed", {{"table", table.value}, {"cause", built.error().message}});
    std::unique_lock lock(mutex_);
    queue_.push_back(table);
    wake_.wait_for(lock, kRetryInterval, [&] { return stopping_; });
  }
}

Result<void> IndexBuilder::build_table(TableId id) {
  const auto table = catalog_.find(id);
  if (table == nullptr) return {};
  for (const auto& index : table->indexes) {
    if (index.building) TRY(build_index(*table, index));
  }
  return {};
}

Result<void> IndexBuilder::build_index(const Table& table, const Index& index) {
  log::info("index_build_started", {{"table", table.name}, {"index", index.name}});
  storage::KeyRange rest = storage::KeyRange::prefix(index_prefix(table.id, kBaseIndex));
  if (const auto progress = TRY(store_.get(build_progress_key(table.id, index.id)))) rest.begin = *progress + '\0';
  for (;;) {
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
    committer_.submit(std::make_unique<BuildChunk>(catalog_, table.id, index.id, std::move(keys), std::move(promise)));
    if (!TRY(done.get()) || stopping()) return {};
  }

  std::promise<Result<void>> promise;
  auto done = promise.get_future();
  committer_.submit(TableChange::finish_index(table.id, index.id, catalog_, [&](Result<TablePtr> finished) {
    promise.set_value(finished ? Result<void>() : Result<void>(finished.error()));
  }));
  const auto finished = done.get();
  // Deleted behind the last chunk: then there is nothing left to do.
  if (!finished && finished.error().code == ErrorCode::ResourceNotFound) return {};
  TRY(finished);
  log::info("index_built", {{"table", table.name}, {"index", index.name}});
  return {};
}

}  // namespace stator::engine
