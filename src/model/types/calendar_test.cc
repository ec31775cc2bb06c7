#include "stator/model/types/calendar.h"

#include <gtest/gtest.h>

namespace stator::model {
namespace {

std::string normal(std::string_view text) {
  const auto moment = parse_timestamp(text);
  return moment ? format_timestamp(*moment) : "none";
}

TEST(Calendar, HasTheDaysThatThereAre) {
  for (const std::string_view text : {"2026-01-15", "2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31"}) {
    const auto date = parse_date(text);
    ASSERT_TRUE(date) << text;
    EXPECT_EQ(format_date(*date), text);
  }
  for (const std::string_view text :
       {"", "2026-1-15", "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-01-15 ",
        "2026-01-15T", "26-01-15", "2026/01/15", "-026-01-15"}) {
    EXPECT_FALSE(parse_date(text)) << text;
  }
}

TEST(Calendar, BringsMomentsToUtcMilliseconds) {
  EXPECT_EQ(normal("2026-01-15T10:00:00Z"), "2026-01-15T10:00:00.000Z");
  EXPECT_EQ(normal("2026-01-15t10:00:00z"), "2026-01-15T10:00:00.000Z");
  EXPECT_EQ(normal("2026-01-15T10:00:00.5Z"), "2026-01-15T10:00:00.500Z");
  EXPECT_EQ(normal("2026-01-15T10:00:00.123999999Z"), "2026-01-15T10:00:00.123Z");
  EXPECT_EQ(normal("2026-01-01T00:30:00+01:00"), "2025-12-31T23:30:00.000Z");
  EXPECT_EQ(normal("2024-02-28T23:30:00-00:45"), "2024-02-29T00:15:00.000Z");
  EXPECT_EQ(normal("1969-12-31T23:59:59.999Z"), "1969-12-31T23:59:59.999Z");
}

TEST(Calendar, RefusesMomentsThatAreNone) {
  for (const std::string_view text :
       {"2026-01-15", "2026-01-15T10:00Z", "2026-01-15T24:00:00Z", "2026-01-15T10:60:00Z", "2026-01-15T10:00:60Z",
        "2026-01-15T10:00:00", "2026-01-15 10:00:00Z", "2026-01-15T10:00:00.Z", "2026-01-15T10:00:00.1234567890Z",
        "2026-01-15T10:00:00+1:00", "2026-01-15T10:00:00+24:00", "2026-01-15T10:00:00Zx", "0000-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01", "2025-02-29T00:00:00Z"}) {
    EXPECT_EQ(normal(text), "none") << text;
  }
}

}  // namespace
}  // namespace stator::model
