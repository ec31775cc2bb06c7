#include "stator/engine/expiry/ttl_sweeper.h"

#include "stator/base/log.h"
#include "stator/base/semaphore.h"
#include "stator/engine/expiry/ttl.h"

namespace stator::engine {
namespace {

// Items that were there before time to live was enabled get their entries, a batch at a time, each with the note how
// far it is.  Does nothing when the note has changed meanwhile: then somebody else was faster, or the setting has
// changed.
class FillExpiries final : public Work {
 public:
  struct Candidate {
    KeyBytes item_key;
    std::optional<std::uint64_t> expiry;
  };
  FillExpiries(TablePtr table, Bytes progress, std::optional<Bytes> next_progress, std::vector<Candidate> candidates,
               std::uint64_t seen, const Catalog& catalog, const Lease& lease, UniqueFunction<void(Result<void>)> done)
      : table_(std::move(table)),
        progress_(std::move(progress)),
        next_progress_(std::move(next_progress)),
        candidates_(std::move(candidates)),
        seen_(seen),
        catalog_(catalog),
        lease_(lease),
        done_(std::move(done)) {}

  void execute(PendingCommit& commit) override { outcome_ = run(commit); }
  void will_read(std::vector<KeyBytes>& keys) const override {
    keys.push_back(lease_key());
    keys.push_back(expiry_progress_key(table_->id));
    for (const auto& candidate : candidates_) keys.push_back(candidate.item_key);
  }
  void finish(const Result<storage::CommitSequence>& committed) override {
    done_(committed ? std::move(outcome_) : Result<void>(Error(committed.error())));
  }

 private:
  Result<void> run(PendingCommit& commit) {
    TRY(lease_.check(commit));
    const auto current = catalog_.find(table_->id);
    if (current == nullptr || current->ttl_attribute != table_->ttl_attribute) return {};
    const auto progress = TRY(commit.get(expiry_progress_key(table_->id)));
    if (progress != progress_) return {};
    for (auto& candidate : candidates_) {
      if (!commit.is_fresh(candidate.item_key, seen_)) {
        candidate.expiry.reset();
        if (const auto bytes = TRY(commit.get(candidate.item_key))) {
          candidate.expiry = expiry_of(*current, TRY(TRY(value::StoredItemView::from(*bytes)).parse()));
        }
      }
    }
    // Nothing fails from here on: all or none.
    for (const auto& candidate : candidates_) {
      if (candidate.expiry) commit.put(expiry_key(candidate.item_key, *candidate.expiry), expiry_entry_value());
    }
    if (next_progress_) {
      commit.put(expiry_progress_key(table_->id), *next_progress_);
    } else {
      commit.erase(expiry_progress_key(table_->id));
    }
    return {};
  }

