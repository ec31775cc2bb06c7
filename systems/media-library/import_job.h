#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/app/rest/extension.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/write/transaction.h"
#include "stator/value/attribute_value.h"

namespace stator::systems::media_library {

// An import as it is stored: how many rows of the file are done, and the problems of rows.
//
// Each row that is added is added in one transaction with the progress, so that an import that was cut off continues
// behind the last one.  The commit requires that the progress is as this object knows it: of two requests that continue
// the same import, one gives up.  Rows that add nothing are noted with the next commit, or in groups.  Confined to one
// request.
class ImportJob {
 public:
  // The id of an import with an Idempotency-Key: the same key, the same import.
  static std::string id_of(const value::Item& library, std::string_view key);

  // The import of that id; nullopt when there is none.
  static Result<std::optional<ImportJob>, runtime::Problem> find(const app::ExtensionParts& parts,
                                                                 const value::Item& library, const std::string& id);
  // A new one, of a file with that many rows beside the first.  Problems: Conflict, when there is one already.
  static Result<ImportJob, runtime::Problem> create(const app::ExtensionParts& parts, const value::Item& library,
                                                    const std::string& id, const std::string& digest, std::size_t rows);

  const std::string& id() const { return id_; }
  const std::string& digest() const { return digest_; }
  std::size_t done() const { return progress_.done; }  // rows
  bool complete() const { return complete_; }

  // The next row is done: `work` adds it.  Problems: those of the work, and then the row is not done;
  // Conflict `ImportRunning`, when another request continues this import; NotFound, when the library is gone.
  Result<void, runtime::Problem> add(const std::function<Result<void, runtime::Problem>(runtime::Transaction&)>& work);
  // The next row is done, and added nothing.
  Result<void, runtime::Problem> skip_duplicate(std::size_t line, const std::string& isbn, const std::string& item);
  Result<void, runtime::Problem> skip_wrong(std::size_t line, const runtime::Problem& problem);
  // Writes the rest.  `complete`: all rows are done.
  Result<void, runtime::Problem> flush(bool complete);

  // How far it is, with the lines that added nothing:
  //
  //   {"ImportId": "...", "state": "DONE", "rows": 3, "done": 3, "created": 1, "complete": true,
  //    "duplicates": [{"line": 3, "Isbn": "...", "ItemId": "..."}],
  //    "errors": [{"line": 4, "code": "Invalid", "message": "...", "details": [...]}], "moreErrors": 400}
  //
  // `stopped_by` is told as the error of the line behind the last one that is done.
  struct StoppedBy {
    std::size_t line;
    runtime::Problem problem;
  };
  Result<std::string, runtime::Problem> report(std::string_view state,
                                               const std::optional<StoppedBy>& stopped_by = std::nullopt) const;

 private:
  struct Progress {
    std::size_t done = 0;
    std::size_t created = 0;
    std::size_t duplicates = 0;
    std::size_t errors = 0;  // told and not told
  };

  ImportJob(const app::ExtensionParts& parts, value::Item library, std::string id)
      : parts_(parts), library_(std::move(library)), id_(std::move(id)) {}
  value::Item naming() const;
  Result<void, runtime::Problem> commit(
      const Progress& progress, bool complete,
      const std::function<Result<void, runtime::Problem>(runtime::Transaction&)>& work);
  Result<void, runtime::Problem> note(value::Item line);

  const app::ExtensionParts& parts_;
  value::Item library_;  // its identity
  std::string id_;
  std::string digest_;
  std::size_t rows_ = 0;
  bool complete_ = false;
  Progress progress_;
  std::size_t committed_ = 0;         // rows
  std::vector<value::Item> pending_;  // lines to note
};

}  // namespace stator::systems::media_library
