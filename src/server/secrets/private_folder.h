#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "stator/base/descriptor.h"
#include "stator/base/result.h"

namespace stator::server {

// A data folder, for the small files with secrets that Stator keeps in it: keys.yaml and app_secret.
//
// An administrator runs commands as root on a folder that belongs to the service's user, and that user may have put any
// files there.  So names are looked up relative to the folder's descriptor, nothing is written through a link, and
// files that root makes belong to the folder's owner.  A file is there as a whole or not at all.  Confined to one
// thread.
class PrivateFolder {
 public:
  // Nullopt when the folder is not there.  Errors: Storage.
  static Result<std::optional<PrivateFolder>> open(const std::string& path);
  // Makes it, for its owner alone, when it is not there.  Errors: Usage, Storage.
  static Result<PrivateFolder> open_or_make(const std::string& path);

  // Locks the folder against other processes that lock it as well, for the life of the object.  Errors: Storage.
  Result<void> lock();

  // The text of a file, or nullopt when it is not there, or is a link to nothing.  Errors: Usage (it is not a file,
  // others can read it, it belongs to a user other than root, this one or the folder's owner, or it is longer than
  // `max_bytes`), Storage.
  Result<std::optional<std::string>> read(const std::string& name, std::size_t max_bytes) const;

  // Writes a file with this text in place of the present file or link.  Call it while locked.  Errors: Storage.
  Result<void> replace(const std::string& name, std::string_view text);

 private:
  PrivateFolder(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  Result<void> write_new(const Descriptor& file, std::string_view text, const std::string& path) const;

  std::string path_;
  Descriptor descriptor_;  // closing it unlocks it
};

}  // namespace stator::server
