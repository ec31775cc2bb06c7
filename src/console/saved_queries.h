#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/base/result.h"
#include "stator/console/shared_text.h"

namespace stator::console {

// The queries that users of the console have saved, and the history of queries that they ran.  Both are JSON objects:
//
//   {"id": "...", "kind": "query", "name": "...", "table": "...", "body": ..., "at": "2026-01-15T10:00:00.000Z"}
//
// They are in one file beside the database, and in none of its tables; where several servers share a database, in a
// text that they have in common.  Bounded.  Thread-safe; may block for the file or the database.
class SavedQueries {
 public:
  static constexpr std::size_t kMostSaved = 1'000;
  static constexpr std::size_t kMostSavedBytes = std::size_t{4} << 20;  // together
  static constexpr std::size_t kMostHistory = 500;
  static constexpr std::size_t kMostHistoryBytes = std::size_t{1} << 20;  // together
  static constexpr std::size_t kMostEntryBytes = 16 << 10;                // of one, as it was sent and as it is kept
  static constexpr std::size_t kMostFileBytes = std::size_t{6} << 20;

  // Puts the text in the place of the file.
  using Write = std::function<Result<void>(std::string_view text)>;

  // Without a `write`, everything is kept in memory only.  The clock outlives it.
  explicit SavedQueries(const Clock& clock, Write write = nullptr) : clock_(clock), write_(std::move(write)) {}

  // Everything is in the text that servers have in common.
  SavedQueries(const Clock& clock, SharedText shared) : clock_(clock), shared_(std::move(shared)) {}

  // The text of the file, when the server starts.  Errors: Validation.
  Result<void> load(std::string_view text);

  // Errors: Storage, Validation (the text that servers have in common).
  Result<std::string> saved() const;    // {"items": [...]}, by name
  Result<std::string> history() const;  // {"items": [...]}, newest first

  // Errors of all: Validation (not such an object), LimitExceeded, Storage (the file).
  Result<void> save(std::string_view id, std::string_view json);
  Result<void> remove(std::string_view id);  // also NotFound
  Result<void> append_history(std::string_view json);
  Result<void> clear_history();

 private:
  struct Entry {
    std::string name;
    std::string json;
  };

  // The entry as it is kept.  Errors: Validation.
  Result<Entry> read(std::string_view id, std::string_view json) const;
  // Has a change made to the text that servers have in common.
  Result<void> change_shared(const std::function<Result<void>(SavedQueries&)>& change);
  Result<void> load_shared(SavedQueries& into) const;
  Result<void> keep() REQUIRES(mutex_);
  struct Undo {
    std::deque<std::string> history;
    std::size_t bytes;
  };
  Result<void> keep_or(const Undo& undo) REQUIRES(mutex_);  // gives the history back if it cannot be kept
  std::string text() const REQUIRES(mutex_);

  const Clock& clock_;
  const Write write_;
  const std::optional<SharedText> shared_;

  mutable Mutex mutex_;
  std::map<std::string, Entry, std::less<>> saved_ GUARDED_BY(mutex_);  // by id
  std::size_t saved_bytes_ GUARDED_BY(mutex_) = 0;
  std::deque<std::string> history_ GUARDED_BY(mutex_);  // newest first
  std::size_t history_bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace stator::console
