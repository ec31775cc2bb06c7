#include "stator/server/secrets/access_keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include "stator/library/instance.h"

namespace stator::server {
namespace {

namespace fs = std::filesystem;

class AccessKeysTest : public ::testing::Test {
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
    if (loaded) return "no error";
    const auto error = loaded.error().message.substr(file().path().size());
    return error.substr(0, error.find("; if it cannot be mended"));
  }

  // Whether a server that is started on this file and the database requires signatures, and has keys.
  struct Started {
    bool required = false, has_keys = false;
    friend bool operator==(const Started&, const Started&) = default;
  };
  Started restarted(bool allow_unsigned) {
    http::SignatureVerifier verifier({.service = "dynamodb"}, clock_);
    AccessKeyFollower follower(file(), verifier, database_->engine());
    EXPECT_TRUE(follower.start(allow_unsigned));
    return {.required = verifier.required(), .has_keys = verifier.has_keys()};
  }

  fs::path folder_;
  ManualClock clock_;
  const std::unique_ptr<library::Instance> database_ =
      library::Instance::open({.data_folder = {}, .in_memory = true}).value();
};

// A store that does not answer for a while.
class FlakyFiles final : public PrivateFiles {
 public:
  explicit FlakyFiles(std::string folder) : files_(files_in_folder(std::move(folder))) {}
  Result<std::optional<std::string>> read(const std::string& name, std::size_t max_bytes) override {
    if (fails) return Error{ErrorCode::Storage, "no answer"};
    return files_->read(name, max_bytes);
  }
  Result<void> change(const std::string& name, std::size_t max_bytes, const Change& change) override {
    return files_->change(name, max_bytes, change);
  }
  Result<std::string> stamp(const std::string& name) override {
    if (stamp_fails) return Error{ErrorCode::Storage, "no answer"};
    return files_->stamp(name);
  }
  std::string path(const std::string& name) const override { return files_->path(name); }
  std::string option() const override { return files_->option(); }
  std::string removal(const std::string& name) const override { return files_->removal(name); }

  bool fails = false, stamp_fails = false;

