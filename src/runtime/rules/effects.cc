#include "stator/runtime/rules/effects.h"

#include <algorithm>

#include "stator/value/same.h"

namespace stator::runtime {
namespace {

using model::Entity;
using value::AttributeValue;
using value::Item;
using value::Number;

// Returns whether that changes anything.
bool assign_value(Item& item, const std::string& name, const AttributeValue* content) {
  if (value::same(item.find(name), content)) return false;
  if (content != nullptr)
    item.set(name, *content);
  else
    item.erase(name);
  return true;
}

// The rows of an entity in one state.
struct StateRows {
  std::vector<model::Row> records;
  std::vector<model::Reservation> reservations;
};

Result<StateRows> rows_in(const Rules& model_rules, const Entity& entity, const EntityState& state) {
  const auto& model = model_rules.model();
  StateRows rows;
  if (state.attributes == nullptr) return rows;
  const auto& attributes = *state.attributes;
  if (state.key == nullptr) {
    const auto key = TRY(model::key_of(model, entity, attributes));
    if (key) return rows_in(model_rules, entity, {.attributes = &attributes, .key = &*key});
    rows.records = TRY(model::rows_of(model, entity, attributes));  // tells what is missing
    return rows;
  }
  rows.records = TRY(model::rows_of(model, entity, attributes, *state.key));
  const auto& added = model_rules.of(entity).added;
  if (!added.empty()) TRY(added.set_in(model.table, attributes, *state.key, rows.records));
  rows.reservations = TRY(model::reservations_of(model, entity, attributes, *state.key));
  return rows;
}

// An effect on a row, without its content.  Takes the row's key.
RowEffect effect_on(const model::TableDesign& table, model::Row& row) {
  return {.record = row.record,
          .unique = nullptr,
          .key = std::move(row.key),
          .from = {},
          .to = {},
          .mark = table.type_attribute};
}
RowEffect effect_on(const model::TableDesign& /*table*/, model::Reservation& row) {
  return {.record = nullptr,
          .unique = row.rule,
          .key = std::move(row.key),
          .from = {},
          .to = {},
          .mark = kReservationOwner};
}

// Pairs rows that lie at one key before and after.
template <typename Row>
void add_effects(const model::TableDesign& table, std::vector<Row>& before, std::vector<Row>& after,
                 std::vector<RowEffect>& effects) {
  for (auto& row : after) {
    auto& effect = effects.emplace_back(effect_on(table, row));
    effect.to = std::move(row.item);
    const auto old = std::find_if(before.begin(), before.end(), [&](const Row& one) { return one.key == effect.key; });
    if (old == before.end()) continue;
    effect.from = std::move(old->item);
    before.erase(old);
  }
  for (auto& row : before) effects.emplace_back(effect_on(table, row)).from = std::move(row.item);
}

void add_inputs(const EntityRules& rules, const Item& before, const Item* after, std::set<std::string>& inputs) {
  if (after == nullptr) {
    for (const auto& computation : rules.computed) inputs.insert(computation.begin(), computation.end());
    return;
  }
  std::set<std::string> changed;
  for (auto& change : differences(before, *after)) changed.insert(std::move(change.name));
  for (const auto& computation : rules.computed) {
    const bool repeated = std::any_of(computation.begin(), computation.end(),
                                      [&](const std::string& name) { return changed.contains(name); });
    if (repeated) inputs.insert(computation.begin(), computation.end());
  }
  // No version guards an attribute that drifts.  The time of a change replaces the former one, whatever that was.
  for (const auto& name : changed) {
    const auto* attribute = rules.entity->find_attribute(name);
    if (attribute == nullptr || !attribute->drifts) continue;
    if (attribute->updated) {
      inputs.erase(name);
    } else {
      inputs.insert(name);
    }
  }
}

bool has_transient_input(const Entity& entity, const std::vector<std::string>& inputs, const Item* given) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const std::string& name) {
    const auto* input = entity.find_attribute(name);
    return input != nullptr && input->transient && (given == nullptr || given->find(name) != nullptr);
  });
}

// The parent to which an entity in this state belongs.
Result<std::optional<Item>> counting_parent(const model::Model& model, const Entity& entity,
                                            const model::Parent& relation, const Item* attributes) {
  if (attributes == nullptr || !is_live(entity, *attributes)) return std::optional<Item>();
  return model::parent_key(model, entity, relation, *attributes);
}

bool names_the_same(const model::Parent& relation, const Item* before, const Item* after) {
  return before != nullptr && after != nullptr &&
         std::all_of(relation.by.begin(), relation.by.end(), [&](const auto& pair) {
           return value::same(before->find(pair.second), after->find(pair.second));
         });
}

}  // namespace

// ----------------------------------------------------------------------------------------- the entity's own attributes

Result<void> derive_attributes(const Entity& entity, const Item* before, Item& after) {
  TRY(model::derive(entity, after));
  if (before == nullptr) return {};
  for (const auto& attribute : entity.attributes) {
    if (!attribute.derived) continue;
    const auto inputs = attribute.derived->paths();
    const bool kept = has_transient_input(entity, inputs, nullptr) && !has_transient_input(entity, inputs, &after);
    if (kept) assign_value(after, attribute.name, before->find(attribute.name));
  }
  return {};
}

void copy_attributes(const RelationRules& rules, const Item* parent, Item& child) {
  for (const auto* copy : rules.copies) {
    assign_value(child, copy->name, parent == nullptr ? nullptr : parent->find(copy->copy_of->attribute));
  }
}

