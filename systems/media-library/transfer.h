#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "stator/app/rest/extension.h"
#include "stator/runtime/problem.h"
#include "stator/systems/media-library/import_job.h"
#include "stator/systems/media-library/import_lease.h"
#include "stator/systems/media-library/item_table.h"

namespace stator::systems::media_library {

// A library from and to a CSV file.  Thread-safe.
class Transfer {
 public:
  explicit Transfer(const app::ExtensionParts& parts) : parts_(parts) {}

  // Adds every line, one transaction each, and answers with ImportJob::report().
  //
  // The file is read twice, row by row: the first time nothing is added.  A line is a duplicate when the library, or an
  // earlier line, has its ISBN in either length.  Collections are found by name, and made when they are missing.  An
  // import that was cut off, by the end of the server or by a failing database, continues where it was when the same
  // file is sent again with the same Idempotency-Key, or with the id of the import.  Problems: Invalid (the first line,
  // or too many lines) and Conflict (another import is under way, another file), in which case nothing was added.
  Result<http::Response, runtime::Problem> import(const app::NativeCall& call) const;
  // How far an import is.
  Result<http::Response, runtime::Problem> show_import(const app::NativeCall& call) const;

  // Lines in the order of the library's list.  The header Next-Token has the `nextToken` of the next request.
  Result<http::Response, runtime::Problem> export_page(const app::NativeCall& call) const;

  static constexpr std::size_t kMostLines = 5000;
  static constexpr std::size_t kPageBytes = 8 << 20;  // an export's page ends behind the query that passes this

 private:
  // The import of that id, if it is of this file.
  Result<std::optional<ImportJob>, runtime::Problem> find_job(const app::NativeCall& call, const value::Item& library,
                                                              const std::string& id, const std::string& digest) const;
  // The same, or a new one.
  Result<ImportJob, runtime::Problem> open_job(const app::NativeCall& call, const value::Item& library,
                                               std::size_t rows, const std::string& id,
                                               const std::string& digest) const;
  // Why it stopped before the last row, if it did.  Problems: Conflict `ImportRunning`.
  Result<std::optional<ImportJob::StoppedBy>, runtime::Problem> import_rows(const app::NativeCall& call,
                                                                            const ItemTable& table, ImportLease& lease,
                                                                            ImportJob& job) const;

  const app::ExtensionParts parts_;
};

}  // namespace stator::systems::media_library
