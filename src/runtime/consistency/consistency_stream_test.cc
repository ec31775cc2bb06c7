// The consistency manager and what a stream does in the course of time: shards end, vanish and forget.

#include <gtest/gtest.h>

#include "stator/runtime/consistency/consistency_test_support.h"
#include "stator/runtime/dynamo/fake_stream.h"

namespace stator::runtime {
namespace {

using Strings = std::vector<std::string>;

// A book in a collection, and a stream that begins with the shard a.
class ConsistencyStream : public ::testing::Test {
 protected:
  ConsistencyStream() {
    const auto home = shelf.library("Home");
    classics = shelf.collection(home, "Classics");
    dune = shelf.book(classics, {{"Title", text("Dune")}});
    stream.take(ignored, "Shelf");
    EXPECT_EQ(told(shelf.manager(stream)->catch_up()), "ok");  // the first start, which verifies
  }

  void rename(std::string_view name, FakeStream::Shard& shard) {
    ASSERT_TRUE(shelf.world.update("COLLECTION", classics, changes({{"Name", text(name)}}), shelf.alice).ok());
    stream.take(shard, "Shelf");
  }
  std::string copied() { return shelf.now("BOOK", dune, "CollectionName"); }
  Strings shard_rows() {
    ConsistencyTable table(shelf.world.dynamo(), shelf.clock, shelf.world.model());
    Strings ids;
    const auto shards = table.shards();
    for (const auto& shard : *shards) ids.push_back(shard.id + (shard.done ? " done" : ""));
    return ids;
  }
  // The number of repairs by a manager that starts now: greater than zero if it verified the table.
  std::uint64_t repaired_by(ConsistencyManager& manager) {
    EXPECT_EQ(told(manager.catch_up()), "ok");
    return manager.status().repaired;
  }

