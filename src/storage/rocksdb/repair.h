#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"
#include "stator/storage/rocksdb/folder_check.h"
#include "stator/storage/store.h"

namespace stator::storage {

// How far a long piece of work is; `total` may be an estimate.
using RepairProgress = std::function<void(std::string_view stage, std::uint64_t done, std::uint64_t total)>;

struct RepairOptions {
  bool accept_loss = false;  // false: look, and change nothing
  std::string aside =
      "damaged";  // the folder, inside the data folder, to which damaged files are moved; it does not exist yet
  RepairProgress progress = [](auto, auto, auto) {};
};

struct RepairReport {
  std::vector<FolderDamage> damage;  // empty: there was nothing to do
  bool repaired = false;
  std::string aside;  // where the damaged files are, or would be

  // The data that is lost, or would be lost.
  std::uint64_t acknowledged = 0;        // the newest commit that there was a trace of
  bool mark_lost = false;                // and that it was the newest of all cannot be told
  std::uint64_t commits_saved = 0;       // from the logs, also from behind damage
  std::uint64_t commits_lost = 0;        // known by their numbers to be missing in the logs
  std::vector<std::string> tables_lost;  // files of which nothing can be read
  std::vector<KeyRange> ranges_lost;     // keys in unreadable blocks; before the repair, all keys of damaged files
};

// Looks at everything in a data folder, blocks of table files included, and, with accept_loss, makes it one that can be
// opened again with all that can be read.  Damaged files are moved aside; nothing is deleted.  A repair that is
// interrupted can be run again.  The newest commit keeps its number, so that none is given out twice.
//
// Needs as much room as the data takes where table files or the manifest are damaged.
//
// Errors: Usage (the folder is in use, or is not one of ours), Storage, Corruption.
Result<RepairReport> repair_folder(const std::string& folder, const RepairOptions& options);

}  // namespace stator::storage
