#include "stator/engine/write/item_write.h"

#include <algorithm>

#include "stator/engine/capacity.h"
#include "stator/engine/expiry/ttl.h"
#include "stator/engine/index/index_entry.h"
#include "stator/engine/item_rules.h"
#include "stator/value/item_size.h"

namespace stator::engine {
namespace {

constexpr std::int64_t kMaxCollectionBytes = std::int64_t{10} << 30;

Error table_not_found() { return {ErrorCode::ResourceNotFound, "Requested resource not found"}; }

// One side of a change: the item's attributes and its stored form; neither where there is no item.
struct Side {
  const value::Item* item = nullptr;
  const value::StoredItem* stored = nullptr;

  std::optional<IndexEntry> entry(const Table& table, const Index& index) const {
    return item != nullptr ? index_entry(table, index, *item, *stored) : std::nullopt;
  }
};

ActionPlan::IndexChange plan_index(const Table& table, const Index& index, const Side& before, const Side& after) {
  const auto old_entry = before.entry(table, index);
  auto new_entry = after.entry(table, index);
  ActionPlan::IndexChange change;
  change.index = index.id;
  change.local = index.kind == IndexKind::Local;
  if (old_entry) {
    --change.items;
    change.bytes -= static_cast<std::int64_t>(old_entry->item.item_size_bytes());
  }
  if (new_entry) {
    ++change.items;
    change.bytes += static_cast<std::int64_t>(new_entry->item.item_size_bytes());
  }
  if (index.building && old_entry) {
    // Whether the old entry is there shows when it is committed; until then the change is planned as if it were.
    change.unsure = old_entry->key;
    change.unsure_bytes = static_cast<std::int64_t>(old_entry->item.item_size_bytes());
  }
  const bool same_key = old_entry && new_entry && old_entry->key == new_entry->key;
  if (same_key) {
    // An entry that does not change costs nothing, and need not be written, if it is there.
    if (!index.building && old_entry->item.bytes() == new_entry->item.bytes()) return change;
    change.units = write_units(std::max(old_entry->item.item_size_bytes(), new_entry->item.item_size_bytes()));
  } else {
    if (old_entry) change.units += write_units(old_entry->item.item_size_bytes());
    if (new_entry) change.units += write_units(new_entry->item.item_size_bytes());
    if (old_entry) change.erase = old_entry->key;
  }
  if (new_entry) {
    change.put = std::move(new_entry->key);
    change.value = std::move(new_entry->item).bytes();
  }
  return change;
}

Bytes plan_change_record(const Table& table, const ItemImage& before, const value::StoredItem* after,
                         const value::Item& any_image, ChangeBy by) {
  value::Item keys;
  table.keys.for_each(
      [&](const KeyAttribute& attribute) { keys.set(attribute.name, *any_image.find(attribute.name)); });
  const auto kind = !before.exists() ? ChangeKind::Insert : after == nullptr ? ChangeKind::Remove : ChangeKind::Modify;
  ChangeRecord record{
      .time = {}, .kind = kind, .by = by, .keys = value::StoredItem::from(keys), .new_image = {}, .old_image = {}};
  const auto view = table.stream.view;
  if (after != nullptr && (view == StreamView::NewImage || view == StreamView::NewAndOldImages))
    record.new_image = *after;
  if (before.exists() && (view == StreamView::OldImage || view == StreamView::NewAndOldImages)) {
    record.old_image = before.stored();
  }
  return record.encode();
}

}  // namespace

// -- ItemImage

Result<ItemImage> ItemImage::from_bytes(std::optional<Bytes> bytes) {
  if (!bytes) return ItemImage();
  return ItemImage(TRY(value::StoredItem::from_bytes(std::move(*bytes))));
}

Result<const value::Item*> ItemImage::item() const {
  if (!parsed_) parsed_ = stored_ ? TRY(stored_->parse()) : value::Item();
  return &*parsed_;
}

// -- planning

Result<ActionPlan> plan_action(const WriteAction& action, const ItemImage& before) {
  const Table& table = *action.table;
  ActionPlan plan;
  if (action.condition && !action.condition->matches(*TRY(before.item()))) {
    plan.condition_failed = true;
    plan.table_units = write_units(before.size_bytes());
    return plan;
  }
  if (action.expired && expiry_of(table, *TRY(before.item())) != action.expired) {
    plan.condition_failed = true;
    return plan;
  }
  if (action.kind == WriteAction::Kind::Check) {
    plan.table_units = write_units(before.size_bytes());
    return plan;
  }

  const value::Item* after = nullptr;
  if (action.kind == WriteAction::Kind::Put) {
    after = &action.item;
  } else if (action.kind == WriteAction::Kind::Update) {
    const value::Item& base = before.exists() ? *TRY(before.item()) : action.item;
    if (action.update) {
      auto updated = before.exists() ? action.update->apply(base) : action.update->create(base);
      if (!updated) return action.legacy ? validation_error("Type mismatch for attribute to update") : updated.error();
      plan.after = std::move(*updated);
    } else {
      plan.after = base;
    }
    // An update that only takes away does not create an item to take it from.
    if (!before.exists() && action.update && *plan.after == action.item) {
      plan.after.reset();
      plan.table_units = write_units(0);
      return plan;
    }
    after = &*plan.after;
    if (value::item_size_bytes(*after) > value::kMaxItemSizeBytes) return value::update_size_error();
    TRY(check_updated_item(table, base, *after));
  }

  std::optional<value::StoredItem> stored;
  if (after != nullptr) stored = value::StoredItem::from(*after);
  const auto new_size = stored ? stored->item_size_bytes() : 0;
  plan.table_units = write_units(std::max(before.size_bytes(), new_size));
  if (!before.exists() && !stored) return plan;                                              // a delete of nothing
  if (before.exists() && stored && before.stored().bytes() == stored->bytes()) return plan;  // a write without effect

  plan.changes_table = true;
  plan.items = (stored ? 1 : 0) - (before.exists() ? 1 : 0);
  plan.bytes = static_cast<std::int64_t>(new_size) - static_cast<std::int64_t>(before.size_bytes());
  plan.collection_bytes = plan.bytes;
  if (!table.indexes.empty()) {
    const Side old_side = before.exists() ? Side{TRY(before.item()), &before.stored()} : Side{};
    const Side new_side = stored ? Side{after, &*stored} : Side{};
    plan.indexes.reserve(table.indexes.size());
    for (const auto& index : table.indexes) {
      plan.indexes.push_back(plan_index(table, index, old_side, new_side));
      if (plan.indexes.back().local) plan.collection_bytes += plan.indexes.back().bytes;
    }
  }
  if (table.stream.enabled) {
    const value::Item& any_image = after != nullptr ? *after : *TRY(before.item());
    plan.change_record = plan_change_record(table, before, stored ? &*stored : nullptr, any_image,
                                            action.expired ? ChangeBy::TimeToLive : ChangeBy::User);
  }
  if (table.ttl_attribute) {
    if (before.exists()) plan.expiry_before = expiry_of(table, *TRY(before.item()));
    if (after != nullptr) plan.expiry_after = expiry_of(table, *after);
  }
  if (stored) plan.put = std::move(*stored).bytes();
  return plan;
}

// -- preparing

namespace {

using Step = PreparedWrite::Step;

// The size of the item before or after a step that is planned, whichever is larger.
std::size_t larger_size(const Step& step) {
  const auto before = static_cast<std::int64_t>(step.before.size_bytes());
  return static_cast<std::size_t>(std::max(before, before + (*step.plan)->bytes));
}

void plan_step(Step& step, bool several) {
  step.plan = plan_action(step.action, step.before);
  if (!several) return;
  // Several actions never return their attributes, and the attributes of a hundred items take a lot of memory.
  step.before.forget_item();
  if (*step.plan) (*step.plan)->after.reset();
}

void read_and_plan(Step& step, bool several, const storage::Store& store, const FreshnessMap& freshness) {
  step.seen = freshness.now();
  auto bytes = store.get(step.key);
  if (!bytes) return;  // the committer reads again, and reports what it finds
  auto before = ItemImage::from_bytes(std::move(*bytes));
  if (!before) return;
  step.before = std::move(*before);
  plan_step(step, several);
}

// The bytes of the steps so far, which may be no more than a transaction takes and than there is memory for.
struct WriteSize {
  std::size_t held_bytes = 0, item_bytes = 0;

