#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "stator/base/memory_budget.h"
#include "stator/base/unique_function.h"
#include "stator/engine/catalog.h"
#include "stator/engine/keyspace.h"
#include "stator/engine/lease.h"
#include "stator/engine/stream/change_log.h"
#include "stator/engine/write/request_token.h"
#include "stator/engine/write/work.h"
#include "stator/expr/condition.h"
#include "stator/expr/update.h"
#include "stator/value/stored_item.h"

namespace stator::engine {

// An item as it was read, or its absence.  Parsed at most once, when somebody looks inside.  Confined to one request.
class ItemImage {
 public:
  ItemImage() = default;
  explicit ItemImage(value::StoredItem stored) : stored_(std::move(stored)) {}
  static Result<ItemImage> from_bytes(std::optional<Bytes> bytes);

  bool exists() const { return stored_.has_value(); }
  const value::StoredItem& stored() const { return *stored_; }
  value::StoredItem take() && { return std::move(*stored_); }
  std::size_t size_bytes() const { return stored_ ? stored_->item_size_bytes() : 0; }
  // The attributes; none when it does not exist.  Errors: Corruption.
  Result<const value::Item*> item() const;
  // Frees the attributes, which take many times the memory of the stored bytes.
  void forget_item() { parsed_.reset(); }

 private:
  std::optional<value::StoredItem> stored_;
  mutable std::optional<value::Item> parsed_;
};

// One item to write, or to check.  The api layer has validated it: the key fits the table, the item its limits.
struct WriteAction {
  enum class Kind : std::uint8_t { Put, Update, Delete, Check };
  Kind kind = Kind::Put;
  TablePtr table;
  value::Item item;  // Put: the whole item; otherwise the key
  std::optional<expr::Condition> condition;
  std::optional<expr::Update> update;  // Update; without one an update makes sure that the item exists
  // Delete by time to live: only of an item that still expires then.
  std::optional<std::uint64_t> expired = std::nullopt;
  bool legacy = false;  // given as AttributeUpdates, whose error has its own text
};

// Capacity of one action: the units of the table and of each index that it touched.
struct WriteUnits {
  double table = 0;  // write units; read units if the request was repeated
  std::vector<std::pair<IndexId, double>> indexes;
};

struct ActionOutcome {
  ItemImage before;
  std::optional<value::Item> after;  // Update only
  bool condition_failed = false;
  std::optional<Error> error;  // why this action could not be carried out: Validation
  WriteUnits units;
};

// Several items written as one: all of them, or none when a condition fails or an action is in error.
struct WriteRequest {
  std::vector<WriteAction> actions;
  // False: the actions have nothing to do with each other (BatchWriteItem); each is done or fails by itself.
  bool atomic = true;
  std::optional<RequestToken> token;  // makes a repetition harmless
  MemoryClaim memory = {};            // for the items while the write waits; if there is not enough, it is Busy
  const Lease* lease = nullptr;       // of background work: without it, nothing is written, and the answer is Busy
};

struct WriteOutcome {
  bool written = false;   // false: a condition failed or an action was in error, and nothing was changed
  bool repeated = false;  // the token was seen before: it was written then, and not again; of the actions, only the
                          // units are known
  std::vector<ActionOutcome> actions;
};

using WriteCallback = UniqueFunction<void(Result<WriteOutcome>)>;

// The effects of one action on the item it found: a pure function of the two, so that it can be worked out ahead of the
// commit and again if the item has changed in between.
struct ActionPlan {
  struct IndexChange {
    IndexId index;
    std::optional<KeyBytes> erase;
    std::optional<KeyBytes> put;
    Bytes value;
    std::int64_t items = 0, bytes = 0;
    double units = 0;
    bool local = false;
    // Of an index that is being built: the entry that the item had, if the builder has come by already.
    std::optional<KeyBytes> unsure;
    std::int64_t unsure_bytes = 0;
  };

  bool condition_failed = false;
  bool changes_table = false;
  std::optional<Bytes> put;  // neither put nor unchanged: erase
  std::int64_t items = 0, bytes = 0;
  std::vector<IndexChange> indexes;
  std::int64_t collection_bytes = 0;
  std::optional<Bytes> change_record;
  std::optional<std::uint64_t> expiry_before, expiry_after;  // see expiry_of()
  double table_units = 0;
  std::optional<value::Item> after;
};
// Errors: Validation, when an update cannot be applied; Corruption.
Result<ActionPlan> plan_action(const WriteAction& action, const ItemImage& before);

// A write request with the results of its reads and its plans, so that the committer need not read or plan.
struct PreparedWrite {
  struct Step {
    WriteAction action;
    KeyBytes key;
    std::uint64_t seen = 0;
    ItemImage before;
    std::optional<Result<ActionPlan>> plan;  // nullopt: the item could not be read; the committer tries again
  };
  std::vector<Step> steps;
  bool atomic = true;
  std::optional<RequestToken> token;
  MemoryClaim memory;
  const Lease* lease = nullptr;
};
// Reads the items and plans, on the calling thread.  Not for a shared store: there, the committer reads the items of
// all waiting writes in one step, and plans.  Errors: Validation, when a transaction is too large; Busy, when there is
// no memory for the write.
Result<PreparedWrite> prepare_write(WriteRequest request, const storage::Store& store, const FreshnessMap& freshness);

// A write request on its way through the committer.
class ItemWrite final : public Work {
 public:
  // The catalog outlives the work.
  ItemWrite(PreparedWrite prepared, WriteCallback done, const Catalog& catalog)
      : catalog_(catalog), done_(std::move(done)), write_(std::move(prepared)) {}

  void execute(PendingCommit& commit) override;
  void will_read(std::vector<KeyBytes>& keys) const override;
  void finish(const Result<storage::CommitSequence>& committed) override;
  bool frees_space() const override;  // nothing but deletes

 private:
  using Step = PreparedWrite::Step;

  Result<void> run(PendingCommit& commit);
  void finish_repeated();
  // Brings a step up to date with the commit.  A plan that is in error by itself is no error here: run() looks at it.
  Result<void> refresh(Step& step, PendingCommit& commit);
  void apply(Step& step, PendingCommit& commit);
  // Of indexes that are being built: finds out which entries are there.
  Result<void> resolve_unsure(Step& step, PendingCommit& commit);
  Result<void> check_collection_size(const Step& step, PendingCommit& commit);

  const Catalog& catalog_;
  WriteCallback done_;
  PreparedWrite write_;
  Result<void> executed_;
  bool written_ = false;
  std::optional<RequestToken::Sizes> repeated_;  // the token was seen before, with these sizes
};

}  // namespace stator::engine
