#pragma once

#include <chrono>
#include <map>
#include <set>

// Statistics over the days on which somebody read.  Days are UTC.
namespace stator::systems::book_tracker {

using Day = std::chrono::sys_days;
using Days = std::set<Day>;
using PagesPerDay = std::map<Day, long>;  // only days on which something was read

// Pages between where a book stood and the page that was reached; going back reads nothing.
long pages_read(long from_page, long page);

// Days in a row with reading that end on the given day, or on the day before, if the given day is not over yet.  Days
// are added in descending order, so that a reader of the store can stop where the streak began.
class CurrentStreak {
 public:
  CurrentStreak(Day end, bool end_is_over) : end_(end), earliest_end_(end_is_over ? end : end - std::chrono::days(1)) {}

  // False: the streak began after that day, and no earlier day belongs to it.
  bool add(Day day);
  long days() const { return days_; }

 private:
  Day end_;
  Day earliest_end_;
  Day last_ = {};  // counted; when days_ > 0
  long days_ = 0;
};

struct Streaks {
  long current = 0;  // ends on the last day of the range, or on the day before, if the last day is not over yet
  long longest = 0;  // of the current one and all that have a day in the range

  bool operator==(const Streaks&) const = default;
};

// The streaks of the range from `from` to `end`, as they stood on its last day.  `days` are the days with reading, and
// include those in a row before the range: a streak is counted from its first day, even if that is before the range.
// So a range that includes another one, and does not end earlier, has no shorter longest streak.
Streaks streaks_of(const Days& days, Day from, Day end, bool end_is_over);

}  // namespace stator::systems::book_tracker