  Result<void> add(const Step& step, bool several, bool atomic, MemoryClaim& memory) {
    constexpr std::size_t kUncountedBytes = 64 << 10;
    if (!step.plan || !*step.plan) return {};
    const auto& plan = **step.plan;
    const auto put_bytes = plan.put ? plan.put->size() : 0;
    const auto before_bytes = step.before.exists() ? step.before.stored().bytes().size() : 0;
    // Nearly all writes; beside them their index entries and stream record do not matter.
    if (!several && put_bytes + before_bytes < kUncountedBytes / 4) return {};
    item_bytes += larger_size(step);
    held_bytes += before_bytes + put_bytes + (plan.change_record ? plan.change_record->size() : 0);
    for (const auto& change : plan.indexes) held_bytes += change.value.size();
    if (atomic && several) TRY(check_transaction_size(item_bytes));
    if (held_bytes > kUncountedBytes && !memory.resize(held_bytes)) {
      return Error{ErrorCode::Busy, "There is no memory for this write at the moment; try again later"};
    }
    return {};
  }
};

}  // namespace

Result<PreparedWrite> prepare_write(WriteRequest request, const storage::Store& store, const FreshnessMap& freshness) {
  PreparedWrite write{.steps = {},
                      .atomic = request.atomic,
                      .token = std::move(request.token),
                      .memory = std::move(request.memory),
                      .lease = request.lease};
  const bool several = request.actions.size() > 1;
  const bool reads_now = !store.capabilities().shared;
  WriteSize size;
  write.steps.reserve(request.actions.size());
  for (auto& action : request.actions) {
    auto& step = write.steps.emplace_back();
    step.key = item_key(*action.table, action.item);
    step.action = std::move(action);
    if (!reads_now) continue;
    read_and_plan(step, several, store, freshness);
    TRY(size.add(step, several, write.atomic, write.memory));
  }
  return write;
}

// -- ItemWrite

Result<void> ItemWrite::refresh(Step& step, PendingCommit& commit) {
  auto current = catalog_.find(step.action.table->id);
  if (current == nullptr) return table_not_found();
  const bool same_table = current == step.action.table;
  if (!step.plan || !same_table || !commit.is_fresh(step.key, step.seen)) {
    step.action.table = std::move(current);
    step.before = TRY(ItemImage::from_bytes(TRY(commit.get(step.key))));
    plan_step(step, write_.steps.size() > 1);
    // It was checked with the table as it was then.  An update is checked when it is planned.
    if (!same_table && step.action.kind == WriteAction::Kind::Put) {
      if (auto checked = check_item(*step.action.table, step.action.item); !checked) {
        step.plan = Result<ActionPlan>(std::move(checked).error());
      }
    }
  }
  if (!*step.plan && step.plan->error().code != ErrorCode::Validation) return step.plan->error();
  return {};
}

Result<void> ItemWrite::check_collection_size(const Step& step, PendingCommit& commit) {
  const auto& table = *step.action.table;
  const auto growth = *step.plan ? (*step.plan)->collection_bytes : 0;
  if (growth <= 0 || !table.has_local_indexes()) return {};
  const auto& partition = *step.action.item.find(table.keys.partition[0].name);
  const auto size = TRY(commit.counter(collection_size_key(table.id, partition)));
  if (size + growth <= kMaxCollectionBytes) return {};
  return Error{ErrorCode::ItemCollectionSizeLimit, "Collection size exceeded."};
}

// An entry that a builder has not made yet is not lost when its item changes.
Result<void> ItemWrite::resolve_unsure(Step& step, PendingCommit& commit) {
  if (!step.action.table->is_building()) return {};
  for (auto& change : (*step.plan)->indexes) {
    if (!change.unsure || TRY(commit.get(*change.unsure))) continue;
    ++change.items;
    change.bytes += change.unsure_bytes;
    change.erase.reset();
  }
  return {};
}

void ItemWrite::apply(Step& step, PendingCommit& commit) {
  const auto& table = *step.action.table;
  auto& plan = **step.plan;
  if (!plan.changes_table) return;
  if (plan.put) {
    commit.put(step.key, std::move(*plan.put));
  } else {
    commit.erase(step.key);
  }
  commit.add_statistics(table.id, kBaseIndex, plan.items, plan.bytes);
  for (auto& change : plan.indexes) {
    if (change.erase) commit.erase(std::move(*change.erase));
    if (change.put) commit.put(std::move(*change.put), std::move(change.value));
    if (change.items != 0 || change.bytes != 0)
      commit.add_statistics(table.id, change.index, change.items, change.bytes);
  }
  if (plan.collection_bytes != 0 && table.has_local_indexes()) {
    const auto& partition = *step.action.item.find(table.keys.partition[0].name);
    commit.add(collection_size_key(table.id, partition), plan.collection_bytes);
  }
  if (plan.expiry_before != plan.expiry_after) {
    if (plan.expiry_before) commit.erase(expiry_key(step.key, *plan.expiry_before));
    if (plan.expiry_after) commit.put(expiry_key(step.key, *plan.expiry_after), expiry_entry_value());
  }
  if (plan.change_record) {
    set_change_time(*plan.change_record, commit.time());
    commit.append_change(table.id, hash_of_key(step.key), std::move(*plan.change_record));
  }
}

void ItemWrite::will_read(std::vector<KeyBytes>& keys) const {
  if (write_.lease != nullptr) keys.push_back(lease_key());
  if (write_.token) keys.push_back(request_token_key(write_.token->token));
  for (const auto& step : write_.steps) {
    keys.push_back(step.key);
    const auto& table = *step.action.table;
    if (!table.has_local_indexes()) continue;
    keys.push_back(collection_size_key(table.id, *step.action.item.find(table.keys.partition[0].name)));
  }
}

void ItemWrite::execute(PendingCommit& commit) {
  written_ = false;
  repeated_.reset();
  executed_ = run(commit);
}

Result<void> ItemWrite::run(PendingCommit& commit) {
  auto& steps = write_.steps;
  if (write_.lease != nullptr) TRY(write_.lease->check(commit));
  if (write_.token) repeated_ = TRY(write_.token->seen_before(commit));
  if (repeated_) return {};
  // Otherwise prepare_write() has claimed the memory.
  WriteSize size;
  const auto claim = [&](const Step& step) -> Result<void> {
    if (!commit.is_shared()) return {};
    return size.add(step, steps.size() > 1, write_.atomic, write_.memory);
  };
  if (write_.atomic) {
    for (auto& step : steps) {
      TRY(refresh(step, commit));
      TRY(claim(step));
      TRY(check_collection_size(step, commit));
    }
    const bool failed = std::any_of(steps.begin(), steps.end(),
                                    [](const Step& step) { return !*step.plan || (*step.plan)->condition_failed; });
    if (failed) return {};
    if (steps.size() > 1) {
      std::size_t bytes = 0;
      for (const auto& step : steps) bytes += larger_size(step);
      TRY(check_transaction_size(bytes));
    }
    // All reads before the first write, so that an error leaves nothing half done.
    for (auto& step : steps) TRY(resolve_unsure(step, commit));
    for (auto& step : steps) apply(step, commit);
  } else {
    // Before the first write: the caller may repeat all of them, with the tables that there are then.
    for (const auto& step : steps) {
      if (catalog_.find(step.action.table->id) == nullptr) return table_not_found();
    }
    // Their keys differ, so none reads what another one writes.
    for (auto& step : steps) {
      TRY(refresh(step, commit));
      TRY(claim(step));
    }
    for (auto& step : steps) {
      TRY(check_collection_size(step, commit));
      if (!*step.plan) continue;
      TRY(resolve_unsure(step, commit));
      apply(step, commit);
    }
  }
  if (write_.token) {
    RequestToken::Sizes sizes;
    for (const auto& step : steps) sizes.push_back(static_cast<std::uint32_t>(larger_size(step)));
    write_.token->remember(commit, sizes);
  }
  written_ = true;
  return {};
}

bool ItemWrite::frees_space() const {
  return std::all_of(write_.steps.begin(), write_.steps.end(),
                     [](const Step& step) { return step.action.kind == WriteAction::Kind::Delete; });
}

// A repetition costs what it costs to read the items that the first request was charged for.
void ItemWrite::finish_repeated() {
  WriteOutcome outcome{.written = true, .repeated = true, .actions = {}};
  repeated_->resize(write_.steps.size());  // a token of version 1 has no sizes
  for (const auto size : *repeated_) outcome.actions.emplace_back().units.table = read_units(size, true);
  done_(std::move(outcome));
}

void ItemWrite::finish(const Result<storage::CommitSequence>& committed) {
  if (!executed_) return done_(Error(executed_.error()));
  if (!committed) return done_(Error(committed.error()));
  if (repeated_) return finish_repeated();
  WriteOutcome outcome{.written = written_, .repeated = false, .actions = {}};
  outcome.actions.reserve(write_.steps.size());
  for (auto& step : write_.steps) {
    ActionOutcome action{
        .before = std::move(step.before), .after = {}, .condition_failed = false, .error = {}, .units = {}};
    if (!*step.plan) {
      action.error = step.plan->error();
      outcome.actions.push_back(std::move(action));
      continue;
    }
    auto& plan = **step.plan;
    action.after = std::move(plan.after);
    action.condition_failed = plan.condition_failed;
    action.units.table = plan.table_units;
    for (const auto& change : plan.indexes) {
      if (change.units > 0) action.units.indexes.emplace_back(change.index, change.units);
    }
    outcome.actions.push_back(std::move(action));
  }
  done_(std::move(outcome));
}

}  // namespace stator::engine
