#include "stator/library/data_folder.h"

#include <fmt/format.h>

#include <filesystem>

#include "stator/storage/rocksdb/data_folder.h"
#include "stator/storage/rocksdb/rocksdb_store.h"
#include "stator/storage/rocksdb/table_files.h"

namespace stator::library {

Result<std::unique_ptr<storage::Store>> open_data_folder(const std::string& path, FolderUse use) {
  std::error_code code;
  if (use != FolderUse::Make && !std::filesystem::exists(path, code)) {
    return Error{ErrorCode::Usage, fmt::format("there is no data folder {}", path)};
  }
  return storage::open_rocksdb_store({.path = path, .read_only = use == FolderUse::Read});
}

void give_to_owner(const std::string& path) { storage::give_to_owner(path); }

Result<void> verify_table_file(const std::string& path) { return storage::verify_table_file(path); }

}  // namespace stator::library
