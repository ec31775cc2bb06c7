#include "stator/systems/book-tracker/reading_statistics.h"

#include <algorithm>
#include <optional>

namespace stator::systems::book_tracker {

long pages_read(long from_page, long page) { return std::max(0L, page - from_page); }

long longest_streak(const PagesPerDay& days) {
  long run = 0;
  long longest = 0;
  std::optional<Day> previous;
  for (const auto& [day, pages] : days) {
    run = previous && day == *previous + std::chrono::days(1) ? run + 1 : 1;
    longest = std::max(longest, run);
    previous = day;
  }
  return longest;
}

bool CurrentStreak::add(Day day) {
  const auto one_day = std::chrono::days(1);
  if (day > today_ || (days_ > 0 && day == last_)) return true;
  const bool continues = days_ > 0 ? day == last_ - one_day : day >= today_ - one_day;
  if (!continues) return false;
  ++days_;
  last_ = day;
  return true;
}

}  // namespace stator::systems::book_tracker
