#include "stator/engine/remains.h"

#include <algorithm>
#include <future>
#include <string>
#include <utility>

#include "stator/base/log.h"

namespace stator::engine {
namespace {

constexpr BytesView kRemainsVersion = "\x01";

// Erases a part of the remains, or, without a part, removes their record.
class EraseChunk final : public Work {
 public:
  EraseChunk(const Catalog& catalog, const Remains& remains, std::optional<storage::KeyRange> chunk, const Lease& lease,
             std::promise<Result<bool>> done)
      : catalog_(catalog), remains_(remains), chunk_(std::move(chunk)), lease_(lease), done_(std::move(done)) {}

  void execute(PendingCommit& commit) override { outcome_ = erase(commit); }
  void will_read(std::vector<KeyBytes>& keys) const override {
    keys.push_back(lease_key());
    keys.push_back(remains_key(remains_.table, remains_.index));
  }
  void finish(const Result<storage::CommitSequence>& committed) override {
    if (!committed) outcome_ = Error(committed.error());
    done_.set_value(std::move(outcome_));
  }
  bool frees_space() const override { return true; }

 private:
  Result<bool> erase(PendingCommit& commit) {
    TRY(lease_.check(commit));
    auto key = remains_key(remains_.table, remains_.index);
    if (!TRY(commit.get(key))) return false;
    if (is_in_use()) return Error{ErrorCode::Corruption, "a table that is there has a record of its remains"};
    if (chunk_) {
      commit.erase_range(*chunk_);
    } else {
      commit.erase(std::move(key));
    }
    return true;
  }
  // Nothing that somebody can reach is ever erased.
  bool is_in_use() const {
    const auto table = catalog_.find(remains_.table);
    if (table == nullptr) return false;
    return remains_.index == kBaseIndex ||
           std::ranges::any_of(table->indexes, [&](const Index& index) { return index.id == remains_.index; });
  }

