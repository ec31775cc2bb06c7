#include "stator/systems/media-library/csv.h"

#include <gtest/gtest.h>

#include "stator/base/test_pieces.h"

namespace stator::systems::media_library {
namespace {

using stator::testing::Pieces;

using Fields = std::vector<std::string>;

std::vector<CsvRow> read_csv(std::string_view text, std::size_t piece = 1000) {
  Pieces pieces(text, piece);
  CsvReader reader(pieces);
  std::vector<CsvRow> rows;
  while (true) {
    auto row = reader.next();
    EXPECT_TRUE(row);
    if (!row || !*row) return rows;
    rows.push_back(std::move(**row));
  }
}

// Each row as its line, and its fields or what is wrong with it; the same however the text comes.
std::vector<std::string> shown(std::string_view text, std::size_t piece = 1000) {
  std::vector<std::string> out;
  for (const auto& row : read_csv(text, piece)) {
    auto line = std::to_string(row.line) + ":";
    for (const auto& field : row.fields) line += " [" + field + "]";
    out.push_back(row.problem.empty() ? line : line + " " + row.problem);
  }
  if (piece > 1) {
    EXPECT_EQ(out, shown(text, 1));
  }
  return out;
}

TEST(Csv, ReadsQuotesCommasAndLineBreaks) {
  EXPECT_EQ(shown("title,authors\r\n\"Foo, the \"\"bar\"\"\",\"a\nb\"\n\nlast,"),
            (Fields{"1: [title] [authors]", "2: [Foo, the \"bar\"] [a\nb]", "5: [last] []"}));
}

TEST(Csv, FindsTheSeparatorInTheFirstLine) {
  EXPECT_EQ(shown("title;authors\n\"a;b\";\"c, d\"\n"), (Fields{"1: [title] [authors]", "2: [a;b] [c, d]"}));
  EXPECT_EQ(shown("title\tauthors\r\na,b\tc;d\r\n"), (Fields{"1: [title] [authors]", "2: [a,b] [c;d]"}));
  EXPECT_EQ(shown("\"a;b;c\",d\ne,f\n"), (Fields{"1: [a;b;c] [d]", "2: [e] [f]"})) << "not what is in quotes";
  EXPECT_EQ(shown("title\na;b\n"), (Fields{"1: [title]", "2: [a;b]"}));
  EXPECT_EQ(shown("sep=;\r\ntitle\r\na,b;c\r\n"), (Fields{"2: [title]", "3: [a,b] [c]"})) << "as spreadsheets write";
  EXPECT_EQ(shown("a;b\n\"a\"b;c\nd;e"),
            (Fields{"1: [a] [b]", "2: has something other than a semicolon behind a closing quote", "3: [d] [e]"}));
  EXPECT_EQ(shown(""), Fields{});
}

TEST(Csv, TakesTheSeparatorThatIsDeclared) {
  Pieces pieces("a;b,c\n", 1000);
  CsvReader reader(pieces, ',');
  EXPECT_EQ((**reader.next()).fields, (Fields{"a;b", "c"}));
}

TEST(Csv, GoesOnBehindARowThatIsWrong) {
  EXPECT_EQ(shown("a\n\"b\nc\n"), (Fields{"1: [a]", "2: has a quote that is not closed", "3: [c]"}));
  EXPECT_EQ(shown("\"a\"b,c\nd"), (Fields{"1: has something other than a comma behind a closing quote", "2: [d]"}));
  EXPECT_EQ(shown(std::string(kMostCsvFields, ',') + "\nd"), (Fields{"1: has more than 100 fields", "2: [d]"}));
}

TEST(Csv, HoldsNoMoreThanOneRow) {
  const std::string field(kMostCsvFieldBytes, 'x');
  EXPECT_EQ(shown("a\n" + field + "\nb", 1000).size(), 3U);
  EXPECT_EQ(shown("a\n" + field + "x\nb"), (Fields{"1: [a]", "2: has a field of more than 65536 bytes", "3: [b]"}));
  EXPECT_EQ(shown("a\n\"" + field + "x\"\nb"),
            (Fields{"1: [a]", "2: has a quote that is not closed within 65536 bytes", "3: [b]"}));
  std::string row = field;
  for (int i = 0; i < 4; ++i) row += "," + field;
  EXPECT_EQ(shown("a\n" + row + "\nb"), (Fields{"1: [a]", "2: has more than 262144 bytes", "3: [b]"}));
}

// Takes minutes where each row moves the rest of its piece.
TEST(Csv, ReadsOneLargePieceOfManyRows) {
  std::string text = "a\n";
  while (text.size() < (std::size_t{16} << 20U)) text += "\r\n";
  text += "b,c\n";
  Pieces pieces(text, text.size());
  CsvReader reader(pieces);
  ASSERT_TRUE(reader.next().value());
  const auto last = reader.next().value();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->fields, (Fields{"b", "c"}));
  EXPECT_EQ(reader.empty_lines(), last->line - 2);
  EXPECT_EQ(read_csv("\n\na\n\r\n", 1).size(), 1U);
}

TEST(Csv, EndsWithItsSource) {
  class Broken final : public ByteSource {
   public:
    Result<std::string_view> next() override {
      if (std::exchange(begun_, true)) return Error{ErrorCode::LimitExceeded, "too large"};
      return std::string_view("a,b\nc,");
    }

   private:
    bool begun_ = false;
  };
  Broken source;
  CsvReader reader(source);
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
}

TEST(Csv, WritesWhatItReads) {
  std::string text;
  const Fields fields = {"plain", "with, comma", "with \"quote\"", "two\nlines", ""};
  append_csv(text, fields);
  EXPECT_EQ(read_csv(text).front().fields, fields);
}

TEST(Csv, DoesNotHandFormulasToSpreadsheets) {
  std::string text;
  append_csv(text, {"=1+1"});
  EXPECT_EQ(text, "'=1+1\r\n");
  for (const auto* field : {"=1+1", "'=1+1", "'quoted'", "-", "plain", "''", ""}) {
    text.clear();
    append_csv(text, {"x", field});
    EXPECT_EQ(plain_field(read_csv(text).front().fields[1]), field);
  }
}

}  // namespace
}  // namespace stator::systems::media_library
