#include "stator/storage/rocksdb/repair.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

#include "stator/storage/rocksdb/log_file.h"
#include "stator/storage/rocksdb/rocksdb_store.h"
#include "stator/storage/testing/contract.h"
#include "stator/storage/testing/temporary_folder.h"

namespace stator::storage {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

// 400 keys in table files, and 50 in the log.  Every commit counts in "count"; the first hundred keys are erased again.
class Folder {
 public:
  Folder() {
    commit(0, 200);
    commit(200, 400);
    Batch batch;
    batch.erase_range({key(0), key(100)});
    batch.add("count", -100);
    EXPECT_TRUE(open()->commit(std::move(batch)));
    EXPECT_EQ(open()->last_commit().value, 401U);
    commit(400, 450);
  }

  static Bytes key(int i) { return fmt::format("key{:05}", i); }
  const std::string& path() const { return folder_.path(); }
  std::unique_ptr<Store> open() const { return open_rocksdb_store({.path = path()}).value(); }
  void commit(int begin, int end) const {
    const auto store = open();
    for (int i = begin; i < end; ++i) {
      Batch batch;
      batch.put(key(i), Bytes(500, static_cast<char>('a' + i % 26)));
      batch.add("count", 1);
      EXPECT_TRUE(store->commit(std::move(batch)));
    }
  }
  fs::path largest(const std::string& end) const {
    fs::path found;
    for (const auto& entry : fs::directory_iterator(path())) {
      const auto name = entry.path().filename().string();
      if (!name.ends_with(end) && !name.starts_with(end)) continue;
      if (found.empty() || entry.file_size() > fs::file_size(found)) found = entry.path();
    }
    return found;
  }
  static void overwrite(const fs::path& file, std::uintmax_t at) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.write("\x5a\xa5\x5a\xa5", 4);
  }
  RepairReport repair(bool accept_loss = true) const {
    auto report = repair_folder(path(), {.accept_loss = accept_loss, .aside = "aside"});
    if (report) return std::move(*report);
    ADD_FAILURE() << report.error().message;
    return {};
  }
  // The keys that are there; all with the value they were given.
  int keys() const {
    const auto store = open();
    int count = 0;
    for (const auto& [found, value] : testing::entries(*store->snapshot(), KeyRange::prefix("key"))) {
      const int i = std::stoi(found.substr(3));
      EXPECT_GE(i, 100) << "was erased";
      EXPECT_EQ(value, Bytes(500, static_cast<char>('a' + i % 26)));
      ++count;
    }
    return count;
  }

 private:
  TemporaryFolder folder_;
};

TEST(RocksDbRepair, LeavesAFolderAloneThatIsWhole) {
  const Folder folder;
  const auto report = folder.repair();
  EXPECT_TRUE(report.damage.empty());
  EXPECT_FALSE(report.repaired);
  EXPECT_EQ(folder.keys(), 350);
}

TEST(RocksDbRepair, SavesTheCommitsBehindADamagedOne) {
  const Folder folder;
  const auto log = folder.largest(".log");
  Folder::overwrite(log, size_before_filling(log).value() / 2);
  EXPECT_FALSE(open_rocksdb_store({.path = folder.path()}));
  const auto looked = folder.repair(false);
  EXPECT_EQ(looked.commits_lost, 1U);
  EXPECT_FALSE(looked.repaired);
  const auto report = folder.repair();
  EXPECT_TRUE(report.repaired);
  EXPECT_EQ(report.commits_lost, 1U);
  EXPECT_EQ(report.commits_saved, 49U);
  EXPECT_EQ(folder.keys(), 349);
  EXPECT_EQ(folder.open()->last_commit().value, 451U) << "the number of a lost commit is not given out again";
  EXPECT_TRUE(fs::exists(fs::path(folder.path()) / "aside" / log.filename()));
}

