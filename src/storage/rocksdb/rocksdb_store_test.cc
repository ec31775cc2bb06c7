#include "stator/storage/rocksdb/rocksdb_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include "stator/storage/testing/contract.h"
#include "stator/storage/testing/temporary_folder.h"

namespace stator::storage {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

class RocksDbPlace final : public testing::StorePlace {
 public:
  explicit RocksDbPlace(RocksDbOptions options) : options_(std::move(options)) {
    options_.path = folder_.path() + "/data";
  }
  std::unique_ptr<Store> open() override {
    auto store = open_rocksdb_store(options_);
    if (!store) {
      ADD_FAILURE() << store.error().message;
      return nullptr;
    }
    return std::move(*store);
  }

 private:
  TemporaryFolder folder_;
  RocksDbOptions options_;
};

testing::NewPlace place_with(const RocksDbOptions& options) {
  return [options] { return std::make_unique<RocksDbPlace>(options); };
}

const auto synced_place = place_with({.path = {}});
const auto relaxed_place = place_with({.path = {}, .durability = Durability::Relaxed});
// Small buffers, so that data moves through flushes and compactions while a test runs.
const RocksDbOptions kBusy{
    .path = {}, .durability = Durability::Relaxed, .block_cache_bytes = 1 << 20, .write_buffer_bytes = 64 << 10};
const auto busy_place = place_with(kBusy);

const bool registered = testing::register_contract_tests("RocksDbStoreContract", synced_place) &&
                        testing::register_contract_tests("RelaxedRocksDbStoreContract", relaxed_place);

TEST(RocksDbStore, BehavesLikeAMap) {
  for (const auto seed : testing::seeds(20)) testing::expect_same_as_map(relaxed_place, seed);
}

TEST(RocksDbStore, BehavesLikeAMapWhileItCompacts) {
  for (const auto seed : testing::seeds(20)) testing::expect_same_as_map(busy_place, seed);
}

TEST(RocksDbStore, KeepsSnapshotsWholeUnderWrites) {
  testing::expect_snapshots_whole_under_writes(busy_place, 2, 1000);
}

Result<CommitSequence> put(Store& store, Bytes key, Bytes value) {
  Batch batch;
  batch.put(std::move(key), std::move(value));
  return store.commit(std::move(batch));
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(RocksDbStore, CreatesAMissingFolderWithItsFormat) {
  const TemporaryFolder folder;
  const auto path = folder.path() + "/a/b";
  ASSERT_TRUE(open_rocksdb_store({.path = path}));
  EXPECT_EQ(read_file(path + "/FORMAT"), "stator-rocksdb 1\n");
}

TEST(RocksDbStore, RefusesANewerFormatBeforeItTouchesAnything) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/FORMAT") << "stator-rocksdb 2\n";
  const auto store = open_rocksdb_store({.path = folder.path()});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::Usage);
  EXPECT_EQ(store.error().message,
            fmt::format("data folder {} has format 2, and this stator reads formats up to 1: use a newer stator",
                        folder.path()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(RocksDbStore, RefusesFoldersThatAreNotItsOwn) {
  struct Case {
    const char *file, *content, *message;
  };
  for (const auto& [file, content, message] :
       {Case{"FORMAT", "something else\n", "data folder {} has a FORMAT file that stator did not write"},
        Case{"FORMAT", "", "data folder {} has a FORMAT file that stator did not write"},
        Case{"CURRENT", "MANIFEST-000001\n",
             "data folder {} holds a RocksDB database that is not stator's: it has no FORMAT file"}}) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() + "/" + file) << content;
    const auto store = open_rocksdb_store({.path = folder.path()});
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::Usage);
    EXPECT_EQ(store.error().message, fmt::format(fmt::runtime(message), folder.path()));
  }
}