  const Catalog& catalog_;
  const Remains remains_;
  const std::optional<storage::KeyRange> chunk_;
  const Lease& lease_;
  std::promise<Result<bool>> done_;
  Result<bool> outcome_ = false;
};

Result<std::optional<Remains>> first_remains(const storage::Snapshot& snapshot) {
  const auto cursor = snapshot.cursor(all_remains(), storage::Direction::Forward);
  TRY(cursor->status());
  if (!cursor->valid()) return std::optional<Remains>();
  auto remains = Remains::from_key(cursor->key());
  if (!remains) return Error{ErrorCode::Corruption, "the key of a table's remains has an unknown form"};
  return remains;
}

}  // namespace

std::optional<Remains> Remains::from_key(BytesView key) {
  const auto prefix = all_remains().begin;
  if (key.size() != prefix.size() + 6 || !key.starts_with(prefix)) return std::nullopt;
  const char* ids = key.data() + prefix.size();
  return Remains{.table = {read_u32be(ids)}, .index = {read_u16be(ids + 4)}};
}

std::vector<storage::KeyRange> Remains::ranges() const {
  std::vector<storage::KeyRange> ranges{storage::KeyRange::prefix(index_prefix(table, index))};
  if (index != kBaseIndex) return ranges;
  ranges.push_back(table_collection_sizes(table));
  ranges.push_back(table_expiries(table));
  return ranges;
}

void erase_table(PendingCommit& commit, const Table& table) {
  // These are few.
  commit.erase_range(table_statistics(table.id));
  commit.erase_range(table_build_progress(table.id));
  commit.erase(expiry_progress_key(table.id));
  if (commit.erases_key_by_key()) {
    commit.put(remains_key(table.id, kBaseIndex), Bytes(kRemainsVersion));
    for (const auto& index : table.indexes) commit.put(remains_key(table.id, index.id), Bytes(kRemainsVersion));
    return;
  }
  commit.erase_range(table_items(table.id));
  commit.erase_range(table_collection_sizes(table.id));
  commit.erase_range(table_expiries(table.id));
}

void erase_index(PendingCommit& commit, TableId table, IndexId index) {
  commit.erase(statistic_key(table, index, Statistic::Items));
  commit.erase(statistic_key(table, index, Statistic::Bytes));
  commit.erase(build_progress_key(table, index));
  if (commit.erases_key_by_key()) return commit.put(remains_key(table, index), Bytes(kRemainsVersion));
  commit.erase_range(storage::KeyRange::prefix(index_prefix(table, index)));
}

// -- RemainsEraser

RemainsEraser::RemainsEraser(const storage::Store& store, const Catalog& catalog, Committer& committer, Lease& lease,
                             std::function<Result<void>()> catch_up)
    : store_(store),
      catalog_(catalog),
      committer_(committer),
      lease_(lease),
      catch_up_(std::move(catch_up)),
      thread_([this] { return erase_now(); }) {}

void RemainsEraser::look(const storage::Snapshot& snapshot) {
  // Remains are garbage. If they cannot be read, the next round tries again; tables are served meanwhile.
  if (const auto first = first_remains(snapshot); first && !*first) return;
  thread_.wake();
}

bool RemainsEraser::erase_now() {
  const auto erased = erase_all();
  if (erased && *erased == Outcome::Done) return true;
  if (!erased && std::exchange(told_, erased.error().message) != erased.error().message) {
    log::warning("remains_not_erased", {{"cause", erased.error().message}});
  }
  return false;
}

Result<RemainsEraser::Outcome> RemainsEraser::erase_all() {
  for (;;) {
    TRY(catch_up_());
    const auto remains = TRY(first_remains(*TRY(store_.snapshot_of_epoch()).snapshot));
    if (!remains || thread_.stopping()) return Outcome::Done;
    if (TRY(erase(*remains)) == Outcome::NotOurs) return Outcome::NotOurs;
  }
}

Result<RemainsEraser::Outcome> RemainsEraser::erase(const Remains& remains) {
  if (!lease_.hold()) return Outcome::NotOurs;
  log::info("remains_found", {{"table_id", remains.table.value}, {"index_id", remains.index.value}});
  for (auto& range : remains.ranges()) {
    if (TRY(erase_range(remains, std::move(range))) == Outcome::NotOurs) return Outcome::NotOurs;
    if (thread_.stopping()) return Outcome::Done;
  }
  if (!lease_.hold()) return Outcome::NotOurs;
  TRY(commit(remains, std::nullopt));
  log::info("remains_erased", {{"table_id", remains.table.value}, {"index_id", remains.index.value}});
  return Outcome::Done;
}

Result<RemainsEraser::Outcome> RemainsEraser::erase_range(const Remains& remains, storage::KeyRange rest) {
  for (;;) {
    // No snapshot is open while others wait for commits.
    std::vector<storage::KeyRange> chunks;
    {
      const auto now = TRY(store_.snapshot_of_epoch());
      const auto cursor = now.snapshot->cursor(rest, storage::Direction::Forward);
      for (std::size_t keys = 0; cursor->valid() && keys < kChunkKeys * kChunks; cursor->next(), ++keys) {
        if (keys % kChunkKeys == 0) chunks.push_back({rest.begin, {}});
        rest.begin = Bytes(cursor->key()) + '\0';
        chunks.back().end = rest.begin;
      }
      TRY(cursor->status());
    }
    if (chunks.empty()) return Outcome::Done;
    for (auto& chunk : chunks) {
      if (!lease_.hold()) return Outcome::NotOurs;
      if (!TRY(commit(remains, std::move(chunk))) || thread_.stopping()) return Outcome::Done;
    }
  }
}

Result<bool> RemainsEraser::commit(const Remains& remains, std::optional<storage::KeyRange> chunk) {
  std::promise<Result<bool>> promise;
  auto done = promise.get_future();
  committer_.submit(std::make_unique<EraseChunk>(catalog_, remains, std::move(chunk), lease_, std::move(promise)));
  return done.get();
}

}  // namespace stator::engine