 private:
  std::unique_ptr<PrivateFiles> files_;
};

TEST_F(AccessKeysTest, AreReadAgainAfterTheyCouldNotBeRead) {
  const auto files = std::make_shared<FlakyFiles>(data());
  http::SignatureVerifier verifier({.service = "dynamodb"}, clock_);
  AccessKeyFollower follower(AccessKeyFile(files), verifier, database_->engine());
  ASSERT_TRUE(follower.start(false));
  ASSERT_TRUE(file().add("", clock_));
  files->fails = true;
  follower.poll();
  EXPECT_FALSE(verifier.has_keys());
  files->fails = false;
  follower.poll();
  EXPECT_TRUE(verifier.has_keys());
}

TEST_F(AccessKeysTest, AreGoodForAWhileWhenTheStoreDoesNotAnswer) {
  const auto files = std::make_shared<FlakyFiles>(data());
  ASSERT_TRUE(file().add("", clock_));
  http::SignatureVerifier verifier({.service = "dynamodb", .keys_last = std::chrono::seconds(10)}, clock_);
  AccessKeyFollower follower(AccessKeyFile(files), verifier, database_->engine());
  ASSERT_TRUE(follower.start(false));
  clock_.advance(std::chrono::seconds(9));
  follower.poll();
  files->stamp_fails = true;
  clock_.advance(std::chrono::seconds(9));
  follower.poll();
  EXPECT_TRUE(verifier.keys_are_confirmed());
  clock_.advance(std::chrono::seconds(2));
  follower.poll();
  EXPECT_FALSE(verifier.keys_are_confirmed());
  files->stamp_fails = false;
  follower.poll();
  EXPECT_TRUE(verifier.keys_are_confirmed());
}

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

TEST_F(AccessKeysTest, SayHowToGetInAgainWhenTheirFileIsDamaged) {
  const auto path = file().path();
  const auto way_out =
      "; if it cannot be mended, move it away (mv " + path + " " + path + ".bad), then stator key add --data " + data();
  for (const auto* text : {"keys: [", "nonsense", ""}) {
    write(text);
    EXPECT_TRUE(file().add("", clock_).error().message.ends_with(way_out)) << text;
  }
  fs::rename(path, path + ".bad");
  EXPECT_TRUE(file().add("", clock_));
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
  AccessKeyFollower follower(file(), verifier, database_->engine());
  ASSERT_TRUE(follower.start(false));
  EXPECT_FALSE(verifier.required());
  ASSERT_TRUE(file().add("", clock_));
  follower.poll();
  EXPECT_TRUE(verifier.required());
  write("nonsense");
  follower.poll();  // is logged, and changes nothing
  EXPECT_TRUE(verifier.required());
}

TEST_F(AccessKeysTest, ThatCannotBeReadStopAServerThatNeverHadAny) {
  write("nonsense");
  http::SignatureVerifier verifier({.service = "dynamodb"}, clock_);
  EXPECT_FALSE(AccessKeyFollower(file(), verifier, database_->engine()).start(false));
  EXPECT_FALSE(AccessKeyFollower(file(), verifier, database_->engine()).start(true));
}

TEST_F(AccessKeysTest, ThatVanishLeaveTheDoorShutAfterARestart) {
  ASSERT_TRUE(file().add("", clock_));
  ASSERT_TRUE(restarted(false).required);
  const auto path = file().path();
  const std::pair<std::string_view, std::function<void()>> ways[] = {
      {"missing", [] {}},
      {"emptied", [&] { write(""); }},
      {"no keys in it", [&] { write("version: 1\nkeys: []\n"); }},
      {"nonsense", [&] { write("nonsense"); }},
      {"open to others", [&] { write("version: 1\nkeys: []\n", 0644); }},
      {"a link to nothing", [&] { fs::create_symlink("nowhere", path); }},
      {"a link to itself", [&] { fs::create_symlink(path, path); }},
      {"a folder", [&] { fs::create_directory(path); }},
  };
  for (const auto& [name, way] : ways) {
    SCOPED_TRACE(name);
    fs::remove(path);
    way();
    EXPECT_EQ(restarted(false), (Started{.required = true, .has_keys = false}));
  }
  fs::remove(path);
  ASSERT_TRUE(file().add("", clock_));
  EXPECT_EQ(restarted(false), (Started{.required = true, .has_keys = true}));
}

TEST_F(AccessKeysTest, AreForgottenOnlyWhereThatIsAskedFor) {
  const auto key = file().add("", clock_).value();
  EXPECT_EQ(restarted(true), (Started{.required = true, .has_keys = true})) << "there are keys";
  ASSERT_TRUE(file().remove(key.id));
  EXPECT_EQ(restarted(false), (Started{.required = true, .has_keys = false}));
  write("nonsense");
  EXPECT_EQ(restarted(true), (Started{.required = true, .has_keys = false})) << "nobody knows whether there are keys";
  fs::remove(file().path());
  EXPECT_EQ(restarted(true), (Started{.required = false, .has_keys = false}));
  EXPECT_EQ(restarted(false), (Started{.required = false, .has_keys = false})) << "once is enough";
}

TEST_F(AccessKeysTest, AddedWhileAServerRunsAreRemembered) {
  http::SignatureVerifier verifier({.service = "dynamodb"}, clock_);
  AccessKeyFollower follower(file(), verifier, database_->engine());
  ASSERT_TRUE(follower.start(false));
  ASSERT_TRUE(file().add("", clock_));
  follower.poll();
  fs::remove(file().path());
  follower.poll();
  EXPECT_TRUE(verifier.required());
  EXPECT_FALSE(verifier.has_keys());
  EXPECT_EQ(restarted(false), (Started{.required = true, .has_keys = false}));
}

}  // namespace
}  // namespace stator::server
