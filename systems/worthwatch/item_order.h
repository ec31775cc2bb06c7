#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stator/base/clock.h"
#include "stator/runtime/repository.h"

namespace stator::systems::worthwatch {

// Where an item goes: right before or right behind another of its list.
struct Place {
  enum class Side : std::uint8_t { Before, Behind };
  Side side = Side::Before;
  value::Item anchor;  // contentType, contentId
};

inline constexpr std::int64_t kPositionStep = 1'000'000;  // as the model says
inline constexpr std::int64_t kLastPosition = 999'999'999'999'999;

// A position between two others, of which one may be missing; nullopt when there is no room.
std::optional<std::int64_t> position_between(std::optional<std::int64_t> low, std::optional<std::int64_t> high);

// An item of a list, by its place in the order, and where it goes.
struct NewPosition {
  std::size_t index = 0;
  std::int64_t position = 0;
};
// The next moves, at most `most`, that spread items with these ascending positions evenly: one step apart, from the
// first step on.  Empty when they are spread already.  After each single move the order of the items is the same. Items
// that move down are moved from the first to the last, then items that move up from the last to the first, so that no
// item passes its neighbour.
std::vector<NewPosition> next_to_spread(const std::vector<std::int64_t>& positions, std::size_t most);

// The order of a list's items.  A move is one write, because positions have room between them; when there is none left,
// all items of the list are spread out first.  Blocking, thread-safe.
class ItemOrder {
 public:
  ItemOrder(runtime::Repository& repository, const Clock& clock);  // both outlive it

  // The item, moved, with a new version.  `item` holds watchlistId, contentType and contentId, and `precondition` is of
  // that item.  The caller has checked access to it.  Problems: NotFound (it is not on the list), Invalid (the anchor
  // is not), PreconditionFailed, Full (positions are used up), Contention.
  Result<runtime::Object, runtime::Problem> move(const value::Item& item, const Place& place,
                                                 const runtime::Precondition& precondition);

  // Spreads out the items of a list, which keep their versions.  Problems: Full (there are too many), Contention.
  Result<void, runtime::Problem> make_room(const value::AttributeValue& watchlist_id);

 private:
  struct Target {
    std::int64_t anchor = 0;               // the position of the anchor when this was computed
    std::optional<std::int64_t> position;  // nullopt: no room
  };

  // All three return a special problem when another request rearranges the list in the meantime.  They must then be
  // tried again.
  Result<runtime::Object, runtime::Problem> try_to_move(const value::Item& item, const Place& place,
                                                        const runtime::Precondition& precondition);
  Result<Target, runtime::Problem> target_of(const value::Item& item, const Place& place, value::Item anchor_naming);
  Result<void, runtime::Problem> spread_out(const value::AttributeValue& watchlist_id);
  Result<void, runtime::Problem> renumber(const value::AttributeValue& watchlist_id,
                                          const std::vector<runtime::Object>& items,
                                          const std::vector<NewPosition>& moves);

  runtime::Repository& repository_;
  const Clock& clock_;
  const model::Entity& entity_;
};

}  // namespace stator::systems::worthwatch
