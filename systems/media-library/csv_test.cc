#include "stator/systems/media-library/csv.h"

#include <gtest/gtest.h>

namespace stator::systems::media_library {
namespace {

using Fields = std::vector<std::string>;

// Each row as its line, and its fields or what is wrong with it.
std::vector<std::string> shown(std::string_view text, std::size_t most = 100) {
  std::vector<std::string> out;
  for (const auto& row : read_csv(text, most)) {
    auto line = std::to_string(row.line) + ":";
    for (const auto& field : row.fields) line += " [" + field + "]";
    out.push_back(row.problem.empty() ? line : line + " " + row.problem);
  }
  return out;
}

TEST(Csv, ReadsQuotesCommasAndLineBreaks) {
  EXPECT_EQ(shown("\xEF\xBB\xBFtitle,authors\r\n\"Foo, the \"\"bar\"\"\",\"a\nb\"\n\nlast,"),
            (Fields{"1: [title] [authors]", "2: [Foo, the \"bar\"] [a\nb]", "5: [last] []"}));
}

TEST(Csv, GoesOnBehindARowThatIsWrong) {
  EXPECT_EQ(shown("a\n\"b\nc\n"), (Fields{"1: [a]", "2: has a quote that is not closed", "3: [c]"}));
  EXPECT_EQ(shown("\"a\"b,c\nd"), (Fields{"1: has something other than a comma behind a closing quote", "2: [d]"}));
  EXPECT_EQ(shown(std::string(kMostCsvFields, ',') + "\nd"), (Fields{"1: has more than 100 fields", "2: [d]"}));
}

TEST(Csv, ReadsNoMoreThanItIsAsked) { EXPECT_EQ(shown("a\nb\nc\nd", 2), (Fields{"1: [a]", "2: [b]", "3: [c]"})); }

TEST(Csv, WritesWhatItReads) {
  std::string text;
  const Fields fields = {"plain", "with, comma", "with \"quote\"", "two\nlines", ""};
  append_csv(text, fields);
  EXPECT_EQ(read_csv(text, 1).front().fields, fields);
}

TEST(Csv, DoesNotHandFormulasToSpreadsheets) {
  std::string text;
  append_csv(text, {"=1+1"});
  EXPECT_EQ(text, "'=1+1\r\n");
  for (const auto* field : {"=1+1", "'=1+1", "'quoted'", "-", "plain", "''", ""}) {
    text.clear();
    append_csv(text, {"x", field});
    EXPECT_EQ(plain_field(read_csv(text, 1).front().fields[1]), field);
  }
}

}  // namespace
}  // namespace stator::systems::media_library
