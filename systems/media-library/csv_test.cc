#include "stator/systems/media-library/csv.h"

#include <gtest/gtest.h>

namespace stator::systems::media_library {
namespace {

using Rows = std::vector<CsvRow>;

TEST(Csv, ReadsQuotesCommasAndLineBreaks) {
  const auto rows = read_csv("\xEF\xBB\xBFtitle,authors\r\n\"Foo, the \"\"bar\"\"\",\"a\nb\"\n\nlast,");
  ASSERT_TRUE(rows);
  EXPECT_EQ(*rows, (Rows{{"title", "authors"}, {"Foo, the \"bar\"", "a\nb"}, {"last", ""}}));
}

TEST(Csv, SaysWhichLineIsWrong) {
  EXPECT_EQ(read_csv("a\n\"b").error().message, "line 2: a quote is not closed");
  EXPECT_EQ(read_csv("\"a\"b").error().message, "line 1: a comma or the line's end must follow a closing quote");
}

TEST(Csv, WritesWhatItReads) {
  std::string text;
  const CsvRow row = {"plain", "with, comma", "with \"quote\"", "two\nlines", ""};
  append_csv(text, row);
  EXPECT_EQ(*read_csv(text), Rows{row});
}

TEST(Csv, DoesNotHandFormulasToSpreadsheets) {
  std::string text;
  append_csv(text, {"=1+1"});
  EXPECT_EQ(text, "'=1+1\r\n");
}

}  // namespace
}  // namespace stator::systems::media_library
