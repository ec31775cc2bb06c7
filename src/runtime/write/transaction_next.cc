// Numbers that go on from the last one in an order.
#include <fmt/format.h>

#include <algorithm>

#include "stator/expr/build.h"
#include "stator/runtime/problem.h"
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
  QueryRequest request;
  request.page.table = table.name;
  if (place.index != nullptr) request.page.index = place.index->name;
  request.page.consistent = place.index == nullptr || place.index->local;
  request.page.limit = kRowsAtOnce;
  request.ascending = false;
  auto& terms = request.condition.terms;
  for (const auto& [name, content] : range.partition) terms.push_back(expr::key_equals(name, content));
  if (place.width == 0) return request;
  terms.push_back(expr::key_between(place.sort.name, AttributeValue::string(range.front + "0"),
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

// The number after `last`.  Problems: Conflict, when there is none.
Result<Number, Problem> number_after(const std::optional<Number>& last, const NextPlace& place,
                                     const Attribute& attribute) {
  const auto step = Number::from_int(attribute.next->step);
  auto next = last ? TRY(checked(last->add(step))) : step;
  const auto& type = attribute.type;
  if (type.min && next < *type.min) next = *type.min;
  const bool too_wide = place.width != 0 && next.to_string().size() > place.width;
  if (!too_wide && (!type.max || next <= *type.max)) return next;
  return conflict(std::string(kFull), "there is no room behind the last one", {{attribute.name, "has no next value"}});
}

}  // namespace

Result<void, Problem> Transaction::leave_orders(const Entity& entity, const Item& from, Item& to, const Item& given) {
  for (const auto& attribute : entity.attributes) {
    const bool kept = attribute.next && given.find(attribute.name) == nullptr && to.find(attribute.name) != nullptr;
    if (!kept) continue;
    const auto place = TRY(checked(model::next_place(model_, entity, attribute)));
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
    const auto place = TRY(checked(model::next_place(model_, entity, attribute)));
    const auto range = TRY(checked(model::next_range(place, attribute, to)));
    if (!range) {
      if (attribute.required) problems.push_back({attribute.name, "is required"});
      continue;
    }
    TRY(hold_count(entity, place, to));  // before the query, so that nobody comes in between unnoticed
    const auto last = TRY(last_number(place, *range));
    to.set(attribute.name, AttributeValue(TRY(number_after(last, place, attribute))));
    filled = true;
    names_it = names_it || context_.rules.of(entity).identity.contains(attribute.name);
  }
  if (!problems.empty()) return invalid(std::move(problems));
  if (filled) TRY(derive(entity, from, to));
  return names_it;
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
  for (const auto& rules : context_.rules.of(entity).relations) {
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