TEST(RocksDbStore, FollowsNoLinkInItsFolder) {
  for (const auto* name : {"FORMAT", "FORMAT.new", "RESERVE", "PROBE", "MARK", "MANIFEST-000012", "000012.dbtmp"}) {
    SCOPED_TRACE(name);
    const TemporaryFolder folder;
    const TemporaryFolder other;
    const auto target = other.path() + "/target";
    std::ofstream(target) << "precious";
    std::filesystem::create_directories(folder.path());
    std::filesystem::create_symlink(target, folder.path() + "/" + name);
    const auto store = open_rocksdb_store({.path = folder.path()});
    ASSERT_FALSE(store);
    EXPECT_NE(store.error().message.find(std::string(name) + " is a link"), std::string::npos) << store.error().message;
    std::string left;
    std::getline(std::ifstream(target), left);
    EXPECT_EQ(left, "precious");
  }
}

TEST(RocksDbStore, LeavesNothingOfRootInAFolderOfSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make such a folder";
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path());
  constexpr uid_t kSomebody = 4711;
  ASSERT_EQ(::chown(folder.path().c_str(), kSomebody, kSomebody), 0);
  {
    const auto store = open_rocksdb_store({.path = folder.path()}).value();
    Batch batch;
    batch.put("key", "value");
    ASSERT_TRUE(store->commit(std::move(batch)));
  }
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    struct stat status{};
    ASSERT_EQ(::lstat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, kSomebody) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 5);
}

TEST(RocksDbStore, SaysWhenItsFolderIsInUse) {
  const TemporaryFolder folder;
  const auto first = open_rocksdb_store({.path = folder.path()});
  ASSERT_TRUE(first);
  const auto in_this_process = open_rocksdb_store({.path = folder.path()});
  ASSERT_FALSE(in_this_process);
  EXPECT_EQ(in_this_process.error().code, ErrorCode::Usage);
  EXPECT_EQ(in_this_process.error().message,
            fmt::format("data folder {} is in use by another stator process", folder.path()));
}

TEST(RocksDbStore, SaysWhenItsFolderCannotBeCreated) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "not a folder";
  const auto store = open_rocksdb_store({.path = folder.path() + "/file/data"});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::Usage);
  EXPECT_EQ(store.error().message,
            fmt::format("cannot create data folder {}/file/data: Not a directory", folder.path()));
}

TEST(RocksDbStore, HidesItsOwnKeys) {
  const TemporaryFolder folder;
  const auto store = open_rocksdb_store({.path = folder.path()});
  ASSERT_TRUE(store);
  ASSERT_TRUE(put(**store, "\x01", "lowest"));
  EXPECT_EQ((*store)->get(BytesView("\0seq", 4))->has_value(), false);
  for (const auto direction : {Direction::Forward, Direction::Backward}) {
    EXPECT_EQ(testing::entries(*(*store)->snapshot(), {}, direction), (testing::Entries{{"\x01", "lowest"}}));
    EXPECT_TRUE(testing::entries(*(*store)->snapshot(), {Bytes(1, '\0'), Bytes("\0t", 2)}, direction).empty());
  }
  Batch batch;
  batch.erase_range({Bytes("\0seq", 4), {}});
  ASSERT_TRUE((*store)->commit(std::move(batch)));
  EXPECT_TRUE(testing::entries(*(*store)->snapshot()).empty());
}

TEST(RocksDbStore, CountsItsSyncs) {
  const TemporaryFolder folder;
  const auto store = open_rocksdb_store({.path = folder.path()});
  ASSERT_TRUE(store);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(put(**store, "k", "v"));
  EXPECT_EQ((*store)->statistics().syncs, 3U);
}

