#include "stator/backup/backup_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "stator/storage/testing/temporary_folder.h"

namespace stator::backup {
namespace {

namespace fs = std::filesystem;

// Files in memory.
class Files final : public storage::FrozenFiles {
 public:
  explicit Files(std::uint64_t commit) : commit_{commit} {
    add("CURRENT", "MANIFEST-1\n");
    add("FORMAT", "stator-rocksdb 1\n");
  }
  void add(std::string name, Bytes bytes, std::string content_id = {}) {
    listed_.push_back({.name = std::move(name), .size_bytes = bytes.size(), .content_id = std::move(content_id)});
    bytes_.push_back(std::move(bytes));
  }

  storage::CommitSequence last_commit() const override { return commit_; }
  const std::vector<storage::StoreFile>& files() const override { return listed_; }
  Result<Bytes> read(std::size_t file, std::uint64_t offset, std::size_t limit) const override {
    if (static_cast<int>(reads_++) == fails_at) return Error{ErrorCode::Storage, "the line is cut"};
    return bytes_[file].substr(offset, limit);
  }
  int fails_at = -1;  // which read

 private:
  storage::CommitSequence commit_;
  std::vector<storage::StoreFile> listed_;
  std::vector<Bytes> bytes_;
  mutable std::size_t reads_ = 0;
};

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class BackupFolderTest : public ::testing::Test {
 protected:
  BackupFolder open() { return BackupFolder::open(path_, BackupFolder::Use::Write).value(); }
  Result<AddedBackup> add(const Files& files) {
    clock_.advance(std::chrono::seconds(1));
    return open().add(files, "here", clock_, check_, {});
  }
  Result<void> restore(const std::string& id = {}, std::uint64_t commit = 7) {
    const auto folder = open();
    return folder.restore(TRY(folder.find(id)), target_,
                          [&](const std::string&) { return Result<storage::CommitSequence>({commit}); }, {});
  }
  std::vector<std::string> objects() const { return list_folder(path_ + "/files").value(); }
  static Files two_tables() {
    Files files(7);
    files.add("000001.sst", Bytes(5 << 20, 'a'), "aa01");
    files.add("000002.sst", "second", "aa02");
    files.add("MANIFEST-1", "tables 1 and 2");
    return files;
  }

  storage::testing::TemporaryFolder temporary_;
  const std::string path_ = temporary_.path() + "/backups";
  const std::string target_ = temporary_.path() + "/target";
  ManualClock clock_;
  FileCheck check_ = [](const std::string&) { return Result<void>(); };
};

TEST_F(BackupFolderTest, RestoresWhatWasBackedUp) {
  ASSERT_TRUE(add(two_tables()));
  ASSERT_TRUE(restore());
  EXPECT_EQ(read_all(target_ + "/000001.sst"), Bytes(5 << 20, 'a'));
  EXPECT_EQ(read_all(target_ + "/000002.sst"), "second");
  EXPECT_EQ(read_all(target_ + "/CURRENT"), "MANIFEST-1\n");
  EXPECT_EQ(list_folder(target_).value().size(), 5U);
}

TEST_F(BackupFolderTest, CopiesOnlyFilesThatAreNew) {
  EXPECT_EQ(add(two_tables()).value().copied_files, 5U);
  auto files = two_tables();
  files.add("000003.sst", "third", "aa03");
  const auto second = add(files).value();
  EXPECT_EQ(second.copied_files, 4U);  // the new one, and those without a content id
  EXPECT_EQ(second.backup.files.size(), 6U);
  EXPECT_LT(second.copied_bytes, 100U);
  EXPECT_EQ(objects().size(), 6U);  // equal bytes are kept once
}

TEST_F(BackupFolderTest, DoesNotTakeAFileForAnotherThatHasItsName) {
  ASSERT_TRUE(add(two_tables()));
  Files other(8);
  other.add("000002.sst", "SECOND", "bb02");
  ASSERT_TRUE(add(other));
  ASSERT_TRUE(restore({}, 8));
  EXPECT_EQ(read_all(target_ + "/000002.sst"), "SECOND");
}

TEST_F(BackupFolderTest, AnInterruptedBackupIsNoneAndItsFilesAreUsedByTheNext) {
  auto files = two_tables();
  files.fails_at = 5;  // CURRENT and FORMAT, two parts of the first table, the second table, then
  EXPECT_FALSE(add(files));
  EXPECT_TRUE(open().list().value().empty());
  EXPECT_EQ(add(two_tables()).value().copied_files, 3U);
}

TEST_F(BackupFolderTest, WhatAnInterruptedBackupLeftGoesWhenNobodyNeedsIt) {
  auto files = two_tables();
  files.fails_at = 5;
  EXPECT_FALSE(add(files));
  Files other(8);
  EXPECT_GT(add(other).value().removed_bytes, 5U << 20);
  EXPECT_EQ(objects().size(), 2U);
}

TEST_F(BackupFolderTest, KeepsTheNewestBackups) {
  for (int i = 0; i < 4; ++i) {
    Files files(static_cast<std::uint64_t>(i));
    files.add("000009.sst", "number " + std::to_string(i), "cc0" + std::to_string(i));
    ASSERT_TRUE(add(files));
  }
  EXPECT_EQ(open().prune(2).value(), 2U);
  const auto left = open().list().value();
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0].backup->last_commit.value, 2U);
  EXPECT_EQ(objects().size(), 4U);
  ASSERT_TRUE(restore(left[0].id, 2));
  EXPECT_EQ(read_all(target_ + "/000009.sst"), "number 2");
}

