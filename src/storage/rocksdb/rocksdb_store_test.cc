#include "stator/storage/rocksdb/rocksdb_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <sstream>
#include <system_error>
#include <thread>

#include "stator/storage/rocksdb/log_file.h"
#include "stator/storage/rocksdb/mark_file.h"
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
// The cache of ranges is too small for the data.
const auto evicting_place = place_with({.path = {},
                                        .durability = Durability::Relaxed,
                                        .block_cache_bytes = 1 << 20,
                                        .write_buffer_bytes = 64 << 10,
                                        .range_cache_bytes = 20'000});

const bool registered = testing::register_contract_tests("RocksDbStoreContract", synced_place) &&
                        testing::register_contract_tests("RelaxedRocksDbStoreContract", relaxed_place);

TEST(RocksDbStore, BehavesLikeAMap) {
  for (const auto seed : testing::seeds(20)) testing::expect_same_as_map(relaxed_place, seed);
}

TEST(RocksDbStore, BehavesLikeAMapWhileItCompacts) {
  for (const auto seed : testing::seeds(20)) testing::expect_same_as_map(busy_place, seed);
}

TEST(RocksDbStore, BehavesLikeAMapWhileItEvicts) {
  for (const auto seed : testing::seeds(20)) testing::expect_same_as_map(evicting_place, seed);
}

TEST(RocksDbStore, KeepsSnapshotsWholeUnderWrites) {
  testing::expect_snapshots_whole_under_writes(busy_place, 2, 1000);
  testing::expect_snapshots_whole_under_writes(evicting_place, 2, 1000);
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

TEST(RocksDbStore, SyncsItsLogForEveryCommit) {
  const TemporaryFolder folder;
  int syncs = 0;
  const auto store = open_rocksdb_store({.path = folder.path() + "/data",
                                         .sync_file =
                                             [&](int file) {
                                               ++syncs;
                                               return ::fdatasync(file);
                                             }})
                         .value();
  for (int i = 1; i <= 3; ++i) {
    EXPECT_TRUE(put(*store, "k", "v"));
    EXPECT_EQ(syncs, i);
  }
}

// The disk reports an error once, and then takes what comes later.
TEST(RocksDbStore, PublishesNothingThatWasWrittenBehindAFailedSync) {
  const TemporaryFolder folder;
  std::function<int()> fail;
  const auto store =
      open_rocksdb_store({.path = folder.path() + "/data",
                          .sync_file = [&](int file) { return fail ? std::exchange(fail, {})() : ::fdatasync(file); }})
          .value();
  const auto write = [&](Bytes key) {
    Batch batch;
    batch.put(std::move(key), "new");
    return store->write(std::move(batch));
  };
  ASSERT_TRUE(put(*store, "a", "old"));
  const auto first = write("a").value();
  CommitSequence second;
  fail = [&] {
    std::thread([&] { second = write("b").value(); }).join();  // as another thread does while the disk is busy
    errno = EIO;
    return -1;
  };
  EXPECT_FALSE(store->publish(first));
  EXPECT_GT(second, first);
  EXPECT_FALSE(store->publish(second)) << "the disk may not have what it was built on";
  EXPECT_EQ(store->get("a").value(), "old");
  EXPECT_EQ(store->get("b").value(), std::nullopt);
  EXPECT_FALSE(write("c")) << "read-only";
  ASSERT_TRUE(store->recover());
  EXPECT_EQ(store->get("a").value(), store->last_commit() >= first ? "new" : "old");
  EXPECT_TRUE(put(*store, "c", "1"));
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
class FailAndRecover {
 public:
  // With `in_two_steps`, one thread writes while another publishes.
  [[noreturn]] static void run(const RocksDbOptions& options, const std::string& log, rlim_t limit, bool in_two_steps) {
    ::signal(SIGXFSZ, SIG_IGN);  // as the program does
    auto opened = open_rocksdb_store(options);
    REQUIRE(opened);
    FailAndRecover(**opened, log, limit).rounds(in_two_steps);
    ::_exit(0);
  }

 private:
  FailAndRecover(Store& store, const std::string& log, rlim_t limit) : store_(store), log_(log), limit_(limit) {}

  Batch next_batch(std::string& key) {
    key = fmt::format("key{:05}", next_++);
    Batch batch;
    batch.put(key, Bytes(1000, 'v'));
    batch.add("count", 1);
    return batch;
  }

  bool commit() {
    std::string key;
    if (!store_.commit(next_batch(key))) return false;
    log_ << key << "\n";
    return true;
  }

  // Publishes up to the last write that went well; the log has what was published.
  void write_until_it_fails() {
    struct Written {
      std::string key;
      CommitSequence sequence;
    };
    Mutex mutex;
    std::deque<Written> waiting;
    bool over = false;
    std::thread publisher([&] {
      for (;;) {
        std::deque<Written> some;
        bool last = false;
        {
          MutexLock lock(mutex);
          some.swap(waiting);
          last = over;
        }
        if (!some.empty() && store_.publish(some.back().sequence)) {
          for (const auto& written : some) log_ << written.key << "\n";
        }
        if (last && some.empty()) return;
        std::this_thread::yield();
      }
    });
    for (int i = 0; i < 20'000; ++i) {
      std::string key;
      const auto sequence = store_.write(next_batch(key));
      if (!sequence) break;
      MutexLock lock(mutex);
      waiting.push_back({key, *sequence});
    }
    {
      MutexLock lock(mutex);
      over = true;
    }
    publisher.join();
  }

  void rounds(bool in_two_steps) {
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 200; ++i) REQUIRE(commit());
      limit_files(limit_);
      if (in_two_steps) {
        write_until_it_fails();
      } else {
        bool failed = false;
        for (int i = 0; i < 2000 && !failed; ++i) failed = !commit();
        REQUIRE(failed);
      }
      const auto last = store_.last_commit();
      REQUIRE(!commit());  // read-only from now on
      REQUIRE(store_.health().trouble == StoreTrouble::DiskFailing);
      REQUIRE(store_.last_commit() == last);
      const auto before = store_.get("key00000");
      REQUIRE(before && before->has_value());
      {
        const auto snapshot = store_.snapshot();
        REQUIRE(!testing::entries(*snapshot).empty());
        REQUIRE(!store_.recover());
        limit_files(RLIM_INFINITY);
        REQUIRE(!store_.recover());  // not under an open snapshot
        REQUIRE(snapshot->get("key00000")->has_value());
      }
      const auto recovered = store_.recover();
      if (!recovered) fmt::print(stderr, "{}\n", recovered.error().message);
      REQUIRE(recovered);
      REQUIRE(store_.last_commit() >= last);
      REQUIRE(in_two_steps || store_.last_commit().value <= last.value + 1);
      REQUIRE(commit());
    }
    log_.flush();
  }

  Store& store_;
  std::ofstream log_;
  const rlim_t limit_;
  int next_ = 0;
};

// The child is this program started again, and runs up to the same line; it finds the folder by this variable.
constexpr const char* kFolderVariable = "STATOR_TEST_FOLDER";

void expect_nothing_lost(const RocksDbOptions& options, rlim_t limit, bool in_two_steps = false) {
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
  EXPECT_EXIT(FailAndRecover::run(in_folder, log, limit, in_two_steps), ::testing::ExitedWithCode(0), "");
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

TEST(FailingDisk, LosesNothingThatWasPublishedWhileAnotherThreadWrote) {
  expect_nothing_lost({.path = {}}, 300'000, /*in_two_steps=*/true);
}

TEST(FailingDisk, LosesNothingWhileItCompacts) { expect_nothing_lost(kBusy, 30'000); }

// --- A disk that cannot sync some files.  The functions that RocksDB calls for it are replaced in this program.

std::atomic<bool> syncs_fail = false;  // of logs and manifests

int sync_unless_it_fails(int file, long call) {
  if (syncs_fail) {
    std::error_code unknown;
    const auto path = fs::read_symlink(fmt::format("/proc/self/fd/{}", file), unknown);
    if (path.extension() == ".log" || path.filename().string().starts_with("MANIFEST-")) {
      errno = EIO;
      return -1;
    }
  }
  return static_cast<int>(::syscall(call, file));
}

}  // namespace
}  // namespace stator::storage

extern "C" int fsync(int file) { return stator::storage::sync_unless_it_fails(file, SYS_fsync); }
extern "C" int fdatasync(int file) { return stator::storage::sync_unless_it_fails(file, SYS_fdatasync); }

namespace stator::storage {
namespace {

class HalfFailingDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    store = open_rocksdb_store({.path = folder_.path()}).value();
    ASSERT_TRUE(put(*store, "a", "old"));
    ASSERT_TRUE(put(*store, "b", "old"));
  }
  void TearDown() override { syncs_fail = false; }
  const std::string& folder() const { return folder_.path(); }
  std::size_t files(const char* extension) const {
    std::size_t count = 0;
    for (const auto& file : fs::directory_iterator(folder_.path()))
      count += file.path().extension() == extension ? 1U : 0U;
    return count;
  }
  void cut_log() const {
    for (const auto& file : fs::directory_iterator(folder_.path())) {
      if (file.path().extension() == ".log") fs::resize_file(file.path(), 0);
    }
  }

 private:
  TemporaryFolder folder_;

 protected:
  std::unique_ptr<Store> store;
};

TEST_F(HalfFailingDisk, IsReadWhileAttemptsToRecoverFail) {
  syncs_fail = true;
  ASSERT_FALSE(put(*store, "a", "new"));
  const auto last = store->last_commit();
  for (int attempt = 0; attempt < 3; ++attempt) {
    SCOPED_TRACE(attempt);
    const auto recovered = store->recover();
    ASSERT_FALSE(recovered);
    EXPECT_EQ(recovered.error().code, ErrorCode::Storage) << recovered.error().message;
    EXPECT_EQ(store->health().trouble, StoreTrouble::DiskFailing);
    EXPECT_TRUE(store->health().readable);
    EXPECT_EQ(store->last_commit(), last);
    const auto value = store->get("a");
    ASSERT_TRUE(value) << value.error().message;
    EXPECT_EQ(*value, "old") << "a sync of the new value has failed";
    EXPECT_EQ(testing::entries(*store->snapshot()), (testing::Entries{{"a", "old"}, {"b", "old"}}));
    EXPECT_EQ(put(*store, "b", "new").error().code, ErrorCode::Storage);
  }
  syncs_fail = false;
  ASSERT_TRUE(store->recover());
  EXPECT_EQ(store->health().trouble, StoreTrouble::None);
  EXPECT_TRUE(put(*store, "b", "new"));
  EXPECT_EQ(store->get("b").value(), "new");
}

TEST_F(HalfFailingDisk, IsNotFilledByAttemptsToRecover) {
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(put(*store, "key", std::string(1000, 'v')));
  syncs_fail = true;
  ASSERT_FALSE(put(*store, "a", "new"));
  const auto logs = files(".log");
  for (int attempt = 0; attempt < 5; ++attempt) EXPECT_FALSE(store->recover());
  EXPECT_LE(files(".sst"), 1U);
  EXPECT_LE(files(".log"), logs + 1);
  syncs_fail = false;
  ASSERT_TRUE(store->recover());
  EXPECT_EQ(store->get("key").value(), std::string(1000, 'v'));
  EXPECT_EQ(store->get("b").value(), "old");
}

TEST_F(HalfFailingDisk, KeepsOthersOutWhileItIsRead) {
  syncs_fail = true;
  ASSERT_FALSE(put(*store, "a", "new"));
  ASSERT_FALSE(store->recover());
  ASSERT_TRUE(store->health().readable);
  syncs_fail = false;
  const auto other = open_rocksdb_store({.path = folder()});
  ASSERT_FALSE(other) << "it would write files that this store takes for leftovers";
  EXPECT_EQ(other.error().code, ErrorCode::Usage);
  EXPECT_TRUE(store->recover());
}

TEST_F(HalfFailingDisk, ShowsWhatWasAcknowledgedAlsoIfTheMarkIsOld) {
  std::ifstream mark(folder() + "/MARK", std::ios::binary);
  const std::string old(std::istreambuf_iterator<char>(mark), {});
  ASSERT_TRUE(put(*store, "a", "newer"));
  std::fstream(folder() + "/MARK", std::ios::binary | std::ios::in | std::ios::out) << old;
  syncs_fail = true;
  ASSERT_FALSE(put(*store, "b", "new"));
  ASSERT_FALSE(store->recover());
  EXPECT_EQ(store->get("a").value(), "newer");
  syncs_fail = false;
  ASSERT_TRUE(store->recover());
  EXPECT_EQ(store->get("a").value(), "newer");
}

// Without the log, the folder would answer old values as if they were the newest.
TEST_F(HalfFailingDisk, IsNotReadWhenItHasLostAcknowledgedCommits) {
  syncs_fail = true;
  ASSERT_FALSE(put(*store, "a", "new"));
  cut_log();
  syncs_fail = false;
  for (int attempt = 0; attempt < 2; ++attempt) {
    SCOPED_TRACE(attempt);
    EXPECT_EQ(store->recover().error().code, ErrorCode::Corruption);
    EXPECT_EQ(store->health().trouble, StoreTrouble::Damaged);
    EXPECT_FALSE(store->health().readable);
    EXPECT_EQ(store->get("a").error().code, ErrorCode::Storage);
    EXPECT_FALSE(put(*store, "b", "new"));
  }
}

// --- A disk that is full.

class FullDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0 || ::mount("stator-full", folder_.path().c_str(), "tmpfs", 0, "size=16m") != 0) {
      GTEST_SKIP() << "no file system can be mounted here";
    }
    mounted_ = true;
  }
  void TearDown() override {
    store.reset();
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  void open() {
    store = open_rocksdb_store({.path = folder_.path() + "/data",
                                .sync_file =
                                    [this](int file) {
                                      if (!sync_fails) return ::fdatasync(file);
                                      errno = ENOSPC;
                                      return -1;
                                    }})
                .value();
  }
  void fill() const {
    std::ofstream filler(filler_());
    const std::string zeros(4096, '\0');
    while (filler.write(zeros.data(), static_cast<std::streamsize>(zeros.size())).flush()) {
    }
  }
  void make_room() const { fs::remove(filler_()); }

  bool sync_fails = false;
  std::unique_ptr<Store> store;

 private:
  std::string filler_() const { return folder_.path() + "/filler"; }

  TemporaryFolder folder_;
  bool mounted_ = false;
};

// Bytes that a failed sync has left in the system's cache can be read, and may be gone after a power cut.
TEST_F(FullDisk, BuildsOnNothingThatIsNotOnDisk) {
  open();
  ASSERT_TRUE(put(*store, "a", "old"));
  const auto last = store->last_commit();
  fill();
  sync_fails = true;
  ASSERT_FALSE(put(*store, "a", "new"));
  ASSERT_EQ(store->health().trouble, StoreTrouble::DiskFull);
  EXPECT_FALSE(store->recover());
  EXPECT_EQ(store->last_commit(), last);
  EXPECT_EQ(store->get("a").value(), "old");
  Batch erase;
  erase.erase("a");
  erase.frees_space();
  EXPECT_FALSE(store->commit(std::move(erase))) << "the reserve is of no use while nothing can be synced";
  sync_fails = false;
  make_room();
  ASSERT_TRUE(store->recover());
  EXPECT_EQ(store->last_commit().value, last.value + 1);
  EXPECT_EQ(store->get("a").value(), "new");
}

TEST_F(FullDisk, GoesOnInItsReserveWithWhatCanBeSyncedAfterAll) {
  open();
  ASSERT_TRUE(put(*store, "a", "old"));
  fill();
  sync_fails = true;
  ASSERT_FALSE(put(*store, "a", "new"));
  sync_fails = false;
  EXPECT_FALSE(store->recover()) << "only deletes are taken";
  EXPECT_EQ(store->get("a").value(), "new");
  Batch erase;
  erase.erase("a");
  erase.frees_space();
  EXPECT_TRUE(store->commit(std::move(erase)));
}

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
  // With commits in the log that were written and not published, and so not answered.
  explicit KilledStore(Durability durability = Durability::Sync, int unpublished = 0) {
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
    for (const auto& name : names_in(options_.path)) {
      if (name.ends_with(".log")) published_log_bytes_ = size_before_filling(fs::path(options_.path) / name).value();
    }
    for (int i = 0; i < unpublished; ++i) {
      Batch batch;
      batch.put(fmt::format("unpublished{}", i), Bytes(1000, 'u'));
      EXPECT_TRUE(store->write(std::move(batch)));
    }
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
  // The newest one: RocksDB may not have deleted older ones yet.
  fs::path file(const std::string& end) const {
    const auto all = names();
    const auto found = std::find_if(all.rbegin(), all.rend(),
                                    [&](const auto& name) { return name.ends_with(end) || name.starts_with(end); });
    if (found != all.rend()) return fs::path(path()) / *found;
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
  Result<std::unique_ptr<Store>> open(bool read_only = false) const {
    auto options = options_;
    options.path = path();
    options.read_only = read_only;
    return open_rocksdb_store(options);
  }
  std::vector<std::string> names() const { return names_in(path()); }
  std::uintmax_t published_log_bytes() const { return published_log_bytes_; }

 private:
  static std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder)) all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }

  TemporaryFolder folder_;
  RocksDbOptions options_;
  std::uintmax_t published_log_bytes_ = 0;
};

