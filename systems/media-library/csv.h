#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"

namespace stator::systems::media_library {

using CsvRow = std::vector<std::string>;

// Reads RFC 4180: fields with commas, quotes or line breaks are in quotes, a quote inside is doubled; lines end in LF or CRLF;
// empty lines are left out.  Bounds: 100,000 rows, 100 fields each.  Errors: Validation, with the line.
Result<std::vector<CsvRow>> read_csv(std::string_view text);

// Adds one row.  A field that a spreadsheet would take for a formula gets an apostrophe in front.
void append_csv(std::string& out, const CsvRow& row);

}  // namespace stator::systems::media_library