TEST(RelaxedRocksDbStore, SyncsInTheBackground) {
  const TemporaryFolder folder;
  const auto store = open_rocksdb_store(
      {.path = folder.path(), .durability = Durability::Relaxed, .sync_interval = std::chrono::milliseconds(1)});
  ASSERT_TRUE(store);
  ASSERT_TRUE(put(**store, "k", "v"));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while ((*store)->statistics().syncs == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ((*store)->statistics().syncs, 1U);
}

TEST(RelaxedRocksDbStore, SyncsWhenAskedTo) {
  const TemporaryFolder folder;
  const auto store = open_rocksdb_store(
      {.path = folder.path(), .durability = Durability::Relaxed, .sync_interval = std::chrono::hours(1)});
  ASSERT_TRUE(store);
  ASSERT_TRUE(put(**store, "k", "v"));
  EXPECT_EQ((*store)->statistics().syncs, 0U);
  ASSERT_TRUE((*store)->sync());
  ASSERT_TRUE((*store)->sync()) << "nothing left to sync";
  EXPECT_EQ((*store)->statistics().syncs, 1U);
}

// --- A disk that fails: no file may grow beyond a limit for a while.  In a process of its own, because the limit is
// the process's, and because the store must also survive being killed afterwards.

void limit_files(rlim_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

#define REQUIRE(condition)                                       \
  do {                                                           \
    if (!(condition)) {                                          \
      fmt::print(stderr, "line {}: {}\n", __LINE__, #condition); \
      ::_exit(1);                                                \
    }                                                            \
  } while (false)

// Commits until the disk fails, recovers, goes on, and dies without closing.  Leaves what was acknowledged in `log`.
[[noreturn]] void fail_and_recover(const RocksDbOptions& options, const std::string& log, rlim_t limit) {
  ::signal(SIGXFSZ, SIG_IGN);
  auto opened = open_rocksdb_store(options);
  REQUIRE(opened);
  auto& store = **opened;
  std::ofstream acknowledged(log);
  int next = 0;
  const auto commit = [&]() -> bool {
    const auto key = fmt::format("key{:05}", next++);
    Batch batch;
    batch.put(key, Bytes(1000, 'v'));
    batch.add("count", 1);
    if (!store.commit(std::move(batch))) return false;
    acknowledged << key << "\n";
    return true;
  };
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 200; ++i) REQUIRE(commit());
    limit_files(limit);
    bool failed = false;
    for (int i = 0; i < 2000 && !failed; ++i) failed = !commit();
    REQUIRE(failed);
    const auto last = store.last_commit();
    REQUIRE(!commit());  // read-only from now on
    REQUIRE(store.last_commit() == last);
    const auto before = store.get("key00000");
    REQUIRE(before && before->has_value());
    {
      const auto snapshot = store.snapshot();
      REQUIRE(!testing::entries(*snapshot).empty());
      REQUIRE(!store.recover());
      limit_files(RLIM_INFINITY);
      REQUIRE(!store.recover());  // not under an open snapshot
      REQUIRE(snapshot->get("key00000")->has_value());
    }
    const auto recovered = store.recover();
    if (!recovered) fmt::print(stderr, "{}\n", recovered.error().message);
    REQUIRE(recovered);
    REQUIRE(store.last_commit() == last || store.last_commit().value == last.value + 1);
    REQUIRE(commit());
  }
  acknowledged.flush();
  ::_exit(0);
}

// The child is this program started again, and runs up to the same line; it finds the folder by this variable.
constexpr const char* kFolderVariable = "STATOR_TEST_FOLDER";

void expect_nothing_lost(const RocksDbOptions& options, rlim_t limit) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  std::optional<TemporaryFolder> folder;
  if (std::getenv(kFolderVariable) == nullptr) {
    folder.emplace();
    ::setenv(kFolderVariable, folder->path().c_str(), 1);
  }
  const std::string path = std::getenv(kFolderVariable);
  auto in_folder = options;
  in_folder.path = path + "/data";
  const auto log = path + "/acknowledged";
  EXPECT_EXIT(fail_and_recover(in_folder, log, limit), ::testing::ExitedWithCode(0), "");
  ::unsetenv(kFolderVariable);

  const auto store = open_rocksdb_store(in_folder);
  ASSERT_TRUE(store) << store.error().message;
  std::ifstream keys(log);
  std::string key;
  std::size_t count = 0;
  while (std::getline(keys, key)) {
    ++count;
    const auto value = (*store)->get(key);
    ASSERT_TRUE(value) << value.error().message;
    EXPECT_TRUE(value->has_value()) << key << " was acknowledged and is gone";
  }
  EXPECT_GT(count, 600U);
  // Every commit is there with both of its changes or with neither.
  const auto counter = decode_counter((*store)->get("count").value().value());
  ASSERT_TRUE(counter);
  EXPECT_EQ(static_cast<std::size_t>(*counter),
            testing::entries(*(*store)->snapshot(), KeyRange::prefix("key")).size());
}

