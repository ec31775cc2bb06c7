#include "stator/server/secrets/private_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace stator::server {
namespace {

namespace fs = std::filesystem;

struct PrivateFolderTest : ::testing::Test {
  PrivateFolderTest() {
    std::string pattern = (fs::temp_directory_path() / "stator-private-XXXXXX").string();
    outside = mkdtemp(pattern.data());
    data = outside / "data";
  }
  ~PrivateFolderTest() override { fs::remove_all(outside); }

  PrivateFolder folder() const { return PrivateFolder::open_or_make(data.string()).value(); }
  std::string text_of(const fs::path& path) const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const fs::path& path, std::string_view text, mode_t mode = 0600) const {
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
  }
  mode_t mode_of(const fs::path& path) const {
    struct stat status{};
    lstat(path.c_str(), &status);
    return status.st_mode & 0777U;
  }

  fs::path outside, data;
};

TEST_F(PrivateFolderTest, MakesAFolderAndFilesForTheirOwnerAlone) {
  EXPECT_FALSE(PrivateFolder::open(data.string()).value());
  auto made = folder();
  EXPECT_EQ(mode_of(data), 0700U);
  EXPECT_EQ(made.read("secret", 100).value(), std::nullopt);
  ASSERT_TRUE(made.replace("secret", "one"));
  ASSERT_TRUE(made.replace("secret", "two"));
  EXPECT_EQ(made.read("secret", 100).value(), "two");
  EXPECT_EQ(mode_of(data / "secret"), 0600U);
  EXPECT_FALSE(fs::exists(data / "secret.new"));
}

TEST_F(PrivateFolderTest, WritesThroughNoLink) {
  auto made = folder();
  write(outside / "precious", "untouched", 0644);
  for (const auto* name : {"secret", "secret.new"}) {
    fs::create_symlink(outside / "precious", data / name);
    ASSERT_TRUE(made.replace("secret", "text")) << name;
    EXPECT_EQ(text_of(outside / "precious"), "untouched") << name;
    EXPECT_EQ(mode_of(outside / "precious"), 0644U) << name;
    EXPECT_FALSE(fs::is_symlink(data / "secret")) << name;
    fs::remove(data / "secret");
  }
  fs::create_hard_link(outside / "precious", data / "secret.new");
  ASSERT_TRUE(made.replace("secret", "text"));
  EXPECT_EQ(text_of(outside / "precious"), "untouched");
}

TEST_F(PrivateFolderTest, TakesALinkToAFileButNotOneToNothing) {
  auto made = folder();
  fs::create_symlink(outside / "elsewhere", data / "secret");
  EXPECT_EQ(made.read("secret", 100).value(), std::nullopt);
  write(outside / "elsewhere", "text");
  EXPECT_EQ(made.read("secret", 100).value(), "text");
}

TEST_F(PrivateFolderTest, RefusesWhatIsNotAPrivateFile) {
  auto made = folder();
  const auto problem = [&] { return made.read("secret", 4).error().message; };
  const auto path = (data / "secret").string();
  write(path, "text", 0640);
  EXPECT_EQ(problem(), path + " can be read by other users of this machine: chmod 600 " + path);
  write(path, "texts");
  EXPECT_EQ(problem(), path + " is longer than 4 bytes");
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(problem(), path + " is not a file");
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_EQ(problem(), path + " is not a file");
}

TEST_F(PrivateFolderTest, WhatRootMakesOrReadsBelongsToTheFoldersOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t kService = 12345;
  auto made = folder();
  ASSERT_EQ(chown(data.c_str(), kService, kService), 0);
  ASSERT_TRUE(made.replace("secret", "text"));
  struct stat status{};
  ASSERT_EQ(stat((data / "secret").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, kService);
  EXPECT_EQ(status.st_gid, kService);
  EXPECT_EQ(made.read("secret", 100).value(), "text");
  ASSERT_EQ(chown((data / "secret").c_str(), kService + 1, kService), 0);
  EXPECT_EQ(made.read("secret", 100).error().message,
            (data / "secret").string() + " belongs to another user: chown 12345 " + (data / "secret").string());
}

}  // namespace
}  // namespace stator::server
