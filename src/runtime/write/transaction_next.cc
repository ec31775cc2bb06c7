// Numbers that go on from the last one: of an order, or of a parent that gives them.
#include <fmt/format.h>

#include <algorithm>

#include "stator/expr/build.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/rules/requirements.h"
#include "stator/runtime/write/transaction.h"

namespace stator::runtime {
namespace {

using model::Attribute;
using model::Entity;
using model::NextPlace;
using model::NextRange;
using value::AttributeValue;
using value::Item;
using value::Number;

constexpr unsigned kRowsAtOnce = 5;  // the first is nearly always the one

// The rows of the range, the last one first.
QueryRequest query_of(const model::TableDesign& table, const NextPlace& place, const NextRange& range) {
  auto request = partition_query(table, place.index, range.partition, kRowsAtOnce);
  request.ascending = false;
  if (place.width == 0) return request;
  request.condition.terms.push_back(
      expr::key_between(place.sort.name, AttributeValue::string(range.front + "0"),
                        AttributeValue::string(range.front + ":")));  // the byte after '9'
  return request;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether all rows of one such order have the same parent through this relation, and it counts them.
bool counts(const RelationRules& rules, const NextPlace& place) {
  const bool has_count = std::any_of(rules.counters.begin(), rules.counters.end(),
                                     [](const Counter& counter) { return counter.summed.empty(); });
  const bool named_by_copy = std::any_of(rules.copies.begin(), rules.copies.end(),
                                         [&](const Attribute* copy) { return contains(place.scope, copy->name); });
  const auto& by = rules.relation->by;
  const bool named_by_key =
      std::all_of(by.begin(), by.end(), [&](const auto& pair) { return contains(place.scope, pair.second); });
  return has_count && (named_by_copy || named_by_key);
}

Problem no_room(const Attribute& attribute) {
  return conflict(std::string(kFull), "there is no room behind the last one", {{attribute.name, "has no next value"}});
}

// The number after `last`, with at most `width` digits; 0: with any.  Problems: Conflict, when there is none.
Result<Number, Problem> number_after(const std::optional<Number>& last, unsigned width, const Attribute& attribute) {
  const auto step = Number::from_int(attribute.next->step);
  auto next = last ? TRY(checked(last->add(step))) : step;
  const auto& type = attribute.type;
  if (type.min && next < *type.min) next = *type.min;
  const bool too_wide = width != 0 && next.to_string().size() > width;
  if (!too_wide && (!type.max || next <= *type.max)) return next;
  return no_room(attribute);
}

}  // namespace

Result<void, Problem> Transaction::leave_orders(const Entity& entity, const Item& from, Item& to, const Item& given) {
  for (const auto& attribute : entity.attributes) {
    if (attribute.is_numbered()) {
      const auto& relation = *attribute.next->through;
      const auto before = TRY(checked(model::parent_key(model_, entity, relation, from)));
      if (before != TRY(checked(model::parent_key(model_, entity, relation, to)))) to.erase(attribute.name);
      continue;
    }
    const bool kept = attribute.next && given.find(attribute.name) == nullptr && to.find(attribute.name) != nullptr;
    if (!kept) continue;
    const auto& place = *attribute.next->place;
    const auto before = TRY(checked(model::next_range(place, attribute, from)));
    const auto after = TRY(checked(model::next_range(place, attribute, to)));
    const bool stays = before && after && before->partition == after->partition && before->front == after->front;
    if ((before || after) && !stays) to.erase(attribute.name);
  }
  return {};
}

Result<bool, Problem> Transaction::fill_next(const Entity& entity, const std::optional<Item>& from, Item& to) {
  bool names_it = false;
  bool filled = false;
  std::vector<model::ValueProblem> problems;
  for (const auto& attribute : entity.attributes) {
    if (!attribute.next || to.find(attribute.name) != nullptr) continue;
    const auto number = attribute.is_numbered() ? TRY(number_of_parent(entity, attribute, to))
                                                : TRY(number_in_order(entity, attribute, to));
    if (!number) {
      if (attribute.required) problems.push_back({attribute.name, "is required"});
      continue;
    }
    to.set(attribute.name, AttributeValue(*number));
    filled = true;
    names_it = names_it || entity.is_named_by(attribute.name);
  }
  if (!problems.empty()) return invalid(std::move(problems));
  if (filled) TRY(derive(entity, from, to));
  return names_it;
}

Result<std::optional<Number>, Problem> Transaction::number_in_order(const Entity& entity, const Attribute& attribute,
                                                                    const Item& attributes) {
  const auto& place = *attribute.next->place;
  const auto range = TRY(checked(model::next_range(place, attribute, attributes)));
  if (!range) return std::optional<Number>();
  TRY(hold_count(entity, place, attributes));  // before the query, so that nobody comes in between unnoticed
  auto number = TRY(number_after(TRY(last_number(place, *range)), place.width, attribute));
  if (attribute.next->distinct) number = TRY(unreserved_number(entity, attribute, attributes, number));
  return std::optional(number);
}

// A number can be taken without being in the order: an index lags behind, or its row is deleted softly.
Result<Number, Problem> Transaction::unreserved_number(const Entity& entity, const Attribute& attribute,
                                                       Item attributes, Number number) {
  constexpr unsigned kMostTaken = 1000;
  for (unsigned taken = 0; taken < kMostTaken; ++taken) {
    attributes.set(attribute.name, AttributeValue(number));
    const auto claims = TRY(checked(model::reservations_of(model_, entity, attributes, {})));
    const auto claim = std::find_if(claims.begin(), claims.end(), [&](const model::Reservation& one) {
      return one.rule->attributes == std::vector{attribute.name};
    });
    if (claim == claims.end()) return number;
    if (!TRY(read(claim->key))->has_value()) {
      plan_.require(claim->key, row_absent());
      return number;
    }
    number = TRY(number_after(number, attribute.next->place->width, attribute));
  }
  return no_room(attribute);
}

Result<std::optional<Number>, Problem> Transaction::number_of_parent(const Entity& entity, const Attribute& attribute,
                                                                     const Item& attributes) {
  const auto& relations = rules_.of(entity).relations;
  const auto rules = std::find_if(relations.begin(), relations.end(),
                                  [&](const RelationRules& one) { return one.relation == attribute.next->through; });
  const auto key = TRY(checked(model::parent_key(model_, entity, *rules->relation, attributes)));
  if (!key) return std::optional<Number>();
  auto* parent = TRY(load_key(*rules->parent, *key));
  if (parent == nullptr) return missing_parent(entity, *rules);
  const auto& counter = attribute.next->counter;
  const auto* last = parent->after->number(counter);
  const auto before = last != nullptr ? std::optional(*last) : TRY(greatest_number(*parent, *attribute.next->last));
  const auto number = TRY(number_after(before, 0, attribute));
  if (parent->before) plan_.require(*key, attribute_is(counter, parent->before->find(counter)));
  auto to = *parent->after;
  to.set(counter, AttributeValue(number));
  TRY(derive(*parent->entity, parent->after, to));
  TRY(apply(*parent, std::move(to)));
  return std::optional(number);
}

Result<std::optional<Number>, Problem> Transaction::greatest_number(const Draft& parent, const Attribute& counter) {
  std::optional<Number> greatest;
  for (const auto* rules : rules_.of(*parent.entity).children) {
    for (const auto* attribute : rules->numbers) {
      if (attribute->next->last != &counter) continue;
      const auto plan = model::plan_children(model_, *rules->child, *rules->relation, *parent.after);
      if (!plan) continue;  // the checker warns of it
      const auto see = [&](const Item& found) {
        const auto* number = found.number(attribute->name);
        if (number != nullptr && (!greatest || *number > *greatest)) greatest = *number;
        return false;
      };
      TRY(has_child(*plan, parent.key, see));
    }
  }
  return greatest;
}

Result<std::optional<Number>, Problem> Transaction::last_number(const NextPlace& place, const NextRange& range) {
  std::optional<Number> last;
  const auto see = [&](const Item& row) {
    const auto number = range.number_in(place, row);
    if (number && (!last || *number > *last)) last = number;
    return number.has_value();
  };
  auto request = query_of(model_.table, place, range);
  for (bool found = false; !found;) {
    const auto page = TRY(context_.dynamo.query(request));
    found = std::any_of(page.items.begin(), page.items.end(), see);
    if (!page.last_key) break;
    request.page.start = page.last_key;
  }
  for (const auto& draft : drafts_) {  // what this transaction is going to write is not in the table yet
    if (!draft.after || !draft.changed()) continue;
    for (const auto& row : TRY(checked(model::rows_of(model_, *draft.entity, *draft.after)))) see(row.item);
  }
  return last;
}

Result<void, Problem> Transaction::hold_count(const Entity& entity, const NextPlace& place, const Item& attributes) {
  const RelationRules* narrowest = nullptr;
  for (const auto& rules : rules_.of(entity).relations) {
    const bool narrower = narrowest == nullptr || rules.relation->by.size() > narrowest->relation->by.size();
    if (narrower && counts(rules, place)) narrowest = &rules;
  }
  if (narrowest == nullptr) return {};
  const auto key = TRY(checked(model::parent_key(model_, entity, *narrowest->relation, attributes)));
  const auto* parent = key ? TRY(load_key(*narrowest->parent, *key)) : nullptr;
  if (parent == nullptr) return {};
  std::set<std::string> counters;
  for (const auto& counter : narrowest->counters) {
    if (counter.summed.empty()) counters.insert(counter.attribute->name);
  }
  depend_on(*parent, counters);
  return {};
}

}  // namespace stator::runtime
