#include "stator/server/access_keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

namespace stator::server {
namespace {

namespace fs = std::filesystem;

class AccessKeysTest : public testing::Test {
 protected:
  AccessKeysTest() {
    std::string pattern = (fs::temp_directory_path() / "stator-keys-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~AccessKeysTest() override { fs::remove_all(folder_); }

  std::string data() const { return (folder_ / "data").string(); }
  AccessKeyFile file() const { return AccessKeyFile(data()); }
  void write(std::string_view text, mode_t mode = 0600) const {
    fs::create_directories(data());
    std::ofstream(file().path(), std::ios::binary) << text;
    chmod(file().path().c_str(), mode);
  }
  // The error that a file of this text makes, without the file's name.
  std::string error_of(std::string_view text) const {
    write(text);
    const auto loaded = file().load();
    return loaded ? "no error" : loaded.error().message.substr(file().path().size());
  }

  fs::path folder_;
  ManualClock clock_;
};

TEST_F(AccessKeysTest, AFolderWithoutAFileHasNone) {
  EXPECT_TRUE(file().load().value().empty());
  EXPECT_FALSE(fs::exists(data())) << "looking makes nothing";
}

TEST_F(AccessKeysTest, AreMadeListedAndRemoved) {
  const auto first = file().add("laptop: \"mine\" #1", clock_).value();
  clock_.advance(std::chrono::hours(1));
  const auto second = file().add("", clock_).value();
  EXPECT_EQ(first.name, "laptop: \"mine\" #1");
  EXPECT_EQ(first.created, "2023-11-14T22:13:20Z");
  EXPECT_EQ(file().load().value(), (std::vector{first, second}));
  EXPECT_EQ(file().remove(first.id).value(), std::vector{second});
  EXPECT_EQ(file().load().value(), std::vector{second});
  EXPECT_EQ(file().remove(first.id).error().message,
            file().path() + " has no key " + first.id + "; stator key list shows those it has");
  EXPECT_TRUE(file().remove(second.id).value().empty());
  EXPECT_TRUE(file().load().value().empty());
}

TEST_F(AccessKeysTest, HaveTheShapeOfAwsKeysAndAreNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 20; ++i) {
    const auto key = file().add("", clock_).value();
    EXPECT_EQ(key.id.size(), 20U);
    EXPECT_TRUE(key.id.starts_with("STAT"));
    EXPECT_EQ(key.secret.size(), 40U);
    EXPECT_TRUE(seen.insert(key.id).second && seen.insert(key.secret).second);
  }
}

TEST_F(AccessKeysTest, AreReadByTheirOwnerOnly) {
  ASSERT_TRUE(file().add("", clock_));
  struct stat status{};
  ASSERT_EQ(stat(file().path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  chmod(file().path().c_str(), 0640);
  EXPECT_EQ(file().load().error().message,
            file().path() + " can be read by other users of this machine: chmod 600 " + file().path());
}

TEST_F(AccessKeysTest, NameThePlaceOfWhatIsWrong) {
  EXPECT_EQ(error_of("version: 1\nkeys: []\n"), "no error");
  EXPECT_EQ(error_of("version: 1\nkeys:\n- {id: a, secret: b}\n"), "no error");
  EXPECT_EQ(error_of(""), ": expects `version: 1` and `keys`");
  EXPECT_EQ(error_of("version: 2\nkeys: []"),
            ":1:10: is of a version that this stator does not know: use a newer stator");
  EXPECT_EQ(error_of("version: 1\nkeys: 7"), ":2:7: expects a list of at most 1000 keys");
  EXPECT_EQ(error_of("version: 1\nkeys:\n- {id: a, secret: b}\n- {id: a, secret: c}\n"),
            ":4:3: a is there a second time");
  EXPECT_EQ(error_of("version: 1\nkeys:\n- {id: a/b, secret: b}\n"),
            ":3:3: a key needs an id: up to 128 characters, none of them a space or one of / , ; =");
  EXPECT_EQ(error_of("version: 1\nkeys:\n- {id: a}\n"), ":3:3: a key needs a secret");
  EXPECT_EQ(error_of("version: 1\nkeys:\n- {id: a, secrte: b}\n"),
            ":3:11: a key has an id, a secret, a name and a time it was created");
  EXPECT_EQ(error_of("keys: [").substr(0, 14), ":1: is not YAM");
  EXPECT_EQ(error_of(std::string(2 << 20U, '#')), " is longer than 1048576 bytes");
}

TEST_F(AccessKeysTest, RefuseANameThatIsNotALine) {
  EXPECT_FALSE(file().add("two\nlines", clock_));
  EXPECT_FALSE(file().add(std::string(101, 'x'), clock_));
  EXPECT_TRUE(file().add("J\xC3\xB6rg", clock_));
}

TEST_F(AccessKeysTest, TakeTurnsWhenSeveralAreMadeAtOnce) {
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10; ++i) EXPECT_TRUE(file().add("", clock_));
      });
    }
  }
  EXPECT_EQ(file().load().value().size(), 40U);
}

TEST_F(AccessKeysTest, AreFollowed) {
  http::SignatureVerifier verifier({.service = "dynamodb"}, clock_);
  AccessKeyFollower follower(file(), verifier);
  ASSERT_TRUE(follower.start());
  EXPECT_FALSE(verifier.required());
  ASSERT_TRUE(file().add("", clock_));
  follower.poll();
  EXPECT_TRUE(verifier.required());
  write("nonsense");
  follower.poll();  // is logged, and changes nothing
  EXPECT_TRUE(verifier.required());
  EXPECT_FALSE(AccessKeyFollower(file(), verifier).start());
}

}  // namespace
}  // namespace stator::server
