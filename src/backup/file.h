#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stator/base/bytes.h"
#include "stator/base/descriptor.h"
#include "stator/base/result.h"

// Files and folders that only their owner may read.  Every error names the path.
namespace stator::backup {

// An open file.
class File {
 public:
  // Makes a new one: not where there is one already, and not through a link.  Errors: Storage.
  static Result<File> create(const std::string& path);
  static Result<File> open(const std::string& path);  // to be read; an ordinary file, and not through a link
  Result<void> write(BytesView bytes);
  Result<Bytes> read(std::size_t limit);  // from where it is; empty at the end
  // Writes all to the disk, and removes it from the cache in memory, so that the next read comes from the disk.
  Result<void> sync();
  // False when another process has it locked.
  Result<bool> lock();

 private:
  File(std::string path, int fd) : path_(std::move(path)), file_(fd) {}

  std::string path_;
  Descriptor file_;
};

Result<void> make_folder(const std::string& path);  // and its parents; fine if it exists
Result<void> sync_folder(const std::string& path);
Result<void> rename_file(const std::string& from, const std::string& to);
Result<Bytes> read_file(const std::string& path, std::size_t limit);  // Errors: Storage; LimitExceeded
Result<std::uint64_t> size_of_file(const std::string& path);
// The names in a folder, sorted.
Result<std::vector<std::string>> list_folder(const std::string& path);

}  // namespace stator::backup
