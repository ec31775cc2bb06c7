#pragma once

#include <map>
#include <string>
#include <vector>

namespace stator::systems::book_tracker {

// That a page of a book was reached, in the order in which it happened.
struct PageReached {
  std::string book;
  std::string day;  // 2026-01-15
  long page = 0;
};

// That a book was finished.
struct BookFinished {
  std::string day;
};

struct ReadingStatistics {
  std::map<std::string, long> pages_per_day;  // only days on which something was read
  long current_streak = 0;                    // days in a row with reading, up to today or yesterday
  long longest_streak = 0;
  std::map<std::string, long> finished_per_year;  // "2026" -> books
  long pages = 0;
};

// Pages read are what lies between two events of one book; going back to an earlier page reads nothing, but what follows counts
// from there.  `today` is a day.
ReadingStatistics reading_statistics(const std::vector<PageReached>& events, const std::vector<BookFinished>& finished,
                                     const std::string& today);

}  // namespace stator::systems::book_tracker