TEST(RocksDbRepair, LosesNothingWithCurrentOrManifest) {
  for (const auto* name : {"CURRENT", "MANIFEST-"}) {
    SCOPED_TRACE(name);
    const Folder folder;
    const auto file = folder.largest(name);
    fs::resize_file(file, fs::file_size(file) / 2);
    EXPECT_FALSE(open_rocksdb_store({.path = folder.path()}));
    EXPECT_TRUE(folder.repair().repaired);
    EXPECT_EQ(folder.keys(), 350);
    EXPECT_EQ(decode_counter(folder.open()->get("count").value().value()).value(), 350);
    EXPECT_TRUE(folder.repair(false).damage.empty());
    EXPECT_TRUE(fs::exists(fs::path(folder.path()) / "aside" / file.filename()));
  }
}

// The offset of the last record of the manifest that names a table file, from which on it is overwritten.
void lose_last_flush(const Folder& folder, char with) {
  const auto manifest = folder.largest("MANIFEST-");
  std::uint64_t flush = 0;
  EXPECT_TRUE(read_log_file(manifest, RecordFile::Manifest,
                            {.record =
                                 [&](std::uint64_t offset, BytesView record) {
                                   if (record.find("key") != BytesView::npos) flush = offset;
                                 },
                             .damage = [](auto, auto) {}}));
  EXPECT_GT(flush, 0U);
  const auto end = fs::file_size(manifest);
  fs::resize_file(manifest, flush);
  std::ofstream(manifest, std::ios::binary | std::ios::app) << std::string(end - flush, with);
}

TEST(RocksDbRepair, LosesNoTableWhoseRecordInTheManifestIsOverwritten) {
  for (const char with : {'\xff', '\x5a'}) {
    for (const bool has_mark : {true, false}) {
      SCOPED_TRACE(fmt::format("{:x}, mark: {}", with & 0xff, has_mark));
      const Folder folder;
      lose_last_flush(folder, with);
      if (!has_mark) fs::remove(fs::path(folder.path()) / "MARK");
      const auto store = open_rocksdb_store({.path = folder.path()});
      ASSERT_FALSE(store);
      EXPECT_NE(store.error().message.find("MANIFEST-"), std::string::npos) << store.error().message;
      EXPECT_TRUE(folder.repair().repaired);
      EXPECT_EQ(folder.keys(), 350);
    }
  }
}

// As after a power cut on a full disk: the start left commits behind a hole out, and gave their numbers again.
TEST(RocksDbRepair, TakesNoCommitWhoseNumberWasGivenAgain) {
  const Folder folder;
  const auto log = folder.largest(".log");
  std::vector<std::uint64_t> records;
  EXPECT_TRUE(read_log_file(
      log, RecordFile::Log,
      {.record = [&](std::uint64_t offset, auto) { records.push_back(offset); }, .damage = [](auto, auto) {}}));
  ASSERT_EQ(records.size(), 50U);
  records.push_back(size_before_filling(log).value());
  ASSERT_LT(records.back(), 32768U) << "no record crosses a block";
  std::ostringstream text;
  text << std::ifstream(log, std::ios::binary).rdbuf();
  const auto part = [&](std::size_t begin, std::size_t end) {
    return text.str().substr(records[begin], records[end] - records[begin]);
  };
  std::ofstream(log, std::ios::binary) << part(0, 25) + part(28, 30);
  const auto newer = fs::path(folder.path()) / fmt::format("{:06}.log", std::stoi(log.stem().string()) + 1);
  std::ofstream(newer, std::ios::binary) << part(25, 50);
  Folder::overwrite(newer, records[40] - records[25] + 50);
  const auto report = folder.repair();
  EXPECT_EQ(report.commits_saved, 49U);
  EXPECT_EQ(folder.keys(), 349);
}

