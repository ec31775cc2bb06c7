#include "stator/systems/worthwatch/item_order.h"

#include <algorithm>

#include "stator/runtime/object.h"
#include "stator/runtime/problems.h"
#include "stator/runtime/transaction.h"
#include "stator/systems/worthwatch/list_items.h"

namespace stator::systems::worthwatch {
namespace {

using runtime::Done;
using runtime::Object;
using runtime::Outcome;
using value::AttributeValue;
using value::Item;

constexpr std::size_t kTogether = 50;  // items that one transaction spreads out
constexpr unsigned kAttempts = 12;     // others may fill the room that was made

// Somebody else rearranges the list at the same time: what was planned has to be planned again.
constexpr std::string_view kRearranged = "Rearranged";
runtime::Problem rearranged() { return runtime::conflict(std::string(kRearranged), "the list has changed meanwhile"); }

const runtime::Caller& the_system() {
  static const runtime::Caller system{.subject = std::nullopt, .roles = {}, .system = true};
  return system;
}

std::int64_t position_in(const Item& attributes) {
  const auto* position = attributes.find("position");
  const auto* number = position == nullptr ? nullptr : position->as_number();
  return number == nullptr ? 0 : number->to_int64().value_or(0);
}

std::int64_t position_of(const Object& item) { return position_in(item.attributes); }

bool is_same(const Item& a, const Item& b) {
  return *a.find("contentType") == *b.find("contentType") && *a.find("contentId") == *b.find("contentId");
}

}  // namespace

std::optional<std::int64_t> position_between(std::optional<std::int64_t> low, std::optional<std::int64_t> high) {
  if (!high) {
    const auto behind = low.value_or(0) + kPositionStep;
    return behind <= kLastPosition ? std::optional(behind) : std::nullopt;
  }
  const auto under = low.value_or(-1);
  if (*high - under < 2) return std::nullopt;
  return under + (*high - under) / 2;
}

ItemOrder::ItemOrder(runtime::Repository& repository)
    : repository_(repository), entity_(*repository.model().find_entity("WATCHLIST_ITEM")) {}

Outcome<Object> ItemOrder::move(const Item& item, const Place& place) {
  if (is_same(item, place.anchor)) return runtime::invalid("an item cannot be moved next to itself");
  ATTEMPT(repository_.get(entity_, item, the_system()));
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    auto moved = try_to_move(item, place);
    if (moved || moved.problem().code != kRearranged) return moved;
  }
  return runtime::conflict("Contention", "others are rearranging the same list; try again");
}

Outcome<Object> ItemOrder::try_to_move(const Item& item, const Place& place) {
  auto anchor_naming = place.anchor;
  anchor_naming.set("watchlistId", *item.find("watchlistId"));
  const auto target = ATTEMPT(target_of(item, place, anchor_naming));
  if (!target.position) {
    ATTEMPT(spread_out(*item.find("watchlistId")));
    return rearranged();
  }
  Object moved;
  ATTEMPT(repository_.transact([&](runtime::Transaction& transaction) -> Outcome<Done> {
    const auto* anchor = ATTEMPT(transaction.load(entity_, anchor_naming));
    if (anchor == nullptr || position_in(*anchor->after) != target.anchor) return rearranged();
    transaction.depend_on(*anchor, {"position"});
    auto* draft = ATTEMPT(transaction.load(entity_, item));
    if (draft == nullptr) return runtime::not_found(entity_.name);
    model::PlainObject changes;
    changes.values.set("position", AttributeValue::number(*target.position));
    ATTEMPT(transaction.change(*draft, changes, runtime::Source::Model));
    moved = runtime::to_object(repository_.model(), entity_, *draft->after);
    return Done{};
  }));
  return moved;
}

Outcome<ItemOrder::Target> ItemOrder::target_of(const Item& item, const Place& place, Item naming) {
  const bool before = place.side == Place::Side::Before;
  const auto anchor = repository_.get(entity_, naming, the_system());
  if (!anchor) {
    if (anchor.problem().kind != runtime::ProblemKind::NotFound) return anchor.problem();
    return runtime::invalid({{before ? "before" : "after", "is not on this list"}});
  }
  naming.set("position", *anchor->attributes.find("position"));
  const auto& pattern = *repository_.model().find_pattern(before ? "items_ahead" : "items_behind");
  // Two, because one of them may be the item that moves.
  const auto neighbours =
      ATTEMPT(repository_.run(pattern, naming, the_system(), {.limit = 2U, .start = std::nullopt})).objects;
  const auto neighbour =
      std::ranges::find_if(neighbours, [&](const Object& other) { return !is_same(other.attributes, item); });
  const auto beside = neighbour == neighbours.end() ? std::nullopt : std::optional(position_of(*neighbour));
  const auto here = position_of(*anchor);
  return Target{.anchor = here, .position = before ? position_between(beside, here) : position_between(here, beside)};
}

// From the last item to the first, each far behind the old end and before the ones that went ahead: at no moment does the order
// differ from the old one.  Nobody may add, remove or move items meanwhile: a new one would get a place among those that went ahead.
Outcome<Done> ItemOrder::spread_out(const AttributeValue& watchlist_id) {
  auto items = ATTEMPT(items_of(repository_, watchlist_id, the_system()));
  if (items.empty()) return Done{};
  const auto end = position_of(items.back());
  const auto count = static_cast<std::int64_t>(items.size());
  if (end > kLastPosition - (count + 1) * kPositionStep)
    return runtime::conflict("Full", "the positions of this list are used up");
  Item list_naming;
  list_naming.set("watchlistId", watchlist_id);
  for (auto left = items.size(); left > 0;) {
    const auto first = left - std::min(left, kTogether);
    ATTEMPT(repository_.transact([&](runtime::Transaction& transaction) -> Outcome<Done> {
      const auto* list = ATTEMPT(transaction.load(*repository_.model().find_entity("WATCHLIST"), list_naming));
      if (list == nullptr || *list->after->find("itemCount") != AttributeValue::number(count)) return rearranged();
      transaction.depend_on(*list, {"itemCount"});
      for (auto i = first; i < left; ++i) {
        auto* draft = ATTEMPT(transaction.load(entity_, items[i].attributes));
        if (draft == nullptr || position_in(*draft->after) != position_of(items[i])) return rearranged();
        model::PlainObject changes;
        changes.values.set("position",
                           AttributeValue::number(end + (static_cast<std::int64_t>(i) + 1) * kPositionStep));
        ATTEMPT(transaction.change(*draft, changes, runtime::Source::Model));
      }
      return Done{};
    }));
    left = first;
  }
  return Done{};
}

}  // namespace stator::systems::worthwatch
