#include "stator/systems/book-tracker/reading_statistics.h"

#include <algorithm>
#include <optional>

namespace stator::systems::book_tracker {

long pages_read(long from_page, long page) { return std::max(0L, page - from_page); }

bool CurrentStreak::add(Day day) {
  if (day > end_ || (days_ > 0 && day == last_)) return true;
  const bool continues = days_ > 0 ? day == last_ - std::chrono::days(1) : day >= earliest_end_;
  if (!continues) return false;
  ++days_;
  last_ = day;
  return true;
}

Streaks streaks_of(const Days& days, Day from, Day end, bool end_is_over) {
  CurrentStreak current(end, end_is_over);
  std::all_of(days.rbegin(), days.rend(), [&](Day day) { return current.add(day); });
  Streaks streaks{.current = current.days(), .longest = current.days()};
  long run = 0;
  std::optional<Day> previous;
  for (const auto day : days) {
    run = previous && day == *previous + std::chrono::days(1) ? run + 1 : 1;
    if (day >= from) streaks.longest = std::max(streaks.longest, run);
    previous = day;
  }
  return streaks;
}

}  // namespace stator::systems::book_tracker
