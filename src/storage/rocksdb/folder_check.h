#pragma once

#include <rocksdb/status.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stator/base/result.h"
#include "stator/storage/rocksdb/mark_file.h"

namespace stator::storage {

// The work folder of a repair, inside the data folder.  READY in it says that the new database in it is complete and
// only has to be moved to its place: until then the data folder may lack any part of a database.
inline constexpr const char* kRepairFolder = "repair.tmp";
inline constexpr const char* kRepairReady = "READY";

// The files of a data folder, by their kinds.  Numbers are sorted.
struct FolderListing {
  bool current = false;
  bool format = false;
  bool aside = false;         // damaged-TIME, where a repair has put damaged files
  bool repair_begun = false;  // kRepairFolder
  bool repair_ready = false;  // and in it kRepairReady
  std::vector<std::uint64_t> manifests, tables, logs;
  static FolderListing of(const std::string& folder);
};

std::string manifest_name(std::uint64_t number);  // MANIFEST-000012
std::string table_name(std::uint64_t number);     // 000012.sst
std::string log_name(std::uint64_t number);       // 000012.log

// Something that a data folder must have and has not.
struct FolderDamage {
  enum class Kind : std::uint8_t { Format, Current, Manifest, Table, Log, Repair };
  Kind kind;
  std::string file;  // its name in the folder
  std::string what;  // "is missing", "is damaged at byte 12: ..."
};

FolderDamage table_damage(std::uint64_t number, const rocksdb::Status& status);  // of a table file that cannot be read

// The state of a folder, as opening it would find it.
struct FolderCheck {
  std::vector<FolderDamage> damage;  // empty: nothing that was acknowledged is missing
  bool is_new = false;               // there is no database in it yet
  std::optional<Mark> mark;
  bool mark_lost = false;       // there is a log and no mark for it: that the log has its end cannot be told
  std::uint64_t manifest = 0;   // the number of the one that counts; 0 when none can be found
  bool opened = false;          // manifest and tables fit together
  bool tables_read = false;     // and `flushed` is known
  std::uint64_t flushed = 0;    // the newest commit in table files
  std::uint64_t reachable = 0;  // the newest commit that opening would find
  std::uint64_t expected = 0;   // the newest commit that there is a trace of

  // Whether commits were synced before they were acknowledged.
  bool is_synced() const { return mark && mark->files && !mark->files->relaxed; }
  // The newest commit that is known to be on disk.
  std::uint64_t synced() const { return std::max(flushed, mark ? mark->acknowledged.value : 0); }
};

// Compares a folder with its MARK, its manifest and its logs, without changing anything, before RocksDB opens it and
// deletes files that it takes for obsolete.  No process has the folder open.  Errors: Storage.
Result<FolderCheck> check_folder(const std::string& folder);

// The error for a start that is refused: the missing files, and the way out.  There is damage.
Error damage_error(const std::string& folder, const FolderCheck& check);

// Holds the folder's LOCK.  Errors: Usage when another process does.
class FolderLock {
 public:
  static Result<std::unique_ptr<FolderLock>> take(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(void* lock) : lock_(lock) {}
  void* lock_;  // RocksDB's, which locks against other stores of this process, too; null on a read-only file system
};

}  // namespace stator::storage
