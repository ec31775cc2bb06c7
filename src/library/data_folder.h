#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stator/base/result.h"
#include "stator/storage/store.h"

// A data folder without a server, for tools.
namespace stator::library {

enum class FolderUse : std::uint8_t {
  Read,   // changes nothing
  Write,  // opens it as a server does
  Make,   // the same, and makes it if it is not there
};

// Opens the store in a folder that no process has open.  Read: there must be one.
// Errors: Usage (there is none, or a process has it open), Storage, Corruption.
Result<std::unique_ptr<storage::Store>> open_data_folder(const std::string& path, FolderUse use);

// Run as root, gives the files that this process made in another user's folder to that user.  A store does so by itself
// when it is closed.
void give_to_owner(const std::string& path);

// Reads one table file of a store, in any folder, and compares the checksums of its blocks.  Errors: Corruption,
// Storage.
Result<void> verify_table_file(const std::string& path);

}  // namespace stator::library
