#include "stator/storage/rocksdb/log_sync.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "stator/storage/rocksdb/log_file.h"
#include "stator/storage/testing/temporary_folder.h"

namespace stator::storage {
namespace {

using rocksdb::FSWritableFile;

class RocksDbLogSync : public ::testing::Test {
 protected:
  std::unique_ptr<FSWritableFile> open(const std::string& name) {
    std::unique_ptr<FSWritableFile> file;
    EXPECT_TRUE(files.NewWritableFile(folder.path() + "/" + name, {}, &file, nullptr).ok());
    return file;
  }

  // Descriptors of logs that this process has, RocksDB's own among them.
  std::size_t open_logs() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
      if (target.find(folder.path()) != std::string::npos) ++count;
    }
    return count;
  }

  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  testing::TemporaryFolder folder;
  LogSync files{folder.path(), ::fdatasync};
};

TEST_F(RocksDbLogSync, SyncsWhatWasAppendedAlsoToAClosedLog) {
  auto first = open("000001.log");
  auto second = open("000002.log");
  EXPECT_TRUE(first->Append("one", {}, nullptr).ok());
  EXPECT_TRUE(second->Append("two", {}, nullptr).ok());
  first.reset();
  EXPECT_EQ(open_logs(), 3U) << "the closed log waits for its sync";
  EXPECT_TRUE(files.sync().ok());
  EXPECT_EQ(open_logs(), 2U);
  EXPECT_TRUE(files.sync().ok()) << "nothing to do";
}

TEST_F(RocksDbLogSync, KeepsNoRoomForALogThatIsClosedAndSynced) {
  auto log = open("000001.log");
  EXPECT_TRUE(log->Append("one", {}, nullptr).ok());
  EXPECT_TRUE(files.sync().ok());
  log.reset();
  EXPECT_EQ(open_logs(), 0U);
}

TEST_F(RocksDbLogSync, ForgetsClosedLogsOfADatabaseThatIsOpenedAgain) {
  auto log = open("000001.log");
  EXPECT_TRUE(log->Append("one", {}, nullptr).ok());
  log.reset();
  EXPECT_EQ(open_logs(), 1U);
  files.drop_closed();
  EXPECT_EQ(open_logs(), 0U);
}

TEST_F(RocksDbLogSync, LeavesTheCopyOfALogInACheckpointAlone) {
  std::filesystem::create_directory(folder.path() + "/copy");
  auto log = open("copy/000001.log");
  EXPECT_TRUE(log->Append("one", {}, nullptr).ok());
  log.reset();
  EXPECT_EQ(open_logs(), 0U);
}

TEST_F(RocksDbLogSync, OverwritesItsFillingAndCutsItOffAtTheEnd) {
  const auto path = folder.path() + "/000001.log";
  auto log = open("000001.log");
  const auto append = [&](const std::string& bytes) {
    EXPECT_TRUE(log->Append(bytes, {}, nullptr).ok());
    EXPECT_TRUE(files.sync().ok());
  };
  std::string expected;
  for (int i = 0; i < 30; ++i) {  // twice as much as one filling
    const std::string record(20'000, static_cast<char>('a' + i % 26));
    append(record);
    expected += record;
    const auto bytes = contents(path);
    ASSERT_EQ(bytes.substr(0, expected.size()), expected);
    ASSERT_EQ(bytes.find_first_not_of(kLogFilling, expected.size()), std::string::npos);
    ASSERT_LE(bytes.size(), expected.size() + LogSync::kFilledAhead);
    if (i == 0) {
      ASSERT_EQ(bytes.size(), expected.size() + LogSync::kFilledAhead);
    }
  }
  log.reset();
  EXPECT_EQ(contents(path), expected);
}

TEST_F(RocksDbLogSync, DoesNotFillALogThatIsNotSyncedOften) {
  auto log = open("000001.log");
  EXPECT_TRUE(log->Append(std::string(100'000, 'a'), {}, nullptr).ok());
  EXPECT_EQ(contents(folder.path() + "/000001.log").size(), 100'000U);
}

TEST_F(RocksDbLogSync, LeavesOtherFilesAlone) {
  const auto table = open("000003.sst");
  EXPECT_EQ(open_logs(), 1U);
}

}  // namespace
}  // namespace stator::storage
