#include "stator/runtime/migration/resolve.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "stator/runtime/consistency/reconciler.h"
#include "stator/runtime/migration/migration.h"
#include "stator/runtime/rules/requirements.h"

namespace stator::runtime {
namespace {

using model::Entity;
using model::Model;
using value::AttributeValue;
using value::Item;

// -1: `a` was changed before `b`; 1: after it; 0: that cannot be told.
int compare_ages(const AttributeValue* a, const AttributeValue* b) {
  if (a == nullptr || b == nullptr || a->type() != b->type()) return 0;
  if (const auto* text = a->as_string())
    return text->compare(*b->as_string()) < 0 ? -1 : *text == *b->as_string() ? 0 : 1;
  if (const auto* number = a->as_number()) return *number < *b->as_number() ? -1 : *number == *b->as_number() ? 0 : 1;
  return 0;
}

class Resolution {
 public:
  Resolution(const Model& from, const Model& to, const ResolveOptions& options, client::Client& client,
             const Clock& clock, Random& random)
      : from_(from),
        to_(to),
        options_(options),
        random_(random),
        dynamo_(client, random, clock),
        reconciler_(to, dynamo_, random) {
    accept_old_types(from, to, reconciler_);
  }

  Result<ResolveResult, Problem> run() {
    const auto look = [&](const Item& row) { return look_at(model::primary_key_of(to_.table, row), row); };
    const auto tell = [&](std::uint64_t rows, const Item&) {
      if (options_.progress) options_.progress(rows);
      return true;
    };
    TRY(dynamo_.scan(to_.table.name, std::nullopt, look, tell));
    return result_;
  }

 private:
  // Where the row belongs by the new model; nullopt: it lies there, or is none of an entity that moves.
  std::optional<Item> new_place(const StoredEntity& stored) const {
    auto attributes = stored.attributes;
    fill_in(from_, to_, *stored.entity, attributes);
    auto key = model::key_of(to_, *stored.entity, attributes);
    if (!key || !*key || **key == stored.key) return std::nullopt;
    return std::move(**key);
  }

  Result<void, Problem> look_at(const Item& key, const Item& scanned) {
    const auto found = reconciler_.entity_of(scanned);
    if (!found || !new_place(*found)) return {};
    for (unsigned attempt = 1; attempt <= kCommitAttempts; ++attempt) {
      const auto old_row = TRY(reconciler_.read(*found->entity, key));
      const auto place = old_row ? new_place(*old_row) : std::nullopt;
      const auto other = place ? TRY(dynamo_.get(to_.table.name, *place)) : std::nullopt;
      if (!other) return {};  // there is one row, which the migration moves
      const auto new_row = reconciler_.entity_of(*other);
      auto pair = judge(*old_row, *other, new_row);
      if (!pair.kept || !options_.write) return tell(std::move(pair));
      if (TRY(keep_one(*old_row, *new_row, *pair.kept)) == WritePlan::Commit::Written) {
        pair.done = true;
        return tell(std::move(pair));
      }
      back_off(attempt, random_, dynamo_.clock());
    }
    return contention();
  }

  Result<void, Problem> tell(Double pair) {
    ++result_.doubles;
    if (pair.kept) ++result_.resolved;
    if (options_.report) options_.report(pair);
    return {};
  }

  Double judge(const StoredEntity& old_row, const Item& other, const std::optional<StoredEntity>& new_row) const {
    Double pair{
        .entity = old_row.entity->name, .old_row = old_row.row, .new_row = other, .kept = {}, .why = {}, .done = false};
    const bool chosen = options_.rows.empty() || options_.rows.contains(key_text(old_row.key));
    if (!new_row || new_row->entity != old_row.entity) {
      pair.why = "a row of another kind lies in the new place; change or remove one of them with a program";
    } else if (!options_.keep || !chosen) {
      pair.why = "nothing was chosen for it";
    } else if (*options_.keep != Kept::Newest) {
      pair.kept = *options_.keep;
    } else {
      const int age = compare_ages(*old_row.entity, old_row.row, new_row->row);
      if (age == 0) pair.why = "the rows do not tell which of them is newer";
      if (age != 0) pair.kept = age > 0 ? Kept::Old : Kept::New;
    }
    return pair;
  }

  // 1: the old row is newer.
  int compare_ages(const Entity& entity, const Item& old_row, const Item& new_row) const {
    const auto compare = [&](const std::string& old_name, const std::string& new_name) {
      return runtime::compare_ages(old_row.find(old_name), new_row.find(new_name));
    };
    for (const auto& attribute : entity.attributes) {
      if (!attribute.updated) continue;
      if (const int age = compare(attribute.name, attribute.name); age != 0) return age;
    }
    for (const auto& attribute : entity.attributes) {
      if (attribute.generated != model::Generated::Now) continue;
      if (const int age = compare(attribute.name, attribute.name); age != 0) return age;
    }
    return compare(from_.table.version_attribute, to_.table.version_attribute);
  }