bool clear_attributes(const model::Parent& relation, Item& attributes) {
  bool changed = false;
  for (const auto* attribute : relation.cleared) {
    const auto& initial = attribute->default_value;
    changed = assign_value(attributes, attribute->name, initial ? &*initial : nullptr) || changed;
  }
  return changed;
}

// --------------------------------------------------------------------------------------------------- the entity's rows

std::optional<Number> AttributeChange::addition(const Entity& entity) const {
  const auto* attribute = entity.find_attribute(name);
  if (attribute == nullptr || !(attribute->count || attribute->sum)) return std::nullopt;
  const auto number_of = [](const AttributeValue* content) {
    return content == nullptr                ? std::optional(Number())
           : content->as_number() != nullptr ? std::optional(*content->as_number())
                                             : std::nullopt;
  };
  const auto was = number_of(from), is = number_of(to);
  if (!was || !is) return std::nullopt;
  const auto difference = is->subtract(*was);
  return difference ? std::optional(*difference) : std::nullopt;
}

std::vector<AttributeChange> differences(const Item& from, const Item& to) {
  std::vector<AttributeChange> changes;
  for (const auto& [name, content] : from) {
    const auto* other = to.find(name);
    if (!value::same(&content, other)) changes.push_back({.name = name, .from = &content, .to = other});
  }
  for (const auto& [name, content] : to) {
    if (from.find(name) == nullptr) changes.push_back({.name = name, .from = nullptr, .to = &content});
  }
  std::sort(changes.begin(), changes.end(),
            [](const AttributeChange& a, const AttributeChange& b) { return a.name < b.name; });
  return changes;
}

RowEffect::Action RowEffect::action(const std::optional<Item>& found) const {
  if (!found) return to ? Action::Put : Action::None;
  const auto* owner = found->find(mark);
  const bool is_ours = (from && value::same(owner, from->find(mark))) || (to && value::same(owner, to->find(mark)));
  if (!to) return is_ours ? Action::Remove : Action::None;
  if (!is_ours) return Action::Blocked;
  return *found == *to ? Action::None : Action::Update;
}

Result<Effects> effects_of(const Rules& rules, const Entity& entity, const EntityState& before,
                           const EntityState& after) {
  const auto& model = rules.model();
  auto old_rows = TRY(rows_in(rules, entity, before));
  auto new_rows = TRY(rows_in(rules, entity, after));
  Effects effects;
  add_effects(model.table, old_rows.records, new_rows.records, effects.rows);
  add_effects(model.table, old_rows.reservations, new_rows.reservations, effects.rows);
  if (before.attributes == nullptr) return effects;
  add_inputs(rules.of(entity), *before.attributes, after.attributes, effects.inputs);
  const bool goes =
      after.attributes == nullptr || (is_live(entity, *before.attributes) && !is_live(entity, *after.attributes));
  if (goes) effects.must_be_zero = rules.of(entity).restricting;
  return effects;
}

// ------------------------------------------------------------------------------------------------------------- parents

Problem counters_too_deep(const Entity& entity) {
  return {.kind = ProblemKind::Internal,
          .code = "Internal",
          .message = "the sums of " + entity.name + " depend on each other in a cycle",
          .details = {}};
}

Number counter_value(const Item& attributes, const std::string& name) {
  const auto* number = attributes.number(name);
  return number == nullptr ? Number() : *number;
}

Number counted_amount(const Counter& counter, const Item& child) {
  return counter.summed.empty() ? Number::from_int(1) : counter_value(child, counter.summed);
}

Result<std::vector<ParentEffect>> effects_on_parents(const Rules& rules, const Entity& entity, const Item* before,
                                                     const Item* after) {
  std::vector<ParentEffect> effects;
  for (const auto& relation : rules.of(entity).relations) {
    const auto add = [&](const Item& key, const Item* from, const Item* to, bool required) -> Result<void> {
      ParentEffect effect{.rules = &relation, .key = key, .required = required, .counters = {}};
      for (const auto& counter : relation.counters) {
        const auto left = from == nullptr ? Number() : counted_amount(counter, *from);
        const auto came = to == nullptr ? Number() : counted_amount(counter, *to);
        const auto amount = TRY(came.subtract(left));
        if (amount.is_zero()) continue;
        const bool plain = rules.of(*relation.parent).plain_counters.contains(counter.attribute->name);
        effect.counters.push_back({.counter = counter.attribute, .amount = amount, .plain = plain});
      }
      if (required || !effect.counters.empty()) effects.push_back(std::move(effect));
      return {};
    };
    const auto old_parent = counting_parent(rules.model(), entity, *relation.relation, before);
    const auto new_parent = counting_parent(rules.model(), entity, *relation.relation, after);
    if (!new_parent && !names_the_same(*relation.relation, before, after)) return new_parent.error();
    const auto old_key = old_parent ? *old_parent : std::nullopt;
    const auto new_key = new_parent ? *new_parent : std::nullopt;
    if (old_key == new_key) {
      if (new_key) TRY(add(*new_key, before, after, false));
      continue;
    }
    if (new_key) TRY(add(*new_key, nullptr, after, relation.relation->must_exist));
    if (old_key) TRY(add(*old_key, before, nullptr, false));
  }
  return effects;
}

Result<void> add_to_counters(const std::vector<CounterChange>& counters, Item& parent) {
  for (const auto& [counter, amount, plain] : counters) {
    parent.set(counter->name, AttributeValue(TRY(counter_value(parent, counter->name).add(amount))));
  }
  return {};
}

}  // namespace stator::runtime
