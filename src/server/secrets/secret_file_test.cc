#include "stator/server/secrets/secret_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace stator::server {
namespace {

struct SecretFileTest : ::testing::Test {
  SecretFileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "stator-secret-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~SecretFileTest() override { std::filesystem::remove_all(folder); }
  std::string file() const { return folder + "/data/app_secret"; }

  std::string folder;
};

TEST_F(SecretFileTest, IsMadeOnceAndKept) {
  const auto first = load_or_make_secret(*files_in_folder(folder + "/data"));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->size(), 43);
  EXPECT_EQ(*load_or_make_secret(*files_in_folder(folder + "/data")), *first);
  struct stat status{};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(SecretFileTest, IsRefusedWhenOthersMayReadIt) {
  ASSERT_TRUE(load_or_make_secret(*files_in_folder(folder + "/data")));
  ::chmod(file().c_str(), 0644);
  const auto secret = load_or_make_secret(*files_in_folder(folder + "/data"));
  ASSERT_FALSE(secret);
  EXPECT_NE(secret.error().message.find("chmod 600"), std::string::npos);
}

TEST_F(SecretFileTest, IsRefusedWhenItIsSomethingElse) {
  ASSERT_TRUE(load_or_make_secret(*files_in_folder(folder + "/data")));
  std::ofstream(file()) << "short";
  EXPECT_FALSE(load_or_make_secret(*files_in_folder(folder + "/data")));
}

}  // namespace
}  // namespace stator::server
