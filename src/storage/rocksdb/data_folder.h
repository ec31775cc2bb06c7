#pragma once

#include <cstdint>
#include <string>

#include "stator/base/result.h"

namespace stator::storage {

// Creates the folder and its FORMAT file if they are missing, and checks the file if it is there, before RocksDB opens, and
// thereby changes, anything.  Errors: Usage (a newer format, or not a folder of ours), Storage.
Result<void> prepare_data_folder(const std::string& path);

// Whether the disk takes `bytes` more right now: reserves them, writes and syncs a little, and gives them back.
Result<void> probe_disk(const std::string& path, std::uint64_t bytes);

}  // namespace stator::storage