TEST_F(BackupFolderTest, TwoBackupsInOneSecondAreInOrder) {
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(open().add(Files(i), "here", clock_, check_, {}));
  EXPECT_EQ(open().find({}).value().last_commit.value, 2U);
}

TEST_F(BackupFolderTest, KeepsTheBackupJustMadeThoughTheClockWasSetBack) {
  ASSERT_TRUE(add(two_tables()));
  const auto before = add(two_tables()).value().backup.id;
  clock_.advance(-std::chrono::hours(24));
  std::string last = before;
  for (int i = 0; i < 3; ++i) {
    const auto id = add(two_tables()).value().backup.id;
    EXPECT_GT(id, last);
    last = id;
  }
  ASSERT_TRUE(open().prune(1));
  const auto left = open().list().value();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].id, last);
  EXPECT_EQ(open().find({}).value().id, last);
}

TEST_F(BackupFolderTest, CountsOnlyWholeBackupsWhenItRemovesOlderOnes) {
  const auto whole = add(two_tables()).value().backup.id;
  const auto unreadable = add(two_tables()).value().backup.id;
  std::ofstream(path_ + "/backups/" + unreadable + ".manifest") << "nonsense";
  Files third(9);
  third.add("000009.sst", "ninth", "aa09");
  const auto incomplete = add(third).value().backup.id;
  for (const auto& name : objects()) {
    if (name.starts_with("aa09")) fs::remove(path_ + "/files/" + name);
  }
  EXPECT_EQ(open().prune(1).value(), 0U);
  ASSERT_TRUE(restore(whole));
  ASSERT_TRUE(add(two_tables()));
  EXPECT_EQ(open().prune(1).value(), 3U);
}

TEST_F(BackupFolderTest, CopiesAFileAgainThatIsDamagedInTheFolder) {
  ASSERT_TRUE(add(two_tables()));
  for (const auto& name : objects()) {
    if (name.starts_with("aa02")) std::ofstream(path_ + "/files/" + name) << "SeCoNd";
  }
  const auto trusting = open().add(two_tables(), "here", clock_, check_, {}, BackupFolder::Reuse::Trust);
  EXPECT_EQ(trusting.value().mended_files, 0U);
  EXPECT_EQ(open().verify({}, check_, {}).value().total_problems, 1U);
  const auto added = add(two_tables()).value();
  EXPECT_EQ(added.mended_files, 1U);
  EXPECT_EQ(added.copied_files, 4U);  // and those without a content id
  EXPECT_EQ(open().verify({}, check_, {}).value().total_problems, 0U);
  ASSERT_TRUE(restore());
  EXPECT_EQ(read_all(target_ + "/000002.sst"), "second");
}

