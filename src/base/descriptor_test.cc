#include "stator/base/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace stator {
namespace {

TEST(Descriptor, IsClosedOnceByItsLastOwner) {
  int fd = -1;
  {
    Descriptor first(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    fd = first.get();
    const Descriptor second(std::move(first));
    EXPECT_EQ(second.get(), fd);
    EXPECT_TRUE(write_all(second, "gone"));
  }
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
  EXPECT_FALSE(write_all(Descriptor(-1), "nowhere"));
  EXPECT_EQ(errno, EBADF);
}

TEST(Descriptor, LeavesErrnoAsItIs) {
  errno = ENOSPC;
  {
    const Descriptor bad(1'000'000);
  }  // closing it fails with EBADF
  EXPECT_EQ(errno, ENOSPC);
}

TEST(SyncFolder, WantsAFolder) {
  EXPECT_TRUE(sync_folder(std::filesystem::temp_directory_path().string()));
  EXPECT_FALSE(sync_folder("/dev/null"));
  EXPECT_EQ(errno, ENOTDIR);
}

}  // namespace
}  // namespace stator