// While the disk is busy with a commit, the next ones are appended: a power cut may leave any of them without those
// before.
TEST(DamagedRocksDbStore, TakesUnpublishedCommitsInAnyStateForNoLoss) {
  const KilledStore killed(Durability::Sync, /*unpublished=*/4);
  killed.flip(killed.file(".log"), killed.published_log_bytes() + 500);
  const auto store = killed.open();
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->last_commit(), CommitSequence{100});
}

// The offsets of the records in a log, and its end without filling.
std::vector<std::uint64_t> records_of(const fs::path& log) {
  std::vector<std::uint64_t> offsets;
  EXPECT_TRUE(read_log_file(
      log, RecordFile::Log,
      {.record = [&](std::uint64_t offset, auto) { offsets.push_back(offset); }, .damage = [](auto, auto) {}}));
  offsets.push_back(size_before_filling(log).value());
  return offsets;
}

// A power cut can leave the last two of four commits that were written and not published, without the first two.
struct Hole {
  explicit Hole(const KilledStore& killed) : log(killed.file(".log")), begin(killed.published_log_bytes()) {
    const auto all = read_file(log);
    const auto records = records_of(log);
    EXPECT_EQ(records.at(records.size() - 5), begin);
    const auto second_half = records.at(records.size() - 3);
    behind = all.substr(second_half, records.back() - second_half);
  }
  void append(const std::string& bytes) const { std::ofstream(log, std::ios::binary | std::ios::app) << bytes; }

