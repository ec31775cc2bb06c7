#pragma once

#include <fcntl.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "stator/base/bytes.h"
#include "stator/base/descriptor.h"
#include "stator/base/result.h"

// Files, as the store's own small ones need them.
namespace stator::storage {

Error system_error(const std::string& what, const std::string& path, int code);  // Storage

// "FILE belongs to USER, and this process runs as USER2: chown -R USER2 FOLDER", for the first that does; or nothing.
std::string foreign_owner(const std::string& folder);

// An open file, or the errno of its opening.  A link is not followed: if another user may write to the folder, it could
// lead anywhere.
class DataFile {
 public:
  DataFile(const std::string& path, int flags);

  bool is_open() const { return file_.is_open(); }
  int get() const { return file_.get(); }
  std::uint64_t size() const;
  // Fills `bytes`, or answers false.
  bool read_at(std::uint64_t offset, Bytes& bytes) const;
  bool write_at(std::uint64_t offset, BytesView bytes) const;
  bool sync() const;

 private:
  Descriptor file_;
};

// Writes a small file beside its name, syncs it and renames it, so that a crash leaves the old one or the new one.
Result<void> replace_file(const std::string& path, BytesView bytes);

}  // namespace stator::storage
