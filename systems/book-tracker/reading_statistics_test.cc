#include "stator/systems/book-tracker/reading_statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace stator::systems::book_tracker {
namespace {

using namespace std::chrono_literals;

constexpr Day kToday = std::chrono::sys_days(2026y / 3 / 2);

Day ago(int days) { return kToday - std::chrono::days(days); }

long streak_of(const std::vector<Day>& falling) {
  CurrentStreak streak(kToday, false);
  for (const auto day : falling) {
    if (!streak.add(day)) break;
  }
  return streak.days();
}

TEST(ReadingStatistics, CountsThePagesSinceTheLastEvent) {
  EXPECT_EQ(pages_read(10, 30), 20);
  EXPECT_EQ(pages_read(30, 10), 0) << "going back reads nothing";
}

TEST(Streaks, HaveTheMostDaysInARowAcrossMonths) {
  EXPECT_EQ(streaks_of({}, ago(9), kToday, false), Streaks());
  EXPECT_EQ(streaks_of({ago(9), ago(4), ago(3), ago(2)}, ago(9), kToday, false), (Streaks{.current = 0, .longest = 3}))
      << "the first of March is among them";
}

TEST(Streaks, BeginBeforeTheRange) {
  const Days days{ago(8), ago(7), ago(6), ago(5), ago(2), ago(1)};
  EXPECT_EQ(streaks_of(days, ago(5), kToday, false), (Streaks{.current = 2, .longest = 4}));
  EXPECT_EQ(streaks_of(days, ago(4), kToday, false), (Streaks{.current = 2, .longest = 2}));
  EXPECT_EQ(streaks_of(days, kToday, kToday, false), (Streaks{.current = 2, .longest = 2}))
      << "the current one counts, although the range has no day of it";
}

TEST(Streaks, AreThoseOfTheEndOfTheRange) {
  const Days days{ago(8), ago(7), ago(6)};
  EXPECT_EQ(streaks_of(days, ago(9), ago(6), true), (Streaks{.current = 3, .longest = 3}));
  EXPECT_EQ(streaks_of(days, ago(9), ago(5), true), (Streaks{.current = 0, .longest = 3})) << "that day is over";
}

TEST(CurrentStreak, EndsTodayOrYesterday) {
  EXPECT_EQ(streak_of({ago(0), ago(1), ago(2)}), 3);
  EXPECT_EQ(streak_of({ago(1), ago(2)}), 2) << "today is not over yet";
  EXPECT_EQ(streak_of({ago(2), ago(3)}), 0);
  EXPECT_EQ(streak_of({}), 0);
}

TEST(CurrentStreak, CrossesLeapDaysAndTheTurnOfTheYear) {
  const auto days_up_to = [](Day today, int count) {
    CurrentStreak streak(today, false);
    for (int i = 0; i < count; ++i) EXPECT_TRUE(streak.add(today - std::chrono::days(i)));
    return streak.days();
  };
  EXPECT_EQ(days_up_to(2024y / 3 / 1, 3), 3) << "28 and 29 February, 1 March";
  EXPECT_EQ(days_up_to(2024y / 1 / 1, 2), 2);
  CurrentStreak without_leap_day(2023y / 3 / 1, false);
  EXPECT_TRUE(without_leap_day.add(2023y / 3 / 1));
  EXPECT_TRUE(without_leap_day.add(2023y / 2 / 28)) << "the day before, in such a year";
  CurrentStreak with_gap(2024y / 3 / 1, false);
  EXPECT_TRUE(with_gap.add(2024y / 3 / 1));
  EXPECT_FALSE(with_gap.add(2024y / 2 / 28)) << "29 February is missing";
}

TEST(CurrentStreak, CountsADayOnceAndStopsAtAGap) {
  EXPECT_EQ(streak_of({ago(0), ago(0), ago(1), ago(1), ago(3), ago(4)}), 2);
  CurrentStreak streak(kToday, false);
  EXPECT_TRUE(streak.add(ago(0)));
  EXPECT_FALSE(streak.add(ago(2))) << "what is earlier need not be read";
}

}  // namespace
}  // namespace stator::systems::book_tracker
