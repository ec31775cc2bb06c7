#include "stator/systems/worthwatch/item_order.h"

#include <algorithm>

#include "stator/runtime/object.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/write/transaction.h"
#include "stator/systems/worthwatch/list_items.h"

namespace stator::systems::worthwatch {
namespace {

using runtime::Object;
using runtime::Problem;
using value::AttributeValue;
using value::Item;

constexpr std::size_t kSpreadTogether = 50;  // items that one transaction spreads out
constexpr unsigned kAttempts = 12;           // others may fill the room that was made

// Another request rearranges the list at the same time, so the move must be planned again.
constexpr std::string_view kRearranged = "Rearranged";
runtime::Problem rearranged() { return runtime::conflict(std::string(kRearranged), "the list has changed meanwhile"); }

runtime::Problem contention() {
  return runtime::conflict("Contention", "others are rearranging the same list; try again");
}

const runtime::Caller& the_system() {
  static const runtime::Caller system{.subject = std::nullopt, .roles = {}, .system = true};
  return system;
}

std::int64_t position_of(const Object& item) { return item.attributes.integer("position"); }

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

std::vector<NewPosition> next_to_spread(const std::vector<std::int64_t>& positions, std::size_t most) {
  const auto target = [](std::size_t index) { return (static_cast<std::int64_t>(index) + 1) * kPositionStep; };
  std::vector<NewPosition> moves;
  for (std::size_t i = 0; i < positions.size() && moves.size() < most; ++i) {
    if (target(i) < positions[i]) moves.push_back({.index = i, .position = target(i)});
  }
  for (auto i = positions.size(); i-- > 0 && moves.size() < most;) {
    if (target(i) > positions[i]) moves.push_back({.index = i, .position = target(i)});
  }
  return moves;
}

ItemOrder::ItemOrder(runtime::Repository& repository, const Clock& clock)
    : repository_(repository), clock_(clock), entity_(*repository.model().find_entity("WATCHLIST_ITEM")) {}

Result<Object, Problem> ItemOrder::move(const Item& item, const Place& place,
                                        const runtime::Precondition& precondition) {
  if (is_same(item, place.anchor)) return runtime::invalid("an item cannot be moved next to itself");
  TRY(repository_.get(entity_, item, the_system()));
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    auto moved = try_to_move(item, place, precondition);
    if (moved || moved.error().code != kRearranged) return moved;
  }
  return contention();
}

Result<Object, Problem> ItemOrder::try_to_move(const Item& item, const Place& place,
                                               const runtime::Precondition& precondition) {
  auto anchor_naming = place.anchor;
  anchor_naming.set("watchlistId", *item.find("watchlistId"));
  const auto target = TRY(target_of(item, place, anchor_naming));
  if (!target.position) {
    TRY(spread_out(*item.find("watchlistId")));
    return rearranged();
  }
  Object moved;
  TRY(repository_.transact([&](runtime::Transaction& transaction) -> Result<void, Problem> {
    const auto* anchor = TRY(transaction.load(entity_, anchor_naming));
    if (anchor == nullptr || anchor->after->integer("position") != target.anchor) return rearranged();
    transaction.depend_on(*anchor, {"position"});
    auto* draft = TRY(transaction.load(entity_, item));
    if (draft == nullptr) return runtime::not_found(entity_.name);
    if (!precondition.holds(runtime::version_of(repository_.model().table, *draft->after)))
      return runtime::version_mismatch();
    model::PlainObject changes;
    changes.values.set("position", AttributeValue::number(*target.position));
    TRY(transaction.change(*draft, changes, runtime::ValueSource::Request));
    TRY(touch_list(repository_.model(), transaction, *item.find("watchlistId"), clock_));
    moved = runtime::to_object(repository_.model(), entity_, *draft->after);
    return {};
  }));
  return moved;
}

Result<ItemOrder::Target, Problem> ItemOrder::target_of(const Item& item, const Place& place, Item naming) {
  const bool before = place.side == Place::Side::Before;
  const auto anchor = repository_.get(entity_, naming, the_system());
  if (!anchor) {
    if (anchor.error().kind != runtime::ProblemKind::NotFound) return anchor.error();
    return runtime::invalid({{before ? "before" : "after", "is not on this list"}});
  }
  naming.set("position", *anchor->attributes.find("position"));
  const auto& pattern = *repository_.model().find_pattern(before ? "items_ahead" : "items_behind");
  // Two, because one of them may be the item that moves.
  const auto neighbours =
      TRY(repository_.run(pattern, naming, the_system(), {.limit = 2U, .start = std::nullopt})).objects;
  const auto neighbour =
      std::ranges::find_if(neighbours, [&](const Object& other) { return !is_same(other.attributes, item); });
  const auto beside = neighbour == neighbours.end() ? std::nullopt : std::optional(position_of(*neighbour));
  const auto here = position_of(*anchor);
  return Target{.anchor = here, .position = before ? position_between(beside, here) : position_between(here, beside)};
}

Result<void, Problem> ItemOrder::make_room(const AttributeValue& watchlist_id) {
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    auto made = spread_out(watchlist_id);
    if (made || made.error().code != kRearranged) return made;
  }
  return contention();
}

// A short list in one transaction, a longer one in several, each planned from the list as it is then.
Result<void, Problem> ItemOrder::spread_out(const AttributeValue& watchlist_id) {
  for (std::size_t round = 0;; ++round) {
    const auto items = TRY(items_of(repository_, watchlist_id, the_system()));
    if (static_cast<std::int64_t>(items.size()) >= kLastPosition / kPositionStep)
      return runtime::conflict("Full", "the positions of this list are used up");
    if (round > items.size() / kSpreadTogether + 1) return rearranged();
    std::vector<std::int64_t> positions;
    for (const auto& item : items) positions.push_back(position_of(item));
    const auto moves = next_to_spread(positions, kSpreadTogether);
    if (moves.empty()) return {};
    TRY(renumber(watchlist_id, items, moves));
  }
}

// Requires that no item was added or removed in the meantime, and that none of these was moved.  If the list is short
// enough, the same holds for all items.
Result<void, Problem> ItemOrder::renumber(const AttributeValue& watchlist_id, const std::vector<Object>& items,
                                          const std::vector<NewPosition>& moves) {
  const Item list_naming{{"watchlistId", watchlist_id}};
  const auto count = AttributeValue::number(static_cast<std::int64_t>(items.size()));
  return repository_.transact([&](runtime::Transaction& transaction) -> Result<void, Problem> {
    const auto* list = TRY(transaction.load(*repository_.model().find_entity("WATCHLIST"), list_naming));
    if (list == nullptr || *list->after->find("itemCount") != count) return rearranged();
    transaction.depend_on(*list, {"itemCount"});
    const auto unmoved = [&](const Object& item) -> Result<runtime::Draft*, Problem> {
      auto* draft = TRY(transaction.load(entity_, item.attributes));
      if (draft == nullptr || draft->after->integer("position") != position_of(item)) return rearranged();
      transaction.depend_on(*draft, {"position"});
      return draft;
    };
    if (items.size() <= kSpreadTogether) {
      for (const auto& item : items) TRY(unmoved(item));
    }
    for (const auto& [index, position] : moves) {
      auto* draft = TRY(unmoved(items[index]));
      model::PlainObject changes;
      changes.values.set("position", AttributeValue::number(position));
      TRY(transaction.change(*draft, changes, runtime::ValueSource::Model));
    }
    return {};
  });
}

}  // namespace stator::systems::worthwatch