  TablePtr table_;
  Bytes progress_;
  std::optional<Bytes> next_progress_;
  std::vector<Candidate> candidates_;
  std::uint64_t seen_;
  const Catalog& catalog_;
  const Lease& lease_;
  UniqueFunction<void(Result<void>)> done_;
  Result<void> outcome_;
};

std::uint64_t seconds_of(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  return seconds > 0 ? static_cast<std::uint64_t>(seconds) : 0;
}

// The delete of an item that has expired; nullopt when the entry is not true, which a later round may have repaired.
Result<std::optional<WriteAction>> deletion_of(const TablePtr& table, const ExpiryEntry& entry,
                                               const storage::Snapshot& snapshot) {
  const auto bytes = TRY(snapshot.get(entry.item_key));
  if (!bytes) return std::optional<WriteAction>();
  const auto item = TRY(TRY(value::StoredItemView::from(*bytes)).parse());
  if (expiry_of(*table, item) != entry.expiry) return std::optional<WriteAction>();
  WriteAction action;
  action.kind = WriteAction::Kind::Delete;
  action.table = table;
  action.expired = entry.expiry;
  table->keys.for_each(
      [&](const KeyAttribute& attribute) { action.item.set(attribute.name, *item.find(attribute.name)); });
  return std::optional<WriteAction>(std::move(action));
}

}  // namespace

TtlSweeper::TtlSweeper(Engine& engine, const Clock& clock)
    : engine_(engine), clock_(clock), thread_([this](const std::stop_token& stop) { run(stop); }) {}

Result<void> TtlSweeper::sweep(const std::stop_token& stop) {
  TRY(engine_.catch_up());
  if (!engine_.lease().hold()) return {};
  for (const auto& table : engine_.catalog().all()) {
    if (!table->ttl_attribute) continue;
    TRY(fill(table, stop));
    TRY(expire(table, stop));
  }
  return {};
}

Result<void> TtlSweeper::expire(const TablePtr& table, const std::stop_token& stop) {
  const auto now = clock_.now();
  auto range = expiries_between(table->id, seconds_of(now - kOldestExpiry), seconds_of(now));
  for (bool more = true; more && !stop.stop_requested();) {
    if (!engine_.lease().hold()) return {};
    WriteRequest request{.actions = {}, .atomic = false, .token = {}, .memory = {}, .lease = &engine_.lease()};
    {
      const auto snapshot = engine_.snapshot();
      const auto cursor = snapshot->cursor(range, storage::Direction::Forward);
      for (; cursor->valid() && request.actions.size() < kBatchItems; cursor->next()) {
        const auto entry = expiry_entry(cursor->key());
        if (!entry) return Error{ErrorCode::Corruption, "expiry entry has an unknown key"};
        if (auto action = TRY(deletion_of(table, *entry, *snapshot))) request.actions.push_back(std::move(*action));
        range.begin = Bytes(cursor->key()) + '\0';
      }
      TRY(cursor->status());
      more = cursor->valid();
    }
    if (request.actions.empty()) continue;

    Semaphore done;
    Result<WriteOutcome> outcome = WriteOutcome();
    engine_.write(std::move(request), [&](Result<WriteOutcome> result) {
      outcome = std::move(result);
      done.release();
    });
    done.acquire();
    TRY(std::move(outcome));
  }
  return {};
}

Result<void> TtlSweeper::fill(const TablePtr& table, const std::stop_token& stop) {
  while (!stop.stop_requested() && engine_.lease().hold()) {
    const auto seen = engine_.freshness().now();
    const auto snapshot = engine_.snapshot();
    auto progress = TRY(snapshot->get(expiry_progress_key(table->id)));
    if (!progress) return {};
    auto range = storage::KeyRange::prefix(index_prefix(table->id, kBaseIndex));
    if (const auto last = TRY(decode_expiry_progress(*progress)); !last.empty()) range.begin = last + '\0';

    std::vector<FillExpiries::Candidate> candidates;
    std::optional<Bytes> next_progress;
    std::size_t looked_at = 0;
    const auto cursor = snapshot->cursor(range, storage::Direction::Forward);
    for (; cursor->valid(); cursor->next()) {
      const auto item = TRY(TRY(value::StoredItemView::from(cursor->value())).parse());
      candidates.push_back({Bytes(cursor->key()), expiry_of(*table, item)});
      if (++looked_at == kBatchItems) {
        next_progress = encode_expiry_progress(cursor->key());
        break;
      }
    }
    TRY(cursor->status());

    Semaphore done;
    Result<void> outcome;
    engine_.submit(std::make_unique<FillExpiries>(table, std::move(*progress), std::move(next_progress),
                                                  std::move(candidates), seen, engine_.catalog(), engine_.lease(),
                                                  [&](Result<void> result) {
                                                    outcome = std::move(result);
                                                    done.release();
                                                  }));
    done.acquire();
    TRY(std::move(outcome));
  }
  return {};
}

void TtlSweeper::run(const std::stop_token& stop) {
  std::string told;  // why the last round failed: a store that is gone for an hour is told of once
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(sleep_mutex_);
      sleep_.wait_for(lock, stop, kInterval, [] { return false; });
    }
    if (stop.stop_requested()) return;
    try {
      const auto swept = sweep(stop);
      const auto cause = swept ? std::string() : swept.error().message;
      if (!swept && cause != told) log::warning("expired_items_not_deleted", {{"cause", cause}});
      told = cause;
    } catch (const std::exception& exception) {
      log::error("expired_items_not_deleted", {{"cause", exception.what()}});
    }
  }
}

}  // namespace stator::engine
