#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stator/base/bytes.h"
#include "stator/base/result.h"
#include "stator/storage/store.h"

namespace stator::storage {

// The files that a store is made of, as of the last flush, compaction, start or stop.
struct LiveFiles {
  struct TableFile {
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
    friend bool operator==(const TableFile&, const TableFile&) = default;
  };
  std::uint64_t manifest = 0;        // its number
  std::uint64_t manifest_bytes = 0;  // so many of it are synced
  bool relaxed = false;              // commits are answered before they are synced
  bool complete = true;              // false: there are more tables than the list has room for
  std::vector<TableFile> tables = {};
  std::vector<std::uint64_t> logs = {};
  friend bool operator==(const LiveFiles&, const LiveFiles&) = default;
};

// The content of a MARK file.
struct Mark {
  CommitSequence acknowledged;     // every commit up to this one was synced and answered
  std::optional<LiveFiles> files;  // none: never written, or unreadable
};

// MARK, a file in the data folder that says which data must be there: the newest synced commit, and the live files.
// Without it a log that lost its end looks like one that is complete.
//
// The sequence is written without a sync of its own: it is in the cache of the system and survives the process. After a
// power cut it may be old, but it is never ahead of the synced commits.  Everything is there twice and has a checksum,
// so that a write that was cut short leaves the one before.  docs/formats/store.md draws it.
//
// Each acknowledge() writes the magic and both slots, so a file that somebody cut while it was open is whole again. It
// is not mapped: a store to a page that is missing in the file ends the process.
//
// acknowledge() and set_files() each belong to one thread at a time, and do not disturb each other.
class MarkFile {
 public:
  // Creates the file if it is missing, and keeps the readable part of an existing one.  Errors: Storage.
  static Result<std::unique_ptr<MarkFile>> open(const std::string& folder);
  // nullopt when the file is missing, or nothing in it can be read.
  static std::optional<Mark> read(const std::string& folder);
  ~MarkFile();
  MarkFile(const MarkFile&) = delete;
  MarkFile& operator=(const MarkFile&) = delete;

  // A write that fails is a warning in the log, once: the commit is on disk, and the mark promises less.
  void acknowledge(CommitSequence sequence);
  // Errors: Storage; the list before stays.
  Result<void> set_files(const LiveFiles& files);

 private:
  class Impl;
  explicit MarkFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

inline constexpr const char* kMarkName = "MARK";

}  // namespace stator::storage
