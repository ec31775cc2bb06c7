#include "stator/storage/rocksdb/log_file.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "stator/storage/rocksdb/folder_check.h"
#include "stator/storage/rocksdb/rocksdb_store.h"
#include "stator/storage/testing/temporary_folder.h"

namespace stator::storage {
namespace {

using testing::TemporaryFolder;

// A log that RocksDB wrote, with a commit of `sizes[i]` bytes for each, and without its filling.
class WrittenLog {
 public:
  explicit WrittenLog(const std::vector<std::size_t>& sizes) {
    const auto store = open_rocksdb_store({.path = folder_.path() + "/data"}).value();
    for (const auto size : sizes) {
      Batch batch;
      batch.put("key", Bytes(size, 'v'));
      EXPECT_TRUE(store->commit(std::move(batch)));
    }
    const auto name = log_name(FolderListing::of(folder_.path() + "/data").logs.back());
    std::ostringstream text;
    text << std::ifstream(folder_.path() + "/data/" + name, std::ios::binary).rdbuf();
    bytes = text.str();
    bytes.resize(size_before_filling(folder_.path() + "/data/" + name).value());
  }

  struct Reading {
    std::vector<std::uint64_t> commits;
    std::vector<std::uint64_t> damage;
  };
  Reading read() const {
    const auto path = folder_.path() + "/copy";
    std::ofstream(path, std::ios::binary) << bytes;
    Reading reading;
    EXPECT_TRUE(read_log_file(
        path, RecordFile::Log,
        {.record = [&](auto, BytesView record) { reading.commits.push_back(commit_of_record(record).value_or(0)); },
         .damage = [&](std::uint64_t offset, auto) { reading.damage.push_back(offset); }}));
    return reading;
  }

  Bytes bytes;

 private:
  TemporaryFolder folder_;
};

using Numbers = std::vector<std::uint64_t>;

TEST(RocksDbLogFile, ReadsEveryCommitThatRocksDbWrote) {
  const auto reading = WrittenLog({10, 100'000, 32'000, 0, 70'000, 5}).read();
  EXPECT_EQ(reading.commits, (Numbers{1, 2, 3, 4, 5, 6})) << "also those that cross blocks";
  EXPECT_TRUE(reading.damage.empty());
}

TEST(RocksDbLogFile, TellsWhereARecordIsDamagedAndReadsOnBehindIt) {
  WrittenLog log({10, 10, 10, 10});
  log.bytes[log.bytes.size() / 4 + 20] ^= '\x40';
  const auto reading = log.read();
  EXPECT_EQ(reading.commits, (Numbers{1, 3, 4}));
  EXPECT_EQ(reading.damage, (Numbers{log.bytes.size() / 4}));
}

TEST(RocksDbLogFile, FindsTheNextRecordWhenALengthIsDamaged) {
  WrittenLog log({10, 10, 10, 10});
  log.bytes[log.bytes.size() / 4 + 4] ^= '\x40';
  EXPECT_EQ(log.read().commits, (Numbers{1, 3, 4}));
}

TEST(RocksDbLogFile, LosesOnlyTheRecordThatCrossesADamagedBlock) {
  WrittenLog log({10, 100'000, 10});
  log.bytes[50'000] ^= '\x01';
  const auto reading = log.read();
  EXPECT_EQ(reading.commits, (Numbers{1, 3}));
  EXPECT_EQ(reading.damage.size(), 1U);
}

TEST(RocksDbLogFile, TellsARecordWithoutItsEnd) {
  WrittenLog log({10, 100'000});
  log.bytes.resize(60'000);
  const auto reading = log.read();
  EXPECT_EQ(reading.commits, (Numbers{1}));
  EXPECT_EQ(reading.damage.size(), 1U);
}

TEST(RocksDbLogFile, TakesTheFillingForTheEnd) {
  WrittenLog log({10, 10});
  log.bytes.append(100'000, kLogFilling);
  const auto reading = log.read();
  EXPECT_EQ(reading.commits, (Numbers{1, 2}));
  EXPECT_TRUE(reading.damage.empty());
}

TEST(RocksDbLogFile, TellsARecordThatTheFillingCutsOff) {
  WrittenLog log({10, 1000, 10});
  const auto begin = log.bytes.size() - 200;  // within the second record
  log.bytes.resize(begin);
  log.bytes.append(100'000, kLogFilling);
  const auto reading = log.read();
  EXPECT_EQ(reading.commits, (Numbers{1}));
  EXPECT_EQ(reading.damage.size(), 1U);
}

TEST(RocksDbLogFile, TakesZerosForDamage) {
  WrittenLog log({10, 10});
  log.bytes.append(100'000, '\0');
  const auto end = log.bytes.size() - 100'000;
  const auto reading = log.read();
  EXPECT_EQ(reading.commits, (Numbers{1, 2}));
  EXPECT_EQ(reading.damage, (Numbers{end}));
}

TEST(RocksDbLogFile, WritesAgainWhatMayNotBeOnDisk) {
  const TemporaryFolder folder;
  const auto path = folder.path() + "/copy";
  const auto bytes = WrittenLog({10, 100'000, 10, 10}).bytes + std::string(5000, kLogFilling);
  std::ofstream(path, std::ios::binary) << bytes;
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto synced : Numbers{4, 3, 1, 0}) {
    std::filesystem::last_write_time(path, long_ago);
    EXPECT_TRUE(write_log_again(path, synced));
    EXPECT_EQ(std::filesystem::last_write_time(path) == long_ago, synced == 4);
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    EXPECT_EQ(text.str(), bytes);
  }
}

}  // namespace
}  // namespace stator::storage
