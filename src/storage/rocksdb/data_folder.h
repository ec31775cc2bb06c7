#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "stator/base/result.h"

namespace stator::storage {

// The newest format of a data folder that this program knows, and the one it makes; docs/formats/store.md has them all.
inline constexpr unsigned kDataFolderFormat = 1;

// Creates the folder and its FORMAT file if they are missing, and checks the file if it is there, before RocksDB opens,
// and thereby changes, anything.  Errors: Usage (a newer format, or not a folder of ours), Storage.
Result<void> prepare_data_folder(const std::string& path);

// Whether somebody has kept a database there, damaged or not.
bool holds_database(const std::string& path);

// Refuses links among the files that RocksDB or we write: they would be followed, and their targets overwritten.
// Errors: Usage.
Result<void> refuse_links(const std::string& path);

// Gives files that root has made in the folder of another user to that user, so that the user can work with them. Links
// are not followed, and files that have another name elsewhere are left alone.
void give_to_owner(const std::string& path);

// Does so at the end of its life.
class OwnerGuard {
 public:
  explicit OwnerGuard(std::string path) : path_(std::move(path)) {}
  ~OwnerGuard() { give_to_owner(path_); }
  OwnerGuard(const OwnerGuard&) = delete;
  OwnerGuard& operator=(const OwnerGuard&) = delete;

 private:
  const std::string path_;
};

Result<void> write_format(const std::string& path);
// The format that the folder says it has; nullopt when the file is missing or damaged.
std::optional<unsigned> read_format(const std::string& path);

// The free space of the disk; nullopt when the file system does not tell it.
std::optional<std::uint64_t> free_bytes(const std::string& path);
// Whether the disk takes `bytes` more right now: reserves them, writes and syncs a little, and gives them back.
Result<void> probe_disk(const std::string& path, std::uint64_t bytes);

// RESERVE, a file that only takes up room, so that there is some when the disk is full.  Does its best: makes it when
// the disk has much more than that.
void make_reserve(const std::string& path, std::uint64_t bytes);
std::uint64_t reserve_bytes(const std::string& path);
bool release_reserve(const std::string& path);  // false: there was none

}  // namespace stator::storage