  fs::path log;
  std::uint64_t begin;
  std::string behind;  // the last two records
};

void expect_only_published_commits(const KilledStore& killed) {
  {
    const auto store = killed.open(/*read_only=*/true);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ((*store)->last_commit(), CommitSequence{100});
    EXPECT_TRUE(testing::entries(*(*store)->snapshot(), KeyRange::prefix("unpublished")).empty());
  }
  for (std::uint64_t start = 0; start < 2; ++start) {
    const auto store = killed.open();
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ((*store)->last_commit().value, 100 + start);
    EXPECT_TRUE(testing::entries(*(*store)->snapshot(), KeyRange::prefix("unpublished")).empty());
    EXPECT_TRUE(put(**store, "next", "1"));
  }
}

TEST(DamagedRocksDbStore, TakesNoUnpublishedCommitFromANewerLogWithoutThoseBefore) {
  const KilledStore killed(Durability::Sync, /*unpublished=*/4);
  const Hole hole(killed);
  fs::resize_file(hole.log, hole.begin);
  const auto newer = std::stoi(hole.log.stem().string()) + 20;
  std::ofstream(fs::path(killed.path()) / fmt::format("{:06}.log", newer), std::ios::binary) << hole.behind;
  expect_only_published_commits(killed);
}

TEST(DamagedRocksDbStore, TakesNoUnpublishedCommitFromBehindZeros) {
  const KilledStore killed(Durability::Sync, /*unpublished=*/4);
  const Hole hole(killed);
  constexpr std::uint64_t kBlock = 32768;
  fs::resize_file(hole.log, hole.begin);
  fs::resize_file(hole.log, (hole.begin + kBlock - 1) / kBlock * kBlock);
  hole.append(hole.behind);
  expect_only_published_commits(killed);
}

