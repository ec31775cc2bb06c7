#include "stator/systems/book-tracker/reading_statistics.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace stator::systems::book_tracker {
namespace {

template <typename T>
T number(std::string_view digits) {
  T value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// Days since 1970; nullopt when it is not a day.
std::optional<long> day_number(std::string_view day) {
  if (day.size() < 10) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(number<int>(day.substr(0, 4))),
                                         std::chrono::month(number<unsigned>(day.substr(5, 2))),
                                         std::chrono::day(number<unsigned>(day.substr(8, 2))));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

// Days in a row.  The current streak may end yesterday: today is not over yet.
void count_streaks(ReadingStatistics& statistics, std::string_view today) {
  long run = 0;
  std::optional<long> previous;
  for (const auto& [day, pages] : statistics.pages_per_day) {
    const auto current = day_number(day);
    if (!current) continue;
    run = previous && *current == *previous + 1 ? run + 1 : 1;
    statistics.longest_streak = std::max(statistics.longest_streak, run);
    previous = current;
  }
  const auto now = day_number(today);
  if (previous && now && *now - *previous <= 1) statistics.current_streak = run;
}

}  // namespace

ReadingStatistics reading_statistics(const std::vector<PageReached>& events, const std::vector<BookFinished>& finished,
                                     const std::string& today) {
  ReadingStatistics statistics;
  std::unordered_map<std::string, long> reached;
  for (const auto& event : events) {
    auto& last = reached[event.book];
    if (event.page > last) {
      statistics.pages_per_day[event.day] += event.page - last;
      statistics.pages += event.page - last;
    }
    last = event.page;
  }
  for (const auto& book : finished) {
    if (book.day.size() >= 4) ++statistics.finished_per_year[book.day.substr(0, 4)];
  }
  count_streaks(statistics, today);
  return statistics;
}

}  // namespace stator::systems::book_tracker
