#include "stator/base/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace stator {

Descriptor::~Descriptor() {
  if (fd_ < 0) return;
  const int reason = errno;
  ::close(fd_);
  errno = reason;
}

bool write_all(const Descriptor& file, BytesView bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = EIO;  // a device that takes nothing and does not say why
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool sync_folder(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder.is_open() && (::fsync(folder.get()) == 0 || errno == EINVAL);
}

}  // namespace stator