TEST(DamagedRocksDbStore, SeesWithoutAMarkByWhatWasWrittenLaterThatAPublishedCommitIsLost) {
  const KilledStore killed(Durability::Sync, /*unpublished=*/4);
  fs::remove(killed.path() + "/MARK");
  killed.flip(killed.file(".log"), killed.published_log_bytes() - 500);
  const auto store = killed.open();
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message.find("commit 100 is missing"), std::string::npos) << store.error().message;
}

TEST(DamagedRocksDbStore, OpensAfterAKillWithoutAWord) {
  const KilledStore killed;
  const auto store = killed.open();
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->last_commit(), CommitSequence{100});
}

TEST(DamagedRocksDbStore, RefusesALogThatLostItsEnd) {
  const KilledStore killed;
  const auto log = killed.file(".log");
  fs::resize_file(log, size_before_filling(log).value() / 2);
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
  const auto log = killed.file(".log");
  std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(size_before_filling(log).value()));
  file << "the beginning of a commit that was never answered" << std::flush;
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

TEST(DamagedRocksDbStore, GoesOnWhenItsMarkIsCutWhileItIsOpen) {
  const TemporaryFolder folder;
  const auto killed = folder.path() + "/killed";
  {
    const auto store = open_rocksdb_store({.path = folder.path() + "/live"}).value();
    ASSERT_TRUE(put(*store, "a", "1"));
    fs::resize_file(folder.path() + "/live/MARK", 0);
    ASSERT_TRUE(put(*store, "b", "1"));
    fs::copy(folder.path() + "/live", killed);
    EXPECT_EQ(MarkFile::read(killed)->acknowledged, store->last_commit());
  }
  const auto store = open_rocksdb_store({.path = killed}).value();
  EXPECT_EQ(testing::entries(*store->snapshot()), (testing::Entries{{"a", "1"}, {"b", "1"}}));
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
  fs::resize_file(log, size_before_filling(log).value() / 2);
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

// A log may end in these bytes, and a manifest may not.
TEST(DamagedRocksDbStore, RefusesAManifestWhoseLastRecordIsOverwrittenByTheByteOfTheFilling) {
  const KilledStore killed;
  const auto manifest = killed.file("MANIFEST-");
  const auto records = records_of(manifest);
  const auto end = fs::file_size(manifest);
  const auto last = records.at(records.size() - 2);
  fs::resize_file(manifest, last);
  std::ofstream(manifest, std::ios::binary | std::ios::app) << std::string(end - last, kLogFilling);
  const auto before = killed.names();
  const auto store = killed.open();
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message.find(manifest.filename().string()), std::string::npos) << store.error().message;
  EXPECT_EQ(killed.names(), before);
}

// The cause is a block of a table file, which only the translation of a range without an end reads.
TEST(DamagedRocksDbStore, PublishesNothingThatWasWrittenBeforeABatchThatCannotBe) {
  const KilledStore killed;
  const auto table = killed.file(".sst");
  killed.flip(table, 50'000);
  const auto store = killed.open().value();
  Batch first;
  first.put("first", "1");
  ASSERT_TRUE(store->write(std::move(first)));
  Batch everything;
  everything.erase_range({"a", {}});
  ASSERT_FALSE(store->write(std::move(everything))) << "the last key is in that block";
  EXPECT_FALSE(put(*store, "second", "1"));
  EXPECT_EQ(store->get("first").value(), std::nullopt);
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
