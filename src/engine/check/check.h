#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"
#include "stator/storage/store.h"

// Whether everything that a store holds is readable and fits together.
namespace stator::engine {

enum class FindingKind : std::uint8_t {
  DamagedFile,       // a block of a file does not have its checksum
  Unreadable,        // the store cannot read a part of its data
  UnknownKey,        // a key that no part of the engine writes
  BadRecord,         // a record that does not decode: of the catalog, progress, a commit's time, a request token
  Catalog,           // the tables contradict each other
  Orphan,            // data of a table or an index that does not exist
  BadItem,           // an item that does not decode, or is not as it would be written
  MisplacedItem,     // an item under the key of another
  MissingEntry,      // an item that an index lacks
  SuperfluousEntry,  // an index entry without its item
  WrongEntry,        // an index entry that differs from its item
  WrongCount,        // a table's or an index's number of items, or their size
  CollectionSize,    // the size of an item collection
  MissingExpiry,     // an item with an expiry that time to live does not know of
  SuperfluousExpiry,
  ChangeLog,
  Stream,
};
inline constexpr std::size_t kFindingKinds = static_cast<std::size_t>(FindingKind::Stream) + 1;

std::string_view finding_name(FindingKind kind);  // "missing index entry"
std::optional<FindingKind> finding_kind(std::string_view name);
// Advice for a person, in whole sentences.  DATA_FOLDER stands for the name of the folder.
std::string_view remedy(FindingKind kind);
// Whether repair() mends it.
bool is_repairable(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::BadRecord;
  std::string table;  // empty: none in particular
  std::string index;  // empty: the table itself
  std::string key;    // its subject: an item's key as JSON, a file's name, or a key's bytes in hexadecimal
  std::string what;
};

struct CheckProgress {
  enum class Stage : std::uint8_t { Files, Records };
  Stage stage = Stage::Files;
  std::uint64_t done = 0;   // bytes of files, or records
  std::uint64_t total = 0;  // as far as is known; done may get beyond it
};

struct CheckReport {
  static constexpr std::size_t kMaxFindings = 100;  // of one kind that are told one by one

  std::uint64_t tables = 0, items = 0, index_entries = 0;
  std::uint64_t records = 0;     // everything that was read, the above included
  std::uint64_t file_bytes = 0;  // with compared checksums
  std::vector<Finding> findings;
  std::array<std::uint64_t, kFindingKinds> totals{};
  std::uint64_t repaired = 0;

  std::uint64_t total() const;
  std::uint64_t total(FindingKind kind) const { return totals[static_cast<std::size_t>(kind)]; }
  bool clean() const { return total() == 0; }
  // Bytes of files are damaged or cannot be read, so tables, items and entries above are only the readable ones.
  bool damaged() const { return total(FindingKind::DamagedFile) > 0 || total(FindingKind::Unreadable) > 0; }
};

struct CheckOptions {
  // Called now and then; false ends the check.
  std::function<bool(const CheckProgress&)> progress = {};
};

// Reads everything once, as of one moment: checksums of files where the store has any, every record, every index
// against its table in both directions, time to live against the items, counts and sizes.  A wrong record is read a
// second time, to tell where.  Memory does not grow with the data.  Writes may go on.  Errors: Busy, when it was ended;
// Storage.
Result<CheckReport> check(storage::Store& store, const CheckOptions& options = {});

// The same, and repairs data that can be computed from the items: index entries, expiries, counts and sizes; a few
// hundred changes in one commit.  Changes nothing when a file is damaged or a part cannot be read.  Nothing else may
// write meanwhile.  Errors: Busy, Storage.
Result<CheckReport> repair(storage::Store& store, const CheckOptions& options = {});

}  // namespace stator::engine