  // The entity's rows beside its main row: each key with its wanted row; none: it is removed.
  using Beside = std::map<std::string, std::pair<Item, std::optional<Item>>>;

  void collect(const Model& model, const StoredEntity& stored, Beside& beside) const {
    const auto* entity = model.find_entity(stored.entity->name);
    if (entity == nullptr) return;
    // A row that cannot be computed did not exist.
    if (const auto rows = model::rows_of(model, *entity, stored.attributes, stored.key)) {
      for (const auto& row : *rows) beside.try_emplace(key_text(row.key), row.key, std::nullopt);
    }
    if (const auto claims = model::reservations_of(model, *entity, stored.attributes, stored.key)) {
      for (const auto& claim : *claims) beside.try_emplace(key_text(claim.key), claim.key, std::nullopt);
    }
  }

  Result<WritePlan::Commit, Problem> keep_one(const StoredEntity& old_row, const StoredEntity& new_row, Kept kept) {
    const auto& entity = *old_row.entity;
    auto attributes = kept == Kept::Old ? old_row.attributes : new_row.attributes;
    if (kept == Kept::Old) fill_in(from_, to_, entity, attributes);
    TRY(checked(derive_attributes(entity, &attributes, attributes)));

    Beside beside;
    for (const auto* model : {&from_, &to_}) {
      collect(*model, old_row, beside);
      collect(*model, new_row, beside);
    }
    const auto rows = TRY(checked(model::rows_of(to_, entity, attributes, new_row.key)));
    for (const auto& row : rows) beside[key_text(row.key)] = {row.key, row.item};
    for (const auto& claim : TRY(checked(model::reservations_of(to_, entity, attributes, new_row.key)))) {
      beside[key_text(claim.key)] = {claim.key, claim.item};
    }
    beside.erase(key_text(old_row.key));
    beside.erase(key_text(new_row.key));

    WritePlan plan(to_.table);
    require_as_read(plan, old_row);
    require_as_read(plan, new_row);
    plan.remove(old_row.key);
    if (kept == Kept::Old) {
      auto moved = rows.front().item;
      const auto& known = reconciler_.rules().of(entity).known;
      for (const auto& [name, content] : old_row.row) {
        if (!known.contains(name)) moved.set(name, content);
      }
      plan.put(new_row.key, std::move(moved));
    }
    for (const auto& [text, place] : beside) TRY(plan_beside(plan, place.first, place.second, old_row, new_row));
    return plan.commit(dynamo_);
  }

  // Only rows that belong to one of the two: others are left alone, and the migration tells of them.
  Result<void, Problem> plan_beside(WritePlan& plan, const Item& key, const std::optional<Item>& wanted,
                                    const StoredEntity& old_row, const StoredEntity& new_row) {
    const auto found = TRY(dynamo_.get(to_.table.name, key));
    if (found == wanted) return {};
    if (!found) {
      plan.require(key, row_absent());
      plan.put(key, *wanted);
      return {};
    }
    const auto* owner = found->find(kReservationOwner);
    const auto owned_by = [&](const Item& main) {
      return owner != nullptr && *owner == AttributeValue::string(key_text(main));
    };
    const auto [entity, record] = reconciler_.type_of(*found);
    const bool is_record = entity == old_row.entity && record != &entity->main();
    if (!is_record && !owned_by(old_row.key) && !owned_by(new_row.key)) return {};
    for (const auto& [name, content] : *found) plan.require(key, attribute_is(name, &content));
    if (wanted) {
      plan.put(key, *wanted);
    } else {
      plan.remove(key);
    }
    return {};
  }

  static void require_as_read(WritePlan& plan, const StoredEntity& stored) {
    for (const auto& [name, content] : stored.row) plan.require(stored.key, attribute_is(name, &content));
  }

  const Model& from_;
  const Model& to_;
  const ResolveOptions& options_;
  Random& random_;
  Dynamo dynamo_;
  Reconciler reconciler_;
  ResolveResult result_;
};

}  // namespace

Result<ResolveResult, Problem> resolve_doubles(const Model& from, const Model& to, const ResolveOptions& options,
                                               client::Client& client, const Clock& clock, Random& random) {
  return Resolution(from, to, options, client, clock, random).run();
}

}  // namespace stator::runtime
