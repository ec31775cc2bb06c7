#include "stator/storage/rocksdb/table_files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "stator/base/random.h"
#include "stator/storage/rocksdb/rocksdb_store.h"
#include "stator/storage/testing/temporary_folder.h"

namespace stator::storage {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

class RocksDbFiles : public ::testing::Test {
 protected:
  std::unique_ptr<Store> open(bool read_only = false) {
    return open_rocksdb_store({.path = data_, .durability = Durability::Relaxed, .read_only = read_only}).value();
  }
  static void put(Store& store, std::string key, std::string value) {
    Batch batch;
    batch.put(std::move(key), std::move(value));
    store.commit(std::move(batch)).value();
  }
  static void fill(Store& store, int from, int to) {
    Random random(static_cast<std::uint64_t>(from));
    for (int i = from; i < to; ++i) put(store, "k" + std::to_string(i), std::to_string(random.next()));
  }
  // The files in a folder of their own, as a store.
  std::unique_ptr<Store> copy(const FrozenFiles& files) {
    const auto folder = temporary_.path() + "/copy" + std::to_string(++copies_);
    fs::create_directory(folder);
    for (std::size_t i = 0; i < files.files().size(); ++i) {
      const auto& file = files.files()[i];
      Bytes bytes;
      while (bytes.size() < file.size_bytes) bytes += files.read(i, bytes.size(), 1000).value();
      std::ofstream(folder + "/" + file.name, std::ios::binary) << bytes;
    }
    return open_rocksdb_store({.path = folder}).value();
  }
  static std::map<Bytes, Bytes> content(const Store& store) {
    std::map<Bytes, Bytes> all;
    const auto snapshot = store.snapshot();
    for (const auto cursor = snapshot->cursor({}, Direction::Forward); cursor->valid(); cursor->next()) {
      all.emplace(cursor->key(), cursor->value());
    }
    return all;
  }
  std::string some_table_file() const {
    for (const auto& entry : fs::directory_iterator(data_)) {
      if (entry.path().extension() == ".sst") return entry.path();
    }
    return {};
  }

  TemporaryFolder temporary_;
  const std::string data_ = temporary_.path() + "/data";
  int copies_ = 0;
};

TEST_F(RocksDbFiles, FrozenFilesAreTheStoreOfThatMoment) {
  const auto store = open();
  fill(*store, 0, 500);
  const auto then = content(*store);
  const auto frozen = store->files()->freeze().value();
  EXPECT_EQ(frozen->last_commit(), store->last_commit());
  fill(*store, 200, 900);
  const auto copied = copy(*frozen);
  EXPECT_EQ(copied->last_commit(), frozen->last_commit());
  EXPECT_EQ(content(*copied), then);
}

TEST_F(RocksDbFiles, CanBeFrozenWhileOthersCommit) {
  const auto store = open();
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    // Each commit holds its own number, twice.
    for (std::uint64_t i = 1; !stop; ++i) {
      Batch batch;
      for (const auto* key : {"first", "second"}) batch.put(key, std::to_string(i));
      store->commit(std::move(batch)).value();
    }
  });
  for (int i = 0; i < 5; ++i) {
    const auto before = store->last_commit();
    const auto frozen = store->files()->freeze().value();
    EXPECT_GE(frozen->last_commit(), before);
    const auto copied = copy(*frozen);
    EXPECT_EQ(copied->last_commit(), frozen->last_commit());
    if (frozen->last_commit().value == 0) continue;
    EXPECT_EQ(copied->get("first").value(), std::to_string(frozen->last_commit().value));
    EXPECT_EQ(copied->get("second").value(), std::to_string(frozen->last_commit().value));
  }
  stop = true;
  writer.join();
}

