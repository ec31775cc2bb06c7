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
constexpr unsigned kAttempts = 4;      // others may fill the room that was made

const runtime::Caller& the_system() {
  static const runtime::Caller system{.subject = std::nullopt, .roles = {}, .system = true};
  return system;
}

std::int64_t position_of(const Object& item) {
  const auto* position = item.attributes.find("position");
  const auto* number = position == nullptr ? nullptr : position->as_number();
  return number == nullptr ? 0 : number->to_int64().value_or(0);
}

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
    const auto position = ATTEMPT(position_at(item, place));
    if (!position) {
      ATTEMPT(spread_out(*item.find("watchlistId")));
      continue;
    }
    Object moved;
    ATTEMPT(repository_.transact([&](runtime::Transaction& transaction) -> Outcome<Done> {
      auto* draft = ATTEMPT(transaction.load(entity_, item));
      if (draft == nullptr) return runtime::not_found(entity_.name);
      model::PlainObject changes;
      changes.values.set("position", AttributeValue::number(*position));
      ATTEMPT(transaction.change(*draft, changes, runtime::Source::Model));
      moved = runtime::to_object(repository_.model(), entity_, *draft->after);
      return Done{};
    }));
    return moved;
  }
  return runtime::conflict("Contention", "others are rearranging the same list; try again");
}

Outcome<std::optional<std::int64_t>> ItemOrder::position_at(const Item& item, const Place& place) {
  const bool before = place.side == Place::Side::Before;
  auto naming = place.anchor;
  naming.set("watchlistId", *item.find("watchlistId"));
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
  return before ? position_between(beside, here) : position_between(here, beside);
}

// From the last item to the first, each far behind the old end and before the ones that went ahead: at no moment does the order
// differ from the old one.
Outcome<Done> ItemOrder::spread_out(const AttributeValue& watchlist_id) {
  auto items = ATTEMPT(items_of(repository_, watchlist_id, the_system()));
  if (items.empty()) return Done{};
  const auto end = position_of(items.back());
  const auto count = static_cast<std::int64_t>(items.size());
  if (end > kLastPosition - (count + 1) * kPositionStep)
    return runtime::conflict("Full", "the positions of this list are used up");
  for (auto left = items.size(); left > 0;) {
    const auto first = left - std::min(left, kTogether);
    ATTEMPT(repository_.transact([&](runtime::Transaction& transaction) -> Outcome<Done> {
      for (auto i = first; i < left; ++i) {
        auto* draft = ATTEMPT(transaction.load(entity_, items[i].attributes));
        if (draft == nullptr) continue;  // removed since
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
