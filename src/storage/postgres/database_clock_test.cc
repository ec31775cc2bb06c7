#include "stator/storage/postgres/database_clock.h"

#include <gtest/gtest.h>

namespace stator::storage::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A server whose clock shows a minute more than the steady clock of this machine counts.
constexpr seconds kAhead{60};

WallTime server_time(SteadyTime steady) {
  return WallTime{std::chrono::duration_cast<std::chrono::microseconds>(steady.time_since_epoch()) + kAhead};
}

// How far the clock is from the server's.
milliseconds error_of(const DatabaseClock& clock) {
  const auto before = server_time(clock.steady_now());
  return std::chrono::duration_cast<milliseconds>(clock.now() - before);
}

TEST(DatabaseClock, TakesTheMiddleOfItsFirstReading) {
  DatabaseClock clock;
  const auto asked = clock.steady_now();
  clock.note_reading(server_time(asked), asked, asked + seconds(4));
  EXPECT_NEAR(static_cast<double>(error_of(clock).count()), -2000, 500);
}

TEST(DatabaseClock, IsCorrectedByAQuickerReading) {
  DatabaseClock clock;
  const auto asked = clock.steady_now();
  clock.note_reading(server_time(asked), asked, asked + seconds(4));
  clock.note_reading(server_time(asked), asked, asked + milliseconds(1));
  EXPECT_NEAR(static_cast<double>(error_of(clock).count()), 0, 500);
}

TEST(DatabaseClock, IsNotMovedByASlowReading) {
  DatabaseClock clock;
  const auto asked = clock.steady_now();
  clock.note_reading(server_time(asked), asked, asked + milliseconds(1));
  clock.note_reading(server_time(asked), asked, asked + seconds(4));
  EXPECT_NEAR(static_cast<double>(error_of(clock).count()), 0, 500);
}

TEST(DatabaseClock, FollowsAServerWithAnotherTime) {
  DatabaseClock clock;
  const auto asked = clock.steady_now();
  clock.note_reading(server_time(asked), asked, asked + milliseconds(1));
  clock.note_reading(server_time(asked) + seconds(30), asked, asked + seconds(4));
  EXPECT_NEAR(static_cast<double>(error_of(clock).count()), 26000, 500) << "as little as the reading allows";
}

}  // namespace
}  // namespace stator::storage::postgres
