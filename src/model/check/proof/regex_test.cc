#include "stator/model/check/proof/regex.h"

#include <gtest/gtest.h>

#include <string>

namespace stator::model {
namespace {

constexpr std::uint64_t kEnoughSteps = 100'000;

TEST(RegexLanguage, MatchesWhatThePatternMatches) {
  struct Case {
    std::string_view pattern, text;
    bool matches;
  };
  for (const auto& [pattern, text, matches] : {
           Case{"[A-Z]{2}", "DE", true},
           Case{"[A-Z]{2}", "de", false},
           Case{"[A-Z]{2}", "DEU", false},
           Case{"^tt\\d+$", "tt1375666", true},
           Case{"^tt\\d+$", "tt", false},
           Case{"a|b(c|d)?", "bd", true},
           Case{"a|b(?:c|d)?", "cd", false},
           Case{"[^#]*", "a b", true},
           Case{"[^#]*", "a#b", false},
           Case{"[^#]*", "\xC3\xA9", true},
           Case{"[\\w.-]{1,3}", "a.-", true},
           Case{"[]a]+", "]a", true},
           Case{"a.c", "abc", true},
           Case{"x{2,}", "x", false},
           Case{"x{2,}", "xxxx", true},
           Case{"a\\.b", "a.b", true},
           Case{"a\\.b", "axb", false},
           Case{"\xC3\xA4+", "\xC3\xA4\xC3\xA4", true},
           Case{"\xC3\xA4+", "\xC3\xA4\xA4", false},
           Case{"a\xE2\x82\xAC?", "a", true},
           Case{"(?i)^ab[c-e]\\d$", "aBD1", true},
           Case{"(?i)^ab[c-e]\\d$", "abf1", false},
           Case{"(?i)[^a]", "A", false},
           Case{"(?i)ok", "O\xE2\x84\xAA", true},
       }) {
    SCOPED_TRACE(testing::Message() << pattern << " on " << text);
    Steps steps(kEnoughSteps);
    const auto language = regex_language(pattern, steps);
    ASSERT_TRUE(language);
    EXPECT_EQ(common(*language, Language::text(text), steps).has_value(), matches);
  }
}

TEST(RegexLanguage, DoesNotReadWhatWouldTakeTooLongToProve) {
  Steps steps(kEnoughSteps);
  EXPECT_TRUE(regex_language(std::string(128, 'x'), steps));
  EXPECT_FALSE(regex_language(std::string(129, 'x'), steps));
  EXPECT_TRUE(steps.are_left());
  Steps few(100);
  EXPECT_FALSE(regex_language("(x{64}){15}", few));
  EXPECT_FALSE(few.are_left());
}

TEST(RegexLanguage, SaysWhenItCannotRead) {
  for (const auto* pattern :
       {"(?s)a", "a(?i)b", "(?i)\xC3\xA4", "\\pL+", "[[:alpha:]]", "a\\b", "(a", "a)", "*", "[z-a]", "a{x}"}) {
    Steps steps(kEnoughSteps);
    EXPECT_FALSE(regex_language(pattern, steps)) << pattern;
    EXPECT_TRUE(steps.are_left()) << pattern;
  }
}

}  // namespace
}  // namespace stator::model
