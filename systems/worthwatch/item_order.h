#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

// The order of a list's items.  A move is one write, because positions have room between them; when there is none left, all items
// of the list are spread out first.  Blocking, thread-safe.
class ItemOrder {
 public:
  explicit ItemOrder(runtime::Repository& repository);  // outlives it

  // The item, moved.  `item` holds watchlistId, contentType and contentId.  Who asks may change the list: that has been checked.
  // Problems: NotFound (it is not on the list), Invalid (the anchor is not), Full (positions are used up).
  runtime::Outcome<runtime::Object> move(const value::Item& item, const Place& place);

 private:
  // nullopt: no room.
  runtime::Outcome<std::optional<std::int64_t>> position_at(const value::Item& item, const Place& place);
  runtime::Outcome<runtime::Done> spread_out(const value::AttributeValue& watchlist_id);

  runtime::Repository& repository_;
  const model::Entity& entity_;
};

}  // namespace stator::systems::worthwatch
