#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/byte_source.h"

namespace stator::systems::media_library {

// One row of a CSV file, with the line that it begins on.
struct CsvRow {
  std::size_t line = 1;
  std::vector<std::string> fields;
  std::string problem;  // why it could not be read; empty: it was
};

inline constexpr std::size_t kMostCsvFields = 100;
// Far more than the largest value that a column can have.
inline constexpr std::size_t kMostCsvFieldBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMostCsvRowBytes = std::size_t{256} << 10;

// Reads RFC 4180, row by row: fields with separators, quotes or line breaks are in quotes, a quote inside is doubled;
// lines end in LF or CRLF, and empty ones are left out.  The separator is a comma, a semicolon or a tab: the one that
// the first line has most of.  A first line "sep=;", which spreadsheets know, names it and is left out.  A row that is
// wrong has a problem instead of fields, and reading goes on with the next line.  Holds one row and a piece of the
// source.  Confined to one thread.
class CsvReader {
 public:
  // The source outlives the reader.  `separator`: nullopt finds it out.
  explicit CsvReader(ByteSource& source, std::optional<char> separator = std::nullopt)
      : source_(source), separator_(separator) {}

  // The next row; nullopt when there is no more.  Errors: those of the source.
  Result<std::optional<CsvRow>> next();
  // How many empty lines were left out so far.
  std::size_t empty_lines() const { return empty_lines_; }

 private:
  void find_separator();
  CsvRow read_row();
  std::string read_field(std::string& problem);
  std::string read_quoted(std::string& problem);
  void skip_line();
  bool here();  // whether there is another byte, which is then at at_
  bool take(char c);

  bool ends_field(char c) const { return c == *separator_ || c == '\r' || c == '\n'; }

  ByteSource& source_;
  std::optional<char> separator_;
  std::string window_;   // the rest of a piece, and the earlier part of the row that is being read
  std::size_t row_ = 0;  // where that row begins
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t empty_lines_ = 0;
  std::optional<Error> failure_;  // of the source
};

// Appends one line.  A field that a spreadsheet would take for a formula gets a ' in front, which plain_field() takes
// away.
void append_csv(std::string& out, const std::vector<std::string>& fields);
std::string_view plain_field(std::string_view field);

}  // namespace stator::systems::media_library
