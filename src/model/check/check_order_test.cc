#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/model/check/testing/found.h"

namespace stator::model {
namespace {

constexpr std::string_view kParty = R"yaml(
  {0}: {{ keys: {{ PK: "{0}#{{id}}", SK: "X", GSI1PK: "user#{{user}}", GSI1SK: {1} }},
         attributes: {{ id: uuid, user: uuid, at: timestamp, name: {{ type: string, max: 9 }}, kind: {{ type: string, max: 9 }} }} }})yaml";

// The findings about the order of an answer with an A and a B that have these sort keys.
Lines found_in_order(std::string_view a, std::string_view b, std::string_view condition = "",
                     std::string_view sorted_by = "at") {
  return found("not-sorted", kTable,
               fmt::format("entities:{}{}\npatterns:\n  all: {{ query: {{ index: GSI1, GSI1PK: \"user#{{user}}\"{} }}, "
                           "returns: [A, B], sorted_by: {} }}\n",
                           fmt::format(fmt::runtime(kParty), "A", a), fmt::format(fmt::runtime(kParty), "B", b),
                           condition, sorted_by));
}

TEST(CheckOrder, IsThatOfTheKey) {
  EXPECT_EQ(found_in_order("\"{name}\"", "\"{at}\""),
            Lines{"error all: it promises A sorted by at, but GSI1 sorts them by name"});
  EXPECT_EQ(found_in_order("\"{at}\"", "\"{at}\""), Lines{});
}

TEST(CheckOrder, IsThatOfAllRowsTogether) {
  EXPECT_EQ(found_in_order("\"A#{at}\"", "\"B#{at}\""),
            Lines{"error all: it promises A, B sorted by at, but GSI1 sorts them first by the text in front, which is "
                  "not always the same ('A#{at}' and 'B#{at}')"});
  EXPECT_EQ(found_in_order("\"T#{at}#{id}\"", "\"T#{at}\""), Lines{});
  EXPECT_EQ(found_in_order("\"{at}\"", "[\"T#{at}\", \"none\"]").size(), 1U);
  EXPECT_EQ(found_in_order("\"{name}#{at}\"", "\"{name}#B#{at}\"", "", "[name, at]").size(), 1U);
  EXPECT_EQ(found_in_order("\"{name}#{at}\"", "\"{name|sortable}#{at}\"", "", "[name, at]").size(), 1U);
}

TEST(CheckOrder, IsThatOfAllAlternatives) {
  EXPECT_EQ(found_in_order("[\"T#{at}\", \"none\"]", "\"T#{at}\""), Lines{}) << "what has none is sorted by nothing";
  EXPECT_EQ(found_in_order("[\"{name}#{at}\", \"T#{at}\"]", "\"T#{at}\"").size(), 1U);
  EXPECT_EQ(found_in_order("[\"N#{name}#{at}\", \"T#{at}\"]", "\"T#{at}\"", ", GSI1SK: { begins_with: \"T#\" }"),
            Lines{});
  EXPECT_EQ(found_in_order("[{ key: \"A#{at}\", when: \"name = 'x'\" }, \"T#{at}\"]", "\"T#{at}\"").size(), 2U)
      << "A with itself, and with B";
}

TEST(CheckOrder, IsNotFixedByTheBeginningOfAHole) {
  const auto with = [](std::string_view type, std::string_view begins, std::string_view sorted_by) {
    return found("not-sorted", kPlainTable,
                 fmt::format(R"yaml(
entities:
  BILL: {{ keys: {{ PK: "user#{{user}}", SK: "{{due}}#{{id}}" }}, attributes: {{ user: uuid, due: date, id: ulid }} }}
patterns:
  bills:
    parameters: {{ part: {} }}
    query: {{ PK: "user#{{user}}", SK: {{ begins_with: "{}" }} }}
    returns: BILL
    sorted_by: {}
)yaml",
                             type, begins, sorted_by));
  };
  constexpr std::string_view kMonth = R"({ type: string, required: true, pattern: "[0-9]{4}-[0-9]{2}" })";
  EXPECT_EQ(with(kMonth, "{part}-", "due"), Lines{});
  EXPECT_EQ(with(kMonth, "{part}-", "id"),
            Lines{"error bills: it promises BILL sorted by id, but Things sorts them by due, id"});
  EXPECT_EQ(with("{ type: date, required: true }", "{part}#", "id"), Lines{});
}

TEST(CheckOrder, TakesAPartOfATimeForLessThanItsOrder) {
  EXPECT_EQ(found_in_order("\"{at|month}#{id}\"", "\"{at|month}#{at}\""),
            Lines{"error all: it promises A sorted by at, but GSI1 sorts them by the month of at, id"});
  EXPECT_EQ(found_in_order("\"{at|month}#{at}\"", "\"{at|month}#{at}#{id}\""), Lines{});
  EXPECT_EQ(found("not-sorted", kPlainTable, R"yaml(
entities:
  NOTE: { keys: { PK: "user#{user}#{at|month}", SK: "{at}" }, attributes: { user: uuid, at: timestamp } }
patterns:
  notes: { query: { PK: "user#{user}#{at|month}" }, returns: NOTE, sorted_by: at }
)yaml"),
            Lines{});
}

TEST(CheckOrder, KnowsWhatAConditionFixes) {
  const auto with = [](std::string_view condition, std::string_view sorted_by, std::string_view parameters = "") {
    return found("not-sorted", kPlainTable,
                 fmt::format(R"yaml(
entities:
  FILE:
    keys: {{ PK: "user#{{user}}", SK: "{{folder}}#{{name|sortable}}#{{at}}" }}
    attributes: {{ user: uuid, folder: {{ type: string, max: 9 }}, name: {{ type: string, max: 9 }}, at: timestamp }}
patterns:
  files: {{ query: {{ PK: "user#{{user}}", SK: {} }}, returns: FILE, sorted_by: {}, parameters: {{ {} }} }}
)yaml",
                             condition, sorted_by, parameters))
        .size();
  };
  EXPECT_EQ(with("{ begins_with: \"{in}#\" }", "[name, at]", "in: { type: string, required: true }"), 0U);
  EXPECT_EQ(with("{ begins_with: \"{in}#\" }", "[name, at]", "in: string"), 1U) << "it may be left out";
  EXPECT_EQ(with("{ begins_with: \"{folder}#{name|sortable}\" }", "name"), 0U) << "a search for a prefix";
  EXPECT_EQ(with("{ between: [\"{folder}#{a|sortable}\", \"{folder}#{b|sortable}\"] }", "name",
                 "a: { type: string, required: true }, b: { type: string, required: true }"),
            0U);
  EXPECT_EQ(with("{ at_least: \"{folder}#\" }", "name"), 1U);
}

TEST(CheckOrder, WantsWhatIsSortedByToEndBelowItself) {
  EXPECT_EQ(found_in_order("\"{name}-{at}\"", "\"{name}#{at}\"", "", "name"),
            Lines{"error all: it promises A sorted by name, but the text behind name in '{name}-{at}' does not sort "
                  "below all longer values of name ('&' does not sort behind the shorter value that it begins with)"});
  EXPECT_EQ(found_in_order("\"{name}#{at}\"", "\"{name}\"", "", "name"), Lines{});
  EXPECT_EQ(found_in_order("\"{name}{at}\"", "\"{name}\"", "", "name").size(), 1U);
}

}  // namespace
}  // namespace stator::model
