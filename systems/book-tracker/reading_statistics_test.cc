#include "stator/systems/book-tracker/reading_statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace stator::systems::book_tracker {
namespace {

using namespace std::chrono_literals;

constexpr Day kToday = std::chrono::sys_days(2026y / 3 / 2);

Day ago(int days) { return kToday - std::chrono::days(days); }

long streak_of(const std::vector<Day>& falling) {
  CurrentStreak streak(kToday);
  for (const auto day : falling) {
    if (!streak.add(day)) break;
  }
  return streak.days();
}

TEST(ReadingStatistics, CountsThePagesSinceTheLastEvent) {
  EXPECT_EQ(pages_read(10, 30), 20);
  EXPECT_EQ(pages_read(30, 10), 0) << "going back reads nothing";
}

TEST(ReadingStatistics, FindsTheMostDaysInARowAcrossMonths) {
  EXPECT_EQ(longest_streak({}), 0);
  EXPECT_EQ(longest_streak({{ago(9), 1}, {ago(3), 1}, {ago(2), 1}, {ago(1), 5}}), 3)
      << "the first of March is among them";
}

TEST(CurrentStreak, EndsTodayOrYesterday) {
  EXPECT_EQ(streak_of({ago(0), ago(1), ago(2)}), 3);
  EXPECT_EQ(streak_of({ago(1), ago(2)}), 2) << "today is not over yet";
  EXPECT_EQ(streak_of({ago(2), ago(3)}), 0);
  EXPECT_EQ(streak_of({}), 0);
}

TEST(CurrentStreak, CrossesLeapDaysAndTheTurnOfTheYear) {
  const auto days_up_to = [](Day today, int count) {
    CurrentStreak streak(today);
    for (int i = 0; i < count; ++i) EXPECT_TRUE(streak.add(today - std::chrono::days(i)));
    return streak.days();
  };
  EXPECT_EQ(days_up_to(2024y / 3 / 1, 3), 3) << "28 and 29 February, 1 March";
  EXPECT_EQ(days_up_to(2024y / 1 / 1, 2), 2);
  CurrentStreak without_leap_day(2023y / 3 / 1);
  EXPECT_TRUE(without_leap_day.add(2023y / 3 / 1));
  EXPECT_TRUE(without_leap_day.add(2023y / 2 / 28)) << "the day before, in such a year";
  CurrentStreak with_gap(2024y / 3 / 1);
  EXPECT_TRUE(with_gap.add(2024y / 3 / 1));
  EXPECT_FALSE(with_gap.add(2024y / 2 / 28)) << "29 February is missing";
}

TEST(CurrentStreak, CountsADayOnceAndStopsAtAGap) {
  EXPECT_EQ(streak_of({ago(0), ago(0), ago(1), ago(1), ago(3), ago(4)}), 2);
  CurrentStreak streak(kToday);
  EXPECT_TRUE(streak.add(ago(0)));
  EXPECT_FALSE(streak.add(ago(2))) << "what is earlier need not be read";
}

}  // namespace
}  // namespace stator::systems::book_tracker
