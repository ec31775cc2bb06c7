// What a change of one entity means for others and for itself: derived attributes, copies, counters, sums, parents that have to be
// there.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/runtime/problem.h"
#include "stator/runtime/read/child_query.h"
#include "stator/runtime/write/transaction.h"

namespace stator::runtime {
namespace {

using model::Entity;
using value::AttributeValue;
using value::Item;
using value::Number;

constexpr unsigned kDeepestSum = 16;  // sums of sums of sums
constexpr unsigned kMostAncestors = 16;
constexpr unsigned kHeirsPage = 25;  // rows that are read at once

Number number_at(const Item& attributes, const std::string& name) {
  const auto* found = attributes.find(name);
  const auto* number = found == nullptr ? nullptr : found->as_number();
  return number == nullptr ? Number() : *number;
}

// How much a child contributes to a counter of its parent.
Number amount_of(const Counter& counter, const Item& child) {
  return counter.summed.empty() ? Number::from_int(1) : number_at(child, counter.summed);
}

}  // namespace

Problem missing_parent(const RelationRules& rules) {
  std::vector<model::ValueProblem> details;
  for (const auto& pointer : rules.pointers) details.push_back({pointer, "names no " + rules.parent->name});
  return {.kind = rules.in_path ? ProblemKind::NotFound : ProblemKind::Conflict,
          .code = rules.in_path ? "NotFound" : "NoSuchParent",
          .message = "there is no such " + rules.parent->name,
          .details = std::move(details)};
}

// Generation by generation, and each ancestor once: rows may lead to each other by many ways, and back.
Result<Presence, Problem> Transaction::presence(const Draft& draft) {
  auto presence = Presence::There;
  std::vector<const Draft*> generation = {&draft};
  std::set<const Draft*> seen = {&draft};
  for (unsigned depth = 0; !generation.empty(); ++depth) {
    std::vector<const Draft*> parents;
    for (const auto* one : generation) {
      const auto& entity = *one->entity;
      if (!one->after) return Presence::Gone;
      if (!is_live(entity, *one->after)) presence = Presence::Deleted;
      for (const auto& rules : context_.rules.of(entity).relations) {
        if (!rules.vanishes() || depth > kMostAncestors) continue;
        const auto key = TRY(checked(model::parent_key(model_, entity, *rules.relation, *one->after)));
        if (!key) continue;
        const auto* parent = TRY(load_key(*rules.parent, *key));
        if (parent == nullptr && rules.goes_along) return Presence::Gone;
        if (parent == nullptr) continue;
        // What is written next to it must not outlive a deletion at the same moment.
        if (rules.parent->soft_delete) depend_on(*parent, {rules.parent->soft_delete->attribute});
        if (seen.insert(parent).second) parents.push_back(parent);
      }
    }
    generation = std::move(parents);
  }
  return presence;
}

Result<bool, Problem> Transaction::is_present(const Draft& draft) { return TRY(presence(draft)) == Presence::There; }

// Children cannot come while their parent is not there, and those that can do not have anything of it, so what is found now is all
// there is.
Result<bool, Problem> Transaction::has_heirs(const Entity& entity, const Item& key, const Item& attributes) {
  if (context_.rules.of(entity).comes_once) return false;
  for (const auto& child : model_.entities) {
    for (const auto& rules : context_.rules.of(child).relations) {
      const auto& relation = *rules.relation;
      const bool tells = relation.must_exist || !rules.copies.empty();
      if (rules.parent != &entity || !rules.goes_along || !tells) continue;
      const auto plan = model::plan_children(model_, child, relation, attributes);
      if (!plan) continue;                            // nothing finds them, so nothing removes them either
      if (TRY(read(key))->has_value()) return false;  // it is there, and they are its own
      const auto is_heir = [&](const Item& found) { return has_had_parent(rules, found); };
      if (TRY(has_child(child, relation, *plan, key, is_heir))) return true;
    }
  }
  return false;
}

Result<bool, Problem> Transaction::has_child(const Entity& child, const model::Parent& relation,
                                             const model::ChildPlan& plan, const Item& key,
                                             const std::function<bool(const Item&)>& wanted) {
  std::optional<Item> start;
  do {
    auto page = TRY(query_children(context_.dynamo, model_.table, plan, kHeirsPage, start));
    for (const auto& row : page.items) {
      const auto* type = row.find(model_.table.type_attribute);
      if (type == nullptr || type->as_string() == nullptr || *type->as_string() != child.main().type) continue;
      const auto found = model::attributes_of(model_, child, child.main(), row);
      const auto of = TRY(checked(model::parent_key(model_, child, relation, found)));
      if (of && *of == key && wanted(found)) return true;
    }
    start = std::move(page.last_key);
  } while (start);
  return false;
}

// Counters tell of children, except of those that were there first: they are counted a moment after their parent has come.
Result<void, Problem> Transaction::check_unused(const Draft& draft) {
  if (!draft.after) return {};
  const auto& entity = *draft.entity;
  for (const auto& child : model_.entities) {
    for (const auto& rules : context_.rules.of(child).relations) {
      const auto& relation = *rules.relation;
      const bool holds = relation.on_delete == model::OnDelete::Restrict && rules.can_precede;
      if (rules.parent != &entity || !holds) continue;
      const auto plan = model::plan_children(model_, child, relation, *draft.after);
      if (!plan) continue;
      const auto lives = [&](const Item& found) { return is_live(child, found); };
      if (!TRY(has_child(child, relation, *plan, draft.key, lives))) continue;
      return conflict("InUse", "this " + entity.name + " is in use", {{child.name, "belongs to it"}});
    }
  }
  return {};
}

Result<void, Problem> Transaction::derive(const Entity& entity, const std::optional<Item>& from, Item& to) {
  if (const auto derived = model::derive(entity, to); !derived) {
    auto problems = explain_underivable(entity, from ? &*from : nullptr, to);
    if (problems.empty()) return invalid(derived.error().message);
    return invalid(std::move(problems));
  }
  if (!from) return {};
  // Derived from something that was given once and is not stored: it stays until that is given again.
  for (const auto& attribute : entity.attributes) {
    if (!attribute.derived) continue;
    const auto inputs = attribute.derived->paths();
    const auto is_transient = [&](const std::string& name) {
      const auto* input = entity.find_attribute(name);
      return input != nullptr && input->transient;
    };
    const bool given = std::any_of(inputs.begin(), inputs.end(), [&](const std::string& name) {
      return is_transient(name) && to.find(name) != nullptr;
    });
    if (given || std::none_of(inputs.begin(), inputs.end(), is_transient)) continue;
    if (const auto* old = from->find(attribute.name)) to.set(attribute.name, *old);
  }
  return {};
}

Result<void, Problem> Transaction::compute(const Entity& entity, const std::optional<Item>& from, Item& to) {
  TRY(derive(entity, from, to));
  for (const auto& rules : context_.rules.of(entity).relations) {
    if (!rules.copies.empty()) TRY(copy(entity, rules, from, to));
  }
  return derive(entity, from, to);
}

Result<void, Problem> Transaction::copy(const Entity& entity, const RelationRules& rules,
                                        const std::optional<Item>& from, Item& to) {
  const auto key = TRY(checked(model::parent_key(model_, entity, *rules.relation, to)));
  if (from && key == TRY(checked(model::parent_key(model_, entity, *rules.relation, *from)))) return {};
  const Draft* source = key ? TRY(load_key(*rules.parent, *key)) : nullptr;
  if (key && source == nullptr) {
    if (rules.relation->must_exist) return missing_parent(rules);
    plan_.require(*key, {.kind = Requirement::Kind::Absent});
  }
  for (const auto* attribute : rules.copies) {
    const auto& name = attribute->copy_of->attribute;
    const auto* content = source == nullptr ? nullptr : source->after->find(name);
    if (content == nullptr)
      to.erase(attribute->name);
    else
      to.set(attribute->name, *content);
    if (source == nullptr || !source->before) continue;
    const auto* seen = source->before->find(name);
    plan_.require(source->key, {.kind = Requirement::Kind::Is,
                                .attribute = name,
                                .value = seen == nullptr ? std::nullopt : std::optional(*seen)});
  }
  return {};
}

Result<void, Problem> Transaction::shift(Draft& draft, std::optional<Item> to, unsigned depth) {
  const auto& entity = *draft.entity;
  if (depth > kDeepestSum) {
    return Problem{ProblemKind::Internal, "Internal", "the sums of " + entity.name + " go round in circles", {}};
  }
  const auto from = std::exchange(draft.after, std::move(to));
  for (const auto& rules : context_.rules.of(entity).relations) {
    if (context_.rules.of(*rules.parent).relations.empty()) {
      TRY(shift_relation(entity, rules, from, draft.after, depth));
    } else {  // it may be its own ancestor, and change under our hands
      const auto now = draft.after;
      TRY(shift_relation(entity, rules, from, now, depth));
    }
  }
  return {};
}

Result<void, Problem> Transaction::shift_relation(const Entity& entity, const RelationRules& rules,
                                                  const std::optional<Item>& from, const std::optional<Item>& to,
                                                  unsigned depth) {
  const auto parent_of = [&](const std::optional<Item>& state) -> Result<std::optional<Item>, Problem> {
    if (!state || !is_live(entity, *state)) return std::optional<Item>();
    return checked(model::parent_key(model_, entity, *rules.relation, *state));
  };
  const auto old_key = TRY(parent_of(from));
  const auto new_key = TRY(parent_of(to));
  const bool arrives = new_key && new_key != old_key;
  if (arrives && rules.relation->must_exist) TRY(require_parent(rules, *new_key));
  for (const auto& counter : rules.counters) {
    const auto left = old_key ? amount_of(counter, *from) : Number();
    const auto came = new_key ? amount_of(counter, *to) : Number();
    if (old_key == new_key) {
      const auto difference = TRY(checked(came.subtract(left)));
      if (old_key) TRY(count(rules, *old_key, counter, difference, false, depth));
      continue;
    }
    if (old_key) TRY(count(rules, *old_key, counter, *Number().subtract(left), false, depth));
    if (new_key) TRY(count(rules, *new_key, counter, came, rules.relation->must_exist, depth));
  }
  return {};
}

Result<void, Problem> Transaction::require_parent(const RelationRules& rules, const Item& key) {
  const auto problem = missing_parent(rules);
  const auto& further = context_.rules.of(*rules.parent).relations;
  if (std::any_of(further.begin(), further.end(), [](const RelationRules& one) { return one.vanishes(); })) {
    const auto* parent = TRY(load_key(*rules.parent, key));
    if (parent != nullptr && !TRY(is_present(*parent))) return problem;
  }
  const auto* known = find(key);
  if (known != nullptr) {
    const bool there = known->entity == rules.parent && known->after && is_live(*known->entity, *known->after);
    if (!there) return problem;
    if (!known->before) return {};  // it is being created with us
  }
  plan_.require(key, {.kind = Requirement::Kind::Is,
                      .attribute = model_.table.type_attribute,
                      .value = AttributeValue::string(rules.parent->main().type),
                      .otherwise = problem});
  if (const auto& soft = rules.parent->soft_delete) {
    plan_.require(key, {.kind = Requirement::Kind::IsNot,
                        .attribute = soft->attribute,
                        .value = AttributeValue::boolean(true),
                        .otherwise = problem});
  }
  return {};
}

Result<void, Problem> Transaction::count(const RelationRules& rules, const Item& key, const Counter& counter,
                                         const Number& amount, bool required, unsigned depth) {
  if (amount.is_zero()) return {};
  const auto& name = counter.attribute->name;
  const bool plain = context_.rules.of(*rules.parent).plain_counters.contains(name);
  if (required && plain && find(key) == nullptr) {
    plan_.add(key, name, amount);
    return {};
  }
  auto* parent = TRY(load_key(*rules.parent, key));
  if (parent ==
      nullptr) {  // it is gone, and its counters with it; one that comes meanwhile would count without this change
    return rules.can_precede ? depend_on_absence_at(*rules.parent, key) : Result<void, Problem>();
  }
  auto to = *parent->after;
  to.set(name, AttributeValue(TRY(checked(number_at(to, name).add(amount)))));
  TRY(derive(*rules.parent, parent->after, to));
  return shift(*parent, std::move(to), depth + 1);
}

}  // namespace stator::runtime