TEST_F(BackupFolderTest, RestoresIntoFoldersThatItMakes) {
  ASSERT_TRUE(add(two_tables()));
  const auto folder = open();
  const auto deep = target_ + "/a/b/";
  ASSERT_TRUE(folder.restore(folder.find({}).value(), deep,
                             [&](const std::string&) { return Result<storage::CommitSequence>({7}); }, {}));
  EXPECT_EQ(read_all(deep + "000002.sst"), "second");
}

TEST_F(BackupFolderTest, RefusesToRestoreADamagedFileAndLeavesTheTargetAsItWas) {
  ASSERT_TRUE(add(two_tables()));
  for (const auto& name : objects()) {
    if (name.starts_with("aa02")) std::ofstream(path_ + "/files/" + name) << "sEcond";
  }
  const auto restored = restore();
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, ErrorCode::Corruption);
  EXPECT_NE(restored.error().message.find("000002.sst"), std::string::npos);
  EXPECT_FALSE(fs::exists(target_));
  const auto verified = open().verify({}, check_, {}).value();
  EXPECT_EQ(verified.total_problems, 1U);
  EXPECT_NE(verified.problems[0].find("its bytes have changed"), std::string::npos);
}

TEST_F(BackupFolderTest, FindsFilesThatAreMissingOrCutShort) {
  ASSERT_TRUE(add(two_tables()));
  for (const auto& name : objects()) {
    if (name.starts_with("aa02")) fs::remove(path_ + "/files/" + name);
    if (name.starts_with("aa01")) fs::resize_file(path_ + "/files/" + name, 100);
  }
  EXPECT_EQ(open().verify({}, check_, {}).value().total_problems, 2U);
  // And the next backup has them again.
  EXPECT_EQ(add(two_tables()).value().copied_files, 5U);
  EXPECT_EQ(open().verify({}, check_, {}).value().total_problems, 0U);
}

TEST_F(BackupFolderTest, RefusesAManifestThatWasChanged) {
  const auto id = add(two_tables()).value().backup.id;
  const auto path = path_ + "/backups/" + id + ".manifest";
  auto text = read_all(path);
  text[text.size() / 2] ^= 1;
  std::ofstream(path) << text;
  EXPECT_FALSE(open().list().value()[0].backup);
  EXPECT_FALSE(restore());
  // The files that it needs are not known, so nothing is removed.
  const auto before = objects();
  ASSERT_TRUE(add(Files(9)));
  EXPECT_EQ(objects(), before);
}

TEST_F(BackupFolderTest, DoesNotBackUpADamagedTableFile) {
  check_ = [](const std::string&) { return Result<void>(Error{ErrorCode::Corruption, "block 3"}); };
  const auto added = add(two_tables());
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message.find("000001.sst of the database is damaged"), std::string::npos);
  EXPECT_TRUE(open().list().value().empty());
}

TEST_F(BackupFolderTest, RefusesWhenTheRestoredDatabaseLacksCommits) {
  ASSERT_TRUE(add(two_tables()));
  EXPECT_FALSE(restore({}, 6));
  EXPECT_FALSE(fs::exists(target_));
}

TEST_F(BackupFolderTest, RestoresOnlyIntoAnEmptyFolder) {
  ASSERT_TRUE(add(two_tables()));
  fs::create_directory(target_);
  std::ofstream(target_ + "/letter") << "dear";
  const auto restored = restore();
  ASSERT_FALSE(restored);
  EXPECT_NE(restored.error().message.find("not empty"), std::string::npos);
  EXPECT_EQ(read_all(target_ + "/letter"), "dear");
}

