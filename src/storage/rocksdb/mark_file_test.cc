#include "stator/storage/rocksdb/mark_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "stator/storage/testing/temporary_folder.h"

namespace stator::storage {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

const LiveFiles kFiles{
    .manifest = 7, .manifest_bytes = 4711, .relaxed = true, .tables = {{12, 1000}, {15, 2000}}, .logs = {16}};

void overwrite(const std::string& folder, std::streamoff at, const std::string& bytes) {
  std::fstream file(folder + "/MARK", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(at);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

TEST(MarkFile, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  {
    const auto mark = MarkFile::open(folder.path()).value();
    mark->acknowledge({41});
    mark->acknowledge({42});
    ASSERT_TRUE(mark->set_files(kFiles));
  }
  const auto read = MarkFile::read(folder.path());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->acknowledged, CommitSequence{42});
  EXPECT_EQ(read->files, kFiles);
}

TEST(MarkFile, IsReadWhileItIsWritten) {
  const TemporaryFolder folder;
  const auto mark = MarkFile::open(folder.path()).value();
  mark->acknowledge({42});
  EXPECT_EQ(MarkFile::read(folder.path())->acknowledged, CommitSequence{42}) << "without being closed, as after a kill";
}

TEST(MarkFile, HasTheBytesThatItsFormatSays) {
  const TemporaryFolder folder;
  MarkFile::open(folder.path()).value()->acknowledge({258});
  Bytes bytes(160, '\0');
  std::ifstream(folder.path() + "/MARK", std::ios::binary).read(bytes.data(), 160);
  EXPECT_EQ(bytes.substr(0, 12), Bytes("stator-mark\x01"));
  EXPECT_EQ(hex(bytes.substr(64, 16)), "02 01 00 00 00 00 00 00 73 c1 55 52 76 0a 14 a8");
}

TEST(MarkFile, KeepsWhatItSaidWhenItIsOpenedAgain) {
  const TemporaryFolder folder;
  MarkFile::open(folder.path()).value()->acknowledge({42});
  ASSERT_TRUE(MarkFile::open(folder.path()));
  EXPECT_EQ(MarkFile::read(folder.path())->acknowledged, CommitSequence{42});
}

TEST(MarkFile, FallsBackToTheValueBeforeOneThatIsTorn) {
  const TemporaryFolder folder;
  {
    const auto mark = MarkFile::open(folder.path()).value();
    mark->acknowledge({41});                        // the first slot
    mark->acknowledge({42});                        // the second
    ASSERT_TRUE(mark->set_files({.manifest = 1}));  // the second list
    ASSERT_TRUE(mark->set_files(kFiles));           // the first
  }
  overwrite(folder.path(), 128, "\x55");
  overwrite(folder.path(), 4096 + 12, "\x55\x55");
  const auto read = MarkFile::read(folder.path());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->acknowledged, CommitSequence{41});
  EXPECT_EQ(read->files->manifest, 1U);
}

TEST(MarkFile, IsNothingWhenItCannotBeRead) {
  const TemporaryFolder folder;
  EXPECT_FALSE(MarkFile::read(folder.path())) << "missing";
  MarkFile::open(folder.path()).value()->acknowledge({42});
  overwrite(folder.path(), 0, "s?ator");
  EXPECT_FALSE(MarkFile::read(folder.path())) << "of another kind";
  fs::resize_file(folder.path() + "/MARK", 0);
  EXPECT_FALSE(MarkFile::read(folder.path())) << "empty";
}

TEST(MarkFile, IsMadeWholeAgainWhenItIsOpened) {
  for (const std::uintmax_t size : {0U, 70U, 5000U}) {
    const TemporaryFolder folder;
    MarkFile::open(folder.path()).value()->acknowledge({42});
    fs::resize_file(folder.path() + "/MARK", size);
    const auto mark = MarkFile::open(folder.path());
    ASSERT_TRUE(mark);
    (*mark)->acknowledge({43});
    ASSERT_TRUE((*mark)->set_files(kFiles));
    EXPECT_EQ(MarkFile::read(folder.path())->acknowledged, CommitSequence{43});
    EXPECT_EQ(MarkFile::read(folder.path())->files, kFiles);
  }
}

TEST(MarkFile, IsMadeWholeAgainWhenItWasCutWhileItIsOpen) {
  for (const std::uintmax_t size : {0U, 70U, 5000U}) {
    SCOPED_TRACE(size);
    const TemporaryFolder folder;
    const auto mark = MarkFile::open(folder.path()).value();
    mark->acknowledge({42});
    fs::resize_file(folder.path() + "/MARK", size);
    mark->acknowledge({43});
    ASSERT_TRUE(MarkFile::read(folder.path()));
    EXPECT_EQ(MarkFile::read(folder.path())->acknowledged, CommitSequence{43});
    ASSERT_TRUE(mark->set_files(kFiles));
    EXPECT_EQ(MarkFile::read(folder.path())->files, kFiles);
  }
}

TEST(MarkFile, SaysWhenItsListIsNotComplete) {
  const TemporaryFolder folder;
  LiveFiles many;
  for (std::uint64_t i = 0; i < 20'000; ++i) many.tables.push_back({i, i});
  ASSERT_TRUE(MarkFile::open(folder.path()).value()->set_files(many));
  const auto read = MarkFile::read(folder.path());
  EXPECT_FALSE(read->files->complete);
  EXPECT_EQ(read->files->tables.front(), many.tables.front());
}

}  // namespace
}  // namespace stator::storage
