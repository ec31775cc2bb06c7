#pragma once

#include <string>
#include <utility>

#include "stator/base/bytes.h"

// Open files, for the small files of a data folder and for backups. A function that fails leaves the reason in errno,
// and the destructor of a Descriptor does not change errno. Each layer words the reason itself.
namespace stator {

// An open file or folder, or none; closed at the end of its life.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_;
};

// All of it, where the file is.
[[nodiscard]] bool write_all(const Descriptor& file, BytesView bytes);
// Syncs a folder, so that files made, renamed or removed in it are on disk.  Also true if the file system has no such
// sync.
[[nodiscard]] bool sync_folder(const std::string& path);

}  // namespace stator
