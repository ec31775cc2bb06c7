#include "stator/systems/book-tracker/reading_statistics.h"

#include <gtest/gtest.h>

namespace stator::systems::book_tracker {
namespace {

using PerDay = std::map<std::string, long>;

TEST(ReadingStatistics, CountsThePagesBetweenTwoEventsOfABook) {
  const auto statistics = reading_statistics({{"a", "2026-01-01", 10},
                                              {"b", "2026-01-01", 5},
                                              {"a", "2026-01-02", 30},
                                              {"a", "2026-01-02", 20},
                                              {"a", "2026-01-03", 25}},
                                             {}, "2026-01-10");
  EXPECT_EQ(statistics.pages_per_day, (PerDay{{"2026-01-01", 15}, {"2026-01-02", 20}, {"2026-01-03", 5}}));
  EXPECT_EQ(statistics.pages, 40);
}

TEST(ReadingStatistics, CountsDaysInARowAcrossMonths) {
  const std::vector<PageReached> events = {
      {"a", "2026-01-01", 1}, {"a", "2026-01-30", 2}, {"a", "2026-01-31", 3}, {"a", "2026-02-01", 4}};
  EXPECT_EQ(reading_statistics(events, {}, "2026-02-01").current_streak, 3);
  EXPECT_EQ(reading_statistics(events, {}, "2026-02-02").current_streak, 3);
  EXPECT_EQ(reading_statistics(events, {}, "2026-02-03").current_streak, 0);
  EXPECT_EQ(reading_statistics(events, {}, "2026-02-03").longest_streak, 3);
}

TEST(ReadingStatistics, CountsFinishedBooksPerYear) {
  EXPECT_EQ(reading_statistics({}, {{"2025-12-31"}, {"2026-01-01"}, {"2026-05-01"}}, "2026-06-01").finished_per_year,
            (PerDay{{"2025", 1}, {"2026", 2}}));
}

}  // namespace
}  // namespace stator::systems::book_tracker
