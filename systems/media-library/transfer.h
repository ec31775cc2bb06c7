#pragma once

#include <cstddef>

#include "stator/app/rest/system.h"
#include "stator/runtime/problem.h"

namespace stator::systems::media_library {

// A library from and to a CSV file.  Thread-safe.
class Transfer {
 public:
  explicit Transfer(const app::ExtensionParts& parts) : parts_(parts) {}

  // Adds every line, one transaction each, and reports on all of them:
  //
  //   {"rows": 3, "created": 1, "complete": true,
  //    "duplicates": [{"line": 3, "Isbn": "...", "ItemId": "..."}],
  //    "errors": [{"line": 4, "code": "Invalid", "message": "...", "details": [...]}], "moreErrors": 400}
  //
  // The file is read twice, row by row: the first time nothing is added.  The first hundred errors are told, and how
  // many more.  A line is a duplicate when the library, or an earlier line, has its ISBN in either length.  Collections
  // are found by name, and made when they are missing.  `complete` is false when the database failed, or the library
  // went; what was reported before stays.  Problems: Invalid (the first line, or too many lines), Conflict (another
  // import is under way), in which case nothing was added.
  Result<http::Response, runtime::Problem> import(const app::NativeCall& call) const;

  // Lines in the order of the library's list.  The header Next-Token has what the next request has to give as
  // `nextToken`.
  Result<http::Response, runtime::Problem> export_page(const app::NativeCall& call) const;

  static constexpr std::size_t kMostLines = 5000;
  static constexpr std::size_t kPageBytes = 8 << 20;  // an export's page ends behind the query that passes this

 private:
  const app::ExtensionParts parts_;
};

}  // namespace stator::systems::media_library