TEST(FailingDisk, LosesNothingThatWasAcknowledged) { expect_nothing_lost({.path = {}}, 300'000); }

TEST(FailingDisk, LosesNothingWhenRelaxed) {
  expect_nothing_lost({.path = {}, .durability = Durability::Relaxed}, 300'000);
}

TEST(FailingDisk, LosesNothingWhileItCompacts) { expect_nothing_lost(kBusy, 30'000); }

// --- Bytes that changed on disk.

TEST(RocksDbStore, NoticesChangedBytes) {
  const TemporaryFolder folder;
  const RocksDbOptions options{
      .path = folder.path(), .durability = Durability::Relaxed, .write_buffer_bytes = 64 << 10};
  {
    const auto store = open_rocksdb_store(options);
    ASSERT_TRUE(store);
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(put(**store, fmt::format("key{:05}", i), Bytes(1000, 'v')));
  }
  for (const auto& file : fs::directory_iterator(folder.path())) {
    if (file.path().extension() != ".sst") continue;
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(100);
    bytes.write("\x5a\x5a\x5a\x5a", 4);
  }
  const auto store = open_rocksdb_store(options);
  if (!store) {
    EXPECT_EQ(store.error().code, ErrorCode::Corruption);
    return;
  }
  bool noticed = false;
  for (int i = 0; i < 500; ++i) {
    const auto value = (*store)->get(fmt::format("key{:05}", i));
    if (!value) {
      EXPECT_EQ(value.error().code, ErrorCode::Corruption) << value.error().message;
      noticed = true;
    } else {
      EXPECT_TRUE(value->has_value());
    }
  }
  EXPECT_TRUE(noticed);
}

// A store with commits in a table file and in its log, as a kill leaves it.
class KilledStore {
 public:
  explicit KilledStore(Durability durability = Durability::Sync) {
    options_ = {.path = folder_.path() + "/live", .durability = durability, .sync_interval = std::chrono::hours(1)};
    const auto fill = [](Store& store, const std::string& prefix) {
      std::mt19937 random(1);  // so that a table file has many blocks
      for (int i = 0; i < 50; ++i) {
        Bytes value(1000, '\0');
        for (auto& byte : value) byte = static_cast<char>(random());
        EXPECT_TRUE(put(store, fmt::format("{}{:03}", prefix, i), std::move(value)));
      }
    };
    fill(*open_rocksdb_store(options_).value(), "table");
    const auto store = open_rocksdb_store(options_).value();  // what was in the log becomes a table
    fill(*store, "log");
    // RocksDB deletes in the background what it no longer needs; between that, the folder is as a kill would leave it.
    bool copied = false;
    for (int tries = 0; !copied && tries < 1000; ++tries) {
      std::error_code failed;
      fs::remove_all(path());
      const auto before = names_in(options_.path);
      fs::copy(options_.path, path(), failed);
      copied = !failed && names_in(options_.path) == before;
    }
    EXPECT_TRUE(copied);
  }

  std::string path() const { return folder_.path() + "/killed"; }
  fs::path file(const std::string& end) const {
    for (const auto& entry : fs::directory_iterator(path())) {
      const auto name = entry.path().filename().string();
      if (name.ends_with(end) || name.starts_with(end)) return entry.path();
    }
    ADD_FAILURE() << "no " << end;
    return {};
  }
  void flip(const fs::path& name, std::uintmax_t at) const {
    std::fstream bytes(name, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(at));
    const auto byte = static_cast<char>(bytes.get() ^ 0x55);
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(byte);
  }
  Result<std::unique_ptr<Store>> open() const {
    auto options = options_;
    options.path = path();
    return open_rocksdb_store(options);
  }
  std::vector<std::string> names() const { return names_in(path()); }

 private:
  static std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder)) all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }

  TemporaryFolder folder_;
  RocksDbOptions options_;
};

TEST(DamagedRocksDbStore, OpensAfterAKillWithoutAWord) {
  const KilledStore killed;
  const auto store = killed.open();
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->last_commit(), CommitSequence{100});
}

TEST(DamagedRocksDbStore, RefusesALogThatLostItsEnd) {
  const KilledStore killed;
  const auto log = killed.file(".log");
  fs::resize_file(log, fs::file_size(log) / 2);
  const auto before = killed.names();
  const auto store = killed.open();
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::Corruption);
  EXPECT_NE(store.error().message.find(log.filename().string()), std::string::npos) << store.error().message;
  EXPECT_NE(store.error().message.find("to 100 are missing"), std::string::npos) << store.error().message;
  EXPECT_NE(store.error().message.find("stator repair --accept-loss"), std::string::npos);
  EXPECT_EQ(killed.names(), before);
}