TEST_F(RocksDbFiles, ContentIdsAreThoseOfBeforeWhereTheContentIs) {
  const auto store = open();
  fill(*store, 0, 100);
  const auto ids = [](const FrozenFiles& files) {
    std::map<std::string, std::string> found;
    for (const auto& file : files.files()) {
      EXPECT_EQ(file.content_id.empty(), !file.name.ends_with(".sst")) << file.name;
      if (!file.content_id.empty()) found.emplace(file.content_id, file.name);
    }
    return found;
  };
  const auto first = ids(*store->files()->freeze().value());
  EXPECT_EQ(first.size(), 1U);
  fill(*store, 100, 200);
  const auto second = ids(*store->files()->freeze().value());
  EXPECT_EQ(second.size(), 2U);
  EXPECT_TRUE(second.contains(first.begin()->first));
  // Another store's first file has the same number, and another id.
  const TemporaryFolder elsewhere;
  const auto other = open_rocksdb_store({.path = elsewhere.path() + "/data"}).value();
  fill(*other, 0, 100);
  EXPECT_FALSE(second.contains(ids(*other->files()->freeze().value()).begin()->first));
}

TEST_F(RocksDbFiles, FrozenFilesGoWhenNobodyNeedsThem) {
  const auto frozen_folder = data_ + "/" + std::string(kFrozenFolder);
  {
    const auto store = open();
    fill(*store, 0, 10);
    auto first = store->files()->freeze().value();
    const auto second = store->files()->freeze().value();
    EXPECT_EQ(std::distance(fs::directory_iterator(frozen_folder), {}), 2);
    first.reset();
    EXPECT_EQ(std::distance(fs::directory_iterator(frozen_folder), {}), 1);
  }
  EXPECT_FALSE(fs::exists(frozen_folder));
  fs::create_directories(frozen_folder + "/1-1");  // as if the process had been killed
  open();
  EXPECT_FALSE(fs::exists(frozen_folder));
}

TEST_F(RocksDbFiles, AStoreOpenedToBeReadChangesNothing) {
  EXPECT_EQ(open_rocksdb_store({.path = data_, .read_only = true}).error().code, ErrorCode::Usage);
  EXPECT_FALSE(fs::exists(data_ + "/CURRENT"));
  fill(*open(), 0, 100);
  const auto names = [&] {
    std::map<std::string, std::uintmax_t> found;
    for (const auto& entry : fs::directory_iterator(data_)) found.emplace(entry.path().filename(), entry.file_size());
    return found;
  };
  const auto before = names();
  {
    const auto store = open(/*read_only=*/true);
    EXPECT_EQ(store->last_commit().value, 100U);
    EXPECT_EQ(content(*store).size(), 100U);
    Batch batch;
    batch.put("k", "v");
    EXPECT_FALSE(store->commit(std::move(batch)));
    EXPECT_FALSE(store->recover());
    EXPECT_TRUE(store->files()->verify({}).value().empty());
    const auto copied = copy(*store->files()->freeze().value());
    EXPECT_EQ(content(*copied), content(*store));
    EXPECT_EQ(copied->last_commit().value, 100U);
    EXPECT_EQ(open_rocksdb_store({.path = data_}).error().code, ErrorCode::Usage) << "it is in use";
  }
  EXPECT_EQ(names(), before);
  const auto store = open();
  EXPECT_EQ(open_rocksdb_store({.path = data_, .read_only = true}).error().code, ErrorCode::Usage) << "it is in use";
}

TEST_F(RocksDbFiles, FindsTheFileWhoseByteWasFlipped) {
  const auto store = open();
  fill(*store, 0, 2000);
  ASSERT_TRUE(store->files()->freeze());
  EXPECT_TRUE(store->files()->verify({}).value().empty());
  EXPECT_TRUE(verify_table_file(some_table_file()));
  {
    std::fstream file(some_table_file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(some_table_file()) / 2));
    file.put('?');
  }
  const auto damaged = store->files()->verify({}).value();
  ASSERT_EQ(damaged.size(), 1U);
  EXPECT_EQ(damaged[0].name, fs::path(some_table_file()).filename());
  EXPECT_LE(damaged[0].first_key, "k0");
  EXPECT_EQ(damaged[0].last_key, "k999");
  EXPECT_EQ(verify_table_file(some_table_file()).error().code, ErrorCode::Corruption);
}

}  // namespace
}  // namespace stator::storage
