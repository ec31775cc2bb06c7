#include "stator/model/check/proof/language.h"

#include <gtest/gtest.h>

namespace stator::model {
namespace {

const Language kDigit = Language::byte('0', '9');

constexpr std::uint64_t kPlenty = 10'000;

std::optional<std::string> common(const Language& a, const Language& b) {
  Steps steps(kPlenty);
  return common(a, b, steps);
}

std::optional<std::string> shortest(const Language& language) { return common(language, Language::anything()); }

TEST(Language, HasAShortestStringOrNone) {
  EXPECT_EQ(shortest(Language::text("abc")), "abc");
  EXPECT_EQ(shortest(Language::nothing()), std::nullopt);
  EXPECT_EQ(shortest(Language::anything()), "");
  EXPECT_EQ(shortest(kDigit.times(3)), "000");
  EXPECT_EQ(shortest(Language::text("long") | Language::text("no")), "no");
  EXPECT_EQ(shortest(Language::text("a") + Language::nothing()), std::nullopt);
}

TEST(Language, IntersectsWithAWitness) {
  const auto items = Language::text("item#") + Language::byte('a', 'z').repeated(1);
  EXPECT_EQ(common(items, Language::text("item#foo")), "item#foo");
  EXPECT_EQ(common(items, Language::text("item#")), std::nullopt);
  EXPECT_EQ(common(items, Language::text("it").extended()), "item#a");
  EXPECT_EQ(common(items, Language::text("collection#").extended()), std::nullopt);
}

TEST(Language, RepeatsWithinBounds) {
  const auto three_or_four = kDigit.repeated(3, 4);
  EXPECT_EQ(common(three_or_four, Language::text("12")), std::nullopt);
  EXPECT_EQ(common(three_or_four, Language::text("123")), "123");
  EXPECT_EQ(common(three_or_four, Language::text("1234")), "1234");
  EXPECT_EQ(common(three_or_four, Language::text("12345")), std::nullopt);
}

TEST(Language, KnowsWhatLiesAboveAndBelow) {
  const auto m = Language::text("m1");
  struct Case {
    std::string_view text;
    bool below, equal, above;
  };
  for (const auto& [text, below, equal, above] :
       {Case{"", true, false, false}, Case{"m", true, false, false}, Case{"m0z", true, false, false},
        Case{"m1", false, true, false}, Case{"m10", false, false, true}, Case{"n", false, false, true}}) {
    SCOPED_TRACE(text);
    const auto is_in = [&](const Language& language) { return common(language, Language::text(text)).has_value(); };
    EXPECT_EQ(is_in(m.and_below(false)), below);
    EXPECT_EQ(is_in(m.and_below(true)), below || equal);
    EXPECT_EQ(is_in(m.and_above(true)), above || equal);
    EXPECT_EQ(is_in(m.and_above(false)), above);
  }
}

TEST(Language, BoundsOfManyStringsAreThoseOfTheOutermost) {
  const auto years = Language::text("20") + kDigit.times(2);
  EXPECT_TRUE(common(years.and_above(true), Language::text("2000")));
  EXPECT_FALSE(common(years.and_above(true), Language::text("1999")));
  EXPECT_TRUE(common(years.and_below(true), Language::text("2099")));
  EXPECT_FALSE(common(years.and_below(true), Language::text("20990")));
  EXPECT_FALSE(common(Language::nothing().and_above(true), Language::anything()));
  EXPECT_FALSE(common(Language::nothing().and_below(true), Language::anything()));
}

TEST(Language, IsNotWalkedWithoutSteps) {
  const auto digits = kDigit.repeated(0, 100);
  const auto of = [&](std::uint64_t most, auto&& proof) {
    Steps steps(most);
    const bool found = proof(steps);
    return std::pair(found, steps.are_left());
  };
  const auto meets = [&](Steps& steps) { return common(digits, digits.times(2), steps).has_value(); };
  const auto ends = [&](Steps& steps) { return digits.longest(steps).has_value(); };
  const auto shares = [&](Steps& steps) { return both(digits, kDigit.times(99), steps).states() > 2; };
  EXPECT_EQ(of(kPlenty, meets), std::pair(true, true));
  EXPECT_EQ(of(kPlenty, ends), std::pair(true, true));
  EXPECT_EQ(of(kPlenty, shares), std::pair(true, true));
  EXPECT_EQ(of(2, meets), std::pair(false, false));
  EXPECT_EQ(of(2, ends), std::pair(false, false));
  EXPECT_EQ(of(2, shares), std::pair(false, false));
}

TEST(Steps, EndWhenTheyAreUsedUpAndDoNotComeBack) {
  Steps steps(10);
  EXPECT_TRUE(steps.take(9));
  EXPECT_FALSE(steps.take(2));
  EXPECT_FALSE(steps.take(0));
  EXPECT_FALSE(steps.are_left());
}

TEST(Steps, EndWhenTheyAreToldTo) {
  std::stop_source stop;
  Steps steps(10, stop.get_token());
  EXPECT_TRUE(steps.take(1));
  stop.request_stop();
  EXPECT_FALSE(steps.take(1));
}

}  // namespace
}  // namespace stator::model
