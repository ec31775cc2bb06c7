#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

// Dates and moments as the text that is stored: fixed width, so that the order of the text is the order in time.
namespace stator::model {

using Moment = std::chrono::sys_time<std::chrono::milliseconds>;

// "2026-01-15", years 0000 to 9999, and a day that the calendar has; nullopt for anything else.
std::optional<std::chrono::sys_days> parse_date(std::string_view text);
std::string format_date(std::chrono::sys_days day);

// RFC 3339: "2026-01-15T10:00:00Z", with a fraction of up to nine digits (digits below a millisecond are dropped) or an
// offset such as +01:00.  nullopt for anything else, leap seconds included.
std::optional<Moment> parse_timestamp(std::string_view text);
// "2026-01-15T10:00:00.000Z"
std::string format_timestamp(Moment moment);

}  // namespace stator::model
