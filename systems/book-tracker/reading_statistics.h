#pragma once

#include <chrono>
#include <map>

// Statistics over the days on which somebody read.  Days are UTC.
namespace stator::systems::book_tracker {

using Day = std::chrono::sys_days;
using PagesPerDay = std::map<Day, long>;  // only days on which something was read

// Pages between where a book stood and the page that was reached; going back reads nothing.
long pages_read(long from_page, long page);

// The most days in a row.
long longest_streak(const PagesPerDay& days);

// Days in a row with reading, up to today or yesterday: today is not over yet.  Days are added in descending order, so
// that a reader of the store can stop where the streak began.
class CurrentStreak {
 public:
  explicit CurrentStreak(Day today) : today_(today) {}

  // False: the streak began after that day, and no earlier day belongs to it.
  bool add(Day day);
  long days() const { return days_; }

 private:
  Day today_;
  Day last_ = {};  // counted; when days_ > 0
  long days_ = 0;
};

}  // namespace stator::systems::book_tracker