TEST(DamagedRocksDbStore, TakesATornRecordAboveTheMarkForNoLoss) {
  const KilledStore killed;
  std::ofstream(killed.file(".log"), std::ios::app | std::ios::binary)
      << "the beginning of a commit that was never answered";
  const auto store = killed.open();
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->last_commit(), CommitSequence{100});
}

TEST(DamagedRocksDbStore, SeesWithoutAMarkThatAValidRecordIsBehindABadOne) {
  const KilledStore killed;
  fs::remove(killed.path() + "/MARK");
  killed.flip(killed.file(".log"), 2000);
  EXPECT_FALSE(killed.open());
}

TEST(DamagedRocksDbStore, OpensAFolderThatHasNoMarkYet) {
  const KilledStore killed;
  fs::remove(killed.path() + "/MARK");
  ASSERT_TRUE(killed.open());
  EXPECT_TRUE(fs::exists(killed.path() + "/MARK"));
}

TEST(DamagedRocksDbStore, DoesNotPromiseWhatWasNotSyncedWhenRelaxed) {
  const KilledStore killed(Durability::Relaxed);  // its mark is at the last commit of the table file
  const auto log = killed.file(".log");
  fs::resize_file(log, fs::file_size(log) / 2);
  const auto store = killed.open();
  ASSERT_TRUE(store) << "as after a power cut: " << store.error().message;
  EXPECT_GE((*store)->last_commit(), CommitSequence{50});
}

TEST(DamagedRocksDbStore, RefusesAManifestThatLostItsEnd) {
  const KilledStore killed;
  const auto manifest = killed.file("MANIFEST-");
  fs::resize_file(manifest, fs::file_size(manifest) - 20);
  const auto before = killed.names();
  const auto store = killed.open();
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message.find(manifest.filename().string()), std::string::npos) << store.error().message;
  EXPECT_EQ(killed.names(), before) << "RocksDB would have deleted the tables";
}

TEST(DamagedRocksDbStore, StaysReadOnlyAndNamesTheFileWhenABlockIsDamaged) {
  const KilledStore killed;
  const auto table = killed.file(".sst");
  killed.flip(table, fs::file_size(table) / 2);
  const auto opened = killed.open();
  ASSERT_TRUE(opened) << opened.error().message;
  auto& store = **opened;
  EXPECT_EQ(store.health().trouble, StoreTrouble::None) << "nobody has read it yet";
  int unreadable = 0;
  for (int i = 0; i < 50; ++i) unreadable += store.get(fmt::format("table{:03}", i)).ok() ? 0 : 1;
  EXPECT_GT(unreadable, 0);
  EXPECT_LT(unreadable, 10) << "only what is in that block";
  const auto health = store.health();
  EXPECT_EQ(health.trouble, StoreTrouble::Damaged);
  EXPECT_EQ(health.file, table.filename().string());
  EXPECT_LE(health.keys.begin, BytesView("table000"));
  EXPECT_GT(health.keys.end, BytesView("table049"));
  EXPECT_EQ(put(store, "k", "v").error().code, ErrorCode::Corruption);
  EXPECT_EQ(store.recover().error().code, ErrorCode::Corruption) << "opening it again would mend nothing";
  EXPECT_TRUE(store.get("log000")->has_value()) << "other data can be read";
}

TEST(RocksDbStore, AnswersCorruptionForASumOverWhatIsNoCounter) {
  const TemporaryFolder folder;
  const auto store = open_rocksdb_store({.path = folder.path()});
  ASSERT_TRUE(store);
  ASSERT_TRUE(put(**store, "k", "no counter"));
  Batch batch;
  batch.add("k", 1);
  ignore_error((*store)->commit(std::move(batch)), "found out now or when it is read");
  const auto value = (*store)->get("k");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::Corruption);
}

}  // namespace
}  // namespace stator::storage
