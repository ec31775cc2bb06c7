#pragma once

#include <cstdint>
#include <string>

#include "stator/base/result.h"

namespace stator::storage {

// The newest format of a data folder that this program knows, and the one it makes; docs/formats/store.md has them all.
inline constexpr unsigned kDataFolderFormat = 1;

// Creates the folder and its FORMAT file if they are missing, and checks the file if it is there, before RocksDB opens, and
// thereby changes, anything.  Errors: Usage (a newer format, or not a folder of ours), Storage.
Result<void> prepare_data_folder(const std::string& path);

// Whether the disk takes `bytes` more right now: reserves them, writes and syncs a little, and gives them back.
Result<void> probe_disk(const std::string& path, std::uint64_t bytes);

}  // namespace stator::storage