  Shelf shelf;
  Item classics, dune;
  FakeStream stream{shelf.world.client()};
  FakeStream::Shard ignored;
  FakeStream::Shard& a = stream.add("a");
};

TEST_F(ConsistencyStream, ParksARecordThatCannotBeReadAndCarriesTheOthers) {
  rename("Crime", a);
  const auto add_first = [&](std::string_view json) {
    a.records.insert(a.records.begin(), api::decode_stream_record(json));
  };
  add_first(R"({"eventName":"EXPLODE","dynamodb":{"SequenceNumber":"1"}})");
  add_first(R"({"eventName":"INSERT","dynamodb":{"SequenceNumber":"2","NewImage":{"x":{"Q":1}}}})");
  a.records.push_back(api::decode_stream_record(R"("no record at all")"));
  const auto manager = shelf.manager(stream);
  EXPECT_EQ(repaired_by(*manager), 0U);
  EXPECT_EQ(copied(), "\"Crime\"");
  EXPECT_EQ(manager->status().parked, 3U);
  const auto parked = manager->parked();
  ASSERT_EQ(parked->size(), 3U);
  EXPECT_EQ(parked->front().record, R"({"eventName":"EXPLODE","dynamodb":{"SequenceNumber":"1"}})");
  EXPECT_EQ(told(manager->replay(parked->front().id)), "503 UnexpectedAnswer") << "it cannot be read now, either";
}

TEST_F(ConsistencyStream, ReadsAChildAfterItsParentHasEnded) {
  rename("Crime", a);
  rename("Noir", a);
  rename("Thriller", a);
  a.closed = true;
  rename("Poetry", stream.add("b", "a"));
  EXPECT_EQ(repaired_by(*shelf.manager(stream)), 0U);
  EXPECT_EQ(copied(), "\"Poetry\"");
  const auto& asked = stream.asked();
  EXPECT_TRUE(std::is_sorted(asked.begin(), asked.end())) << "all of a, then b";
  EXPECT_EQ(shard_rows(), (Strings{"a done", "b"}));
}

TEST_F(ConsistencyStream, WaitsWithAChildWhileAnotherReadsItsParent) {
  const auto other = shelf.manager(stream);
  ASSERT_EQ(told(other->catch_up()), "ok");
  a.closed = true;
  rename("Crime", stream.add("b", "a"));
  ASSERT_EQ(told(shelf.manager(stream)->catch_up()), "ok");
  EXPECT_EQ(std::count(stream.asked().begin(), stream.asked().end(), "b"), 0);
  ASSERT_EQ(told(other->catch_up()), "ok");
  EXPECT_EQ(copied(), "\"Crime\"");
}

TEST_F(ConsistencyStream, GoesOnAtTheOldestRecordWhenItHasLookedSinceItsOwnWasForgotten) {
  rename("Crime", a);
  ASSERT_EQ(repaired_by(*shelf.manager(stream)), 0U);
  a.trimmed = a.records.size();
  rename("Noir", a);
  EXPECT_EQ(repaired_by(*shelf.manager(stream)), 0U) << "nothing was missed";
  EXPECT_EQ(copied(), "\"Noir\"");
}

TEST_F(ConsistencyStream, VerifiesTheTableWhenRecordsWereForgottenBeforeTheyWereRead) {
  const auto manager = shelf.manager(stream);
  ASSERT_EQ(repaired_by(*manager), 0U);
  rename("Crime", a);
  a.trimmed = a.records.size();
  EXPECT_GT(repaired_by(*manager), 0U);
  EXPECT_EQ(copied(), "\"Crime\"");
  rename("Noir", a);
  EXPECT_EQ(told(manager->catch_up()), "ok");
  EXPECT_EQ(copied(), "\"Noir\"");
}

TEST_F(ConsistencyStream, VerifiesTheTableWhenAShardVanishedBeforeItsEnd) {
  rename("Crime", a);
  a.listed = false;
  auto& b = stream.add("b", "a");
  const auto manager = shelf.manager(stream);
  EXPECT_GT(repaired_by(*manager), 0U);
  EXPECT_EQ(copied(), "\"Crime\"");
  EXPECT_EQ(shard_rows(), Strings{"b"});
  rename("Noir", b);
  EXPECT_EQ(told(manager->catch_up()), "ok");
  EXPECT_EQ(copied(), "\"Noir\"");
}

TEST_F(ConsistencyStream, VerifiesTheTableWhenAShardThatItReadsVanishes) {
  const auto manager = shelf.manager(stream);
  ASSERT_EQ(repaired_by(*manager), 0U);
  rename("Crime", a);
  a.listed = false;
  stream.add("b", "a");
  EXPECT_GT(repaired_by(*manager), 0U);
  EXPECT_EQ(copied(), "\"Crime\"");
}

TEST_F(ConsistencyStream, VerifiesTheTableWhenItHasNeverSeenAShardsParent) {
  a.closed = true;
  ASSERT_EQ(repaired_by(*shelf.manager(stream)), 0U);
  a.listed = false;
  rename("Crime", ignored);
  stream.add("c", "b");  // b came and went while no manager ran
  EXPECT_GT(repaired_by(*shelf.manager(stream)), 0U);
  EXPECT_EQ(copied(), "\"Crime\"");
  EXPECT_EQ(shard_rows(), Strings{"c"});
}

TEST_F(ConsistencyStream, ForgetsAShardThatVanishedAfterItsEnd) {
  a.closed = true;
  ASSERT_EQ(repaired_by(*shelf.manager(stream)), 0U);
  auto& b = stream.add("b", "a");
  a.listed = false;
  rename("Crime", b);
  EXPECT_EQ(repaired_by(*shelf.manager(stream)), 0U) << "its child had not begun, and is no stranger";
  EXPECT_EQ(repaired_by(*shelf.manager(stream)), 0U);
  EXPECT_EQ(copied(), "\"Crime\"");
  EXPECT_EQ(shard_rows(), Strings{"b"});
}

TEST_F(ConsistencyStream, TakesANewIteratorForOneThatExpired) {
  const auto manager = shelf.manager(stream);
  ASSERT_EQ(repaired_by(*manager), 0U);
  rename("Crime", a);
  stream.expire_iterators();
  EXPECT_EQ(repaired_by(*manager), 0U);
  EXPECT_EQ(copied(), "\"Crime\"");
}

}  // namespace
}  // namespace stator::runtime