TEST_F(BackupFolderTest, DoesNotUseAFolderThatHoldsSomethingElse) {
  fs::create_directory(path_);
  std::ofstream(path_ + "/letter") << "dear";
  EXPECT_FALSE(BackupFolder::open(path_, BackupFolder::Use::Write));
  EXPECT_EQ(list_folder(path_).value().size(), 1U);
  EXPECT_FALSE(BackupFolder::open(path_, BackupFolder::Use::Read));
}

TEST_F(BackupFolderTest, OneAtATimeWrites) {
  const auto first = open();
  const auto second = BackupFolder::open(path_, BackupFolder::Use::Write);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another stator process"), std::string::npos);
}

TEST_F(BackupFolderTest, OnlyTheOwnerMayReadIt) {
  ASSERT_TRUE(add(two_tables()));
  ASSERT_TRUE(restore());
  for (const auto& root : {path_, target_}) {
    struct stat state{};
    ASSERT_EQ(::stat(root.c_str(), &state), 0);
    EXPECT_EQ(state.st_mode & 0777, 0700U) << root;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      ASSERT_EQ(::stat(entry.path().c_str(), &state), 0);
      EXPECT_EQ(state.st_mode & 0077, 0U) << entry.path();
    }
  }
}

TEST_F(BackupFolderTest, EndsWhenItIsToldTo) {
  const auto added = open().add(two_tables(), "here", clock_, check_, [](auto, auto) { return false; });
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::Busy);
}

TEST(BackupManifest, IsWhatItWas) {
  const Backup backup{
      .id = "2026-01-15T10-00-00Z",
      .source = "http://127.0.0.1:8000",
      .last_commit = {258},
      .files = {{.name = "CURRENT", .size_bytes = 16, .checksum = std::string(32, 'a')},
                {.name = "000012.sst", .size_bytes = 1, .checksum = std::string(32, 'b'), .content_id = "c0"}}};
  const auto decoded = decode_manifest(encode_manifest(backup)).value();
  EXPECT_EQ(decoded.id, backup.id);
  EXPECT_EQ(decoded.last_commit.value, 258U);
  ASSERT_EQ(decoded.files.size(), 2U);
  EXPECT_EQ(decoded.files[1].object_name(), "c0-" + std::string(32, 'b') + "-1");
  EXPECT_EQ(parse_object_name(decoded.files[0].object_name()).value().checksum, std::string(32, 'a'));
}

TEST(BackupManifest, NamesNoFileElsewhere) {
  for (const auto* name : {"../x", "a/b", "", ".", "..", ".hidden", "/etc/passwd", "a\nb", "a b"}) {
    const Backup backup{.id = "x",
                        .source = {},
                        .last_commit = {},
                        .files = {{.name = name, .size_bytes = 1, .checksum = std::string(32, 'a')}}};
    EXPECT_FALSE(decode_manifest(encode_manifest(backup))) << name;
  }
  for (const auto* name : {"../x", "none", "none-x-1", "zz-aa-1", "none-aa-01", "none-aa-1x", "-aa-1"}) {
    EXPECT_FALSE(parse_object_name(name)) << name;
  }
}

TEST_F(BackupFolderTest, FollowsNoLinkAndWaitsForNobody) {
  ASSERT_TRUE(add(two_tables()));
  const auto pipe = path_ + "/backups/zz.manifest";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(open().list()->size(), 2U);
  EXPECT_FALSE(open().list()->back().backup) << "what is no file is no backup";
  std::filesystem::remove(pipe);
  const auto object = path_ + "/files/" + objects().front();
  std::filesystem::remove(object);
  std::filesystem::create_symlink("/dev/zero", object);
  EXPECT_FALSE(restore());
}

}  // namespace
}  // namespace stator::backup
