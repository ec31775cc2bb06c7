#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stator::systems::media_library {

// One row of a CSV file, with the line that it begins on.
struct CsvRow {
  std::size_t line = 1;
  std::vector<std::string> fields;
  std::string problem;  // why it could not be read; empty: it was
};

inline constexpr std::size_t kMostCsvFields = 100;

// Reads RFC 4180: fields with commas, quotes or line breaks are in quotes, a quote inside is doubled; lines end in LF or CRLF; empty
// ones are left out, and a byte order mark is.  At most `most` rows, and one more when there is more.  A row that is wrong has a
// problem instead of fields, and reading goes on with the next line.
std::vector<CsvRow> read_csv(std::string_view text, std::size_t most);

// Appends one line.  A field that a spreadsheet would take for a formula gets a ' in front, which plain_field() takes away.
void append_csv(std::string& out, const std::vector<std::string>& fields);
std::string_view plain_field(std::string_view field);

}  // namespace stator::systems::media_library