TEST(RocksDbRepair, KeepsTheWholeDatabaseAsideBeforeItReplaysTheLogs) {
  const Folder folder;
  const auto log = folder.largest(".log");
  Folder::overwrite(log, size_before_filling(log).value() / 2);
  // RocksDB deletes it, since the manifest does not name it.
  const auto unnamed = fs::path(folder.path()) / "000003.sst";
  fs::copy_file(folder.largest(".sst"), unnamed);
  std::vector<fs::path> before;
  for (const auto& file : fs::directory_iterator(folder.path())) {
    const auto name = file.path().filename();
    if (name != "FORMAT" && name != "LOCK" && name != "RESERVE") before.push_back(name);
  }
  EXPECT_TRUE(folder.repair().repaired);
  EXPECT_EQ(folder.keys(), 349);
  EXPECT_FALSE(fs::exists(unnamed));
  for (const auto& name : before) EXPECT_TRUE(fs::exists(fs::path(folder.path()) / "aside" / name)) << name;
}

TEST(RocksDbRepair, LosesOnlyTheKeysOfADamagedBlock) {
  const Folder folder;
  const auto table = folder.largest(".sst");
  Folder::overwrite(table, fs::file_size(table) / 3);
  const auto report = folder.repair();
  EXPECT_TRUE(report.repaired);
  ASSERT_EQ(report.ranges_lost.size(), 1U);
  const auto left = folder.keys();
  EXPECT_LT(left, 350);
  EXPECT_GT(left, 350 - 100);
  for (const auto& [found, value] : testing::entries(*folder.open()->snapshot(), report.ranges_lost.front())) {
    EXPECT_GE(found, Folder::key(400)) << "only the log, which is newer than all tables, has keys there";
  }
}

TEST(RocksDbRepair, NamesATableFileWhoseEndIsOverwrittenOnce) {
  const Folder folder;
  const auto table = folder.largest(".sst");
  for (const std::uintmax_t end : {200U, 20U}) {
    SCOPED_TRACE(end);
    for (auto at = fs::file_size(table) - end; at + 4 <= fs::file_size(table); at += 4) Folder::overwrite(table, at);
    const auto opened = open_rocksdb_store({.path = folder.path()});
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find(" is damaged: " + table.filename().string() + " is damaged: "),
              std::string::npos)
        << opened.error().message;
    EXPECT_EQ(opened.error().message.find("MANIFEST"), std::string::npos) << opened.error().message;
    const auto report = folder.repair(false);
    ASSERT_EQ(report.damage.size(), 1U);
    EXPECT_EQ(report.damage.front().file, table.filename().string());
    EXPECT_EQ(report.tables_lost, (std::vector<std::string>{table.filename().string()}));
  }
  EXPECT_TRUE(folder.repair().repaired);
  EXPECT_TRUE(open_rocksdb_store({.path = folder.path()}));
}

TEST(RocksDbRepair, GoesOnWithoutATableFileThatIsMissing) {
  const Folder folder;
  fs::remove(folder.largest(".sst"));
  EXPECT_FALSE(open_rocksdb_store({.path = folder.path()}));
  const auto looked = folder.repair(false);
  ASSERT_EQ(looked.ranges_lost.size(), 1U) << "the manifest knows what was in it";
  EXPECT_LE(looked.ranges_lost.front().begin, Folder::key(200));
  const auto report = folder.repair();
  EXPECT_TRUE(report.repaired);
  EXPECT_EQ(report.tables_lost.size(), 1U);
  EXPECT_GE(folder.keys(), 50);
}

// As it is when a repair has saved what it could, "saved" here, and has not moved anything to its place yet.
fs::path begin_repair(const Folder& folder) {
  const auto work = fs::path(folder.path()) / "repair.tmp";
  fs::create_directories(work);
  const auto store = open_rocksdb_store({.path = work.string() + "/new"}).value();
  Batch batch;
  batch.put("saved", "yes");
  EXPECT_TRUE(store->commit(std::move(batch)));
  std::ofstream(work / "READY") << "aside\nlost 451 40 3\ndamage 2 MANIFEST-000012 is cut short\ntable 000007.sst\n";
  return work;
}

// Moves the old database away, all but its MARK, as take_over() does.
void clear(const Folder& folder) {
  const fs::path path(folder.path());
  fs::create_directories(path / "aside");
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    const auto name = entry.path().filename().string();
    if (entry.is_regular_file() && name != "FORMAT" && name != "MARK" && name != "LOCK") files.push_back(entry.path());
  }
  for (const auto& file : files) fs::rename(file, path / "aside" / file.filename());
}

void expect_refusal(const Folder& folder) {
  for (const bool read_only : {false, true}) {
    const auto store = open_rocksdb_store({.path = folder.path(), .read_only = read_only});
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::Corruption);
    EXPECT_NE(store.error().message.find("stator repair --accept-loss --data " + folder.path()), std::string::npos)
        << store.error().message;
  }
}

TEST(RocksDbRepair, EndsWhatAnInterruptedRepairHasBegun) {
  for (const bool cleared : {false, true}) {
    const Folder folder;
    fs::resize_file(folder.largest("MANIFEST-"), 10);
    const auto work = begin_repair(folder);
    if (cleared) {
      clear(folder);
      std::ofstream(work / "CLEARED") << "\n";
      fs::remove(fs::path(folder.path()) / "MARK");
    } else {
      fs::create_directories(fs::path(folder.path()) / "aside");
      fs::rename(fs::path(folder.path()) / "CURRENT", fs::path(folder.path()) / "aside" / "CURRENT");
    }
    expect_refusal(folder);
    const auto looked = folder.repair(false);
    EXPECT_FALSE(looked.damage.empty());
    EXPECT_FALSE(looked.repaired);
    const auto report = folder.repair();
    EXPECT_TRUE(report.repaired);
    EXPECT_EQ(report.commits_lost, 3U) << "what the first run has lost is told by the second";
    EXPECT_EQ(report.tables_lost, std::vector<std::string>{"000007.sst"});
    ASSERT_EQ(report.damage.size(), 2U);
    EXPECT_EQ(report.damage[1].file, "MANIFEST-000012");
    EXPECT_EQ(report.damage[1].what, "is cut short");
    EXPECT_EQ(report.aside, "aside");
    EXPECT_EQ(folder.open()->get("saved").value(), "yes");
    EXPECT_FALSE(fs::exists(work));
  }
}

TEST(RocksDbRepair, StartsOverWhereAnEarlierOneHasMovedNothing) {
  const Folder folder;
  const auto work = begin_repair(folder);
  expect_refusal(folder);
  folder.repair();
  EXPECT_EQ(folder.keys(), 350) << "what was saved before must not replace a database that is in its place";
  EXPECT_FALSE(fs::exists(work));
}

TEST(RocksDbRepair, NeverTakesAFolderInPiecesForANewOne) {
  for (const auto* left : {"repair.tmp", "damaged-20260131-235959", "MANIFEST-000012"}) {
    SCOPED_TRACE(left);
    const TemporaryFolder folder;
    std::ofstream(folder.path() + "/FORMAT") << "stator-rocksdb 1\n";
    fs::create_directories(folder.path() + "/" + left);
    EXPECT_FALSE(open_rocksdb_store({.path = folder.path()}));
  }
}

TEST(RocksDbRepair, RefusesAFolderThatIsInUseOrIsNotADataFolder) {
  const Folder folder;
  const auto store = folder.open();
  const auto in_use = repair_folder(folder.path(), {});
  ASSERT_FALSE(in_use);
  EXPECT_EQ(in_use.error().code, ErrorCode::Usage);
  const TemporaryFolder other;
  const auto not_ours = repair_folder(other.path(), {.accept_loss = true});
  ASSERT_FALSE(not_ours);
  EXPECT_EQ(not_ours.error().code, ErrorCode::Usage);
}

}  // namespace
}  // namespace stator::storage
