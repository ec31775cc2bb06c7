#include "stator/engine/store_copy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/engine/engine.h"
#include "stator/engine/server_text.h"
#include "stator/engine/test_page.h"
#include "stator/engine/test_postgres.h"
#include "stator/storage/memory/memory_store.h"
#include "stator/storage/testing/contract.h"
#include "stator/storage/testing/faulty_store.h"

namespace stator::engine {
namespace {

using storage::CommitSequence;
using storage::testing::Entries;
using storage::testing::FaultyStore;

constexpr int kItems = 2000;  // more than one commit of a copy

// A source as a server leaves it, and a target whose commits can fail.
struct StoreCopyTest : ::testing::Test {
  StoreCopyTest() {
    for (int commit = 0; commit < 100; ++commit) {
      storage::Batch batch;
      for (int i = 0; i < kItems / 100; ++i) batch.put(fmt::format("i{:06}", commit * 100 + i), Bytes(300, 'v'));
      batch.add(statistic_key({1}, kBaseIndex, Statistic::Items), kItems / 100);
      batch.put_sequenced(change_key({1}, 0, 0), kChangeSequenceAt, "change");
      EXPECT_TRUE(source->commit(std::move(batch)));
    }
    storage::Batch own;
    own.put(table_record_key("T"), "record");
    own.put(lease_key(), "lease");
    own.put(server_text_key("keys.yaml"), encode_server_text("keys"));
    EXPECT_TRUE(source->commit(std::move(own)));
  }

  // The records that are copied.
  static Entries records(storage::Store& store) {
    auto all = storage::testing::entries(*store.snapshot());
    std::erase_if(all, [](const auto& entry) {
      return entry.first.starts_with("cf") || entry.first == lease_key() || entry.first == copy_mark_key();
    });
    return all;
  }
  bool is_refused() const {
    const SystemClock clock;
    Random random(1);
    const auto engine = Engine::open(*target, clock, random);
    return !engine && engine.error().message.find("is a copy that is not finished") != std::string::npos;
  }

  std::unique_ptr<storage::Store> source = storage::open_memory_store();
  std::unique_ptr<FaultyStore> target = std::make_unique<FaultyStore>(storage::open_memory_store());
};

TEST_F(StoreCopyTest, CopiesEverythingAndLetsCommitsGoOnBehindTheSource) {
  const auto copied = copy_store(*source, *target);
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_FALSE(copied->resumed);
  EXPECT_EQ(copied->records, records(*source).size());
  EXPECT_EQ(copied->source_commit, source->last_commit());
  EXPECT_TRUE(records(*target) == records(*source));
  EXPECT_EQ(target->get(lease_key()).value(), std::nullopt) << "nobody does the background work there yet";
  EXPECT_GE(target->last_commit(), source->last_commit());
  EXPECT_TRUE(is_refused());
  ASSERT_TRUE(finish_copy(*target, {{"app_secret", "secret"}}));
  EXPECT_EQ(server_texts(*target->snapshot()).value(), (std::map<std::string, std::string>{{"app_secret", "secret"}}));
  EXPECT_FALSE(is_refused());
}

TEST_F(StoreCopyTest, GoesOnWhereItStopped) {
  // The first commit begins the copy, and the store fails after two more.
  int commits = 0;
  target->before_commit([&](const storage::Batch&) {
    if (++commits == 104) target->fail_commits(1);
  });
  ASSERT_FALSE(copy_store(*source, *target));
  const auto mark = CopyMark::decode(*target->get(copy_mark_key()).value()).value();
  EXPECT_GT(mark.records, 0U);
  EXPECT_LT(mark.records, static_cast<std::uint64_t>(kItems));
  EXPECT_TRUE(is_refused());
  std::uint64_t first_shown = UINT64_MAX;
  const auto copied = copy_store(*source, *target, {.progress = [&](std::string_view stage, std::uint64_t done, auto) {
    if (stage == "copying") first_shown = std::min(first_shown, done);
  }});
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_TRUE(copied->resumed);
  EXPECT_EQ(first_shown, mark.records);
  EXPECT_EQ(copied->records, records(*source).size());
  EXPECT_TRUE(records(*target) == records(*source));
}

TEST_F(StoreCopyTest, RefusesOtherSourcesAndOtherData) {
  ASSERT_TRUE(copy_store(*source, *target));
  ASSERT_TRUE(copy_store(*source, *target)) << "only the last step is missing";
  storage::Batch change;
  change.put("i", "changed");
  ASSERT_TRUE(source->commit(std::move(change)));
  EXPECT_EQ(copy_store(*source, *target).error().code, ErrorCode::Usage) << "the source has changed";
  ASSERT_TRUE(finish_copy(*target, {}));
  EXPECT_EQ(copy_store(*source, *target).error().message, "the target is not empty");
}

TEST_F(StoreCopyTest, FindsWhatIsNotTheSame) {
  ASSERT_TRUE(copy_store(*source, *target));
  storage::Batch damage;
  damage.put("i000001", "other");
  ASSERT_TRUE(target->commit(std::move(damage)));
  EXPECT_EQ(copy_store(*source, *target).error().code, ErrorCode::Corruption);
}

TEST_F(StoreCopyTest, DoesNotCopyACopyThatIsNotFinished) {
  ASSERT_TRUE(copy_store(*source, *target));
  const auto third = storage::open_memory_store();
  EXPECT_EQ(copy_store(*target, *third).error().code, ErrorCode::Usage);
}

#ifdef STATOR_TEST_POSTGRES
// A commit in a lane whose numbers are behind those of another one.
TEST(StoreCopy, RefusesASourceThatHasChangedInAnyLane) {
  constexpr std::uint32_t kLanes = 4;
  const auto source = storage::open_postgres_store(testing::postgres_options("copied", kLanes)).value();
  const auto put = [&](const KeyBytes& key) {
    storage::Batch batch;
    batch.put(key, "v");
    ASSERT_TRUE(source->commit(std::move(batch)));
  };
  // Keys of items, by the first bits of their hash.
  const Bytes table("i\0\0\0\1\0\0", 7);
  for (int i = 0; i < 5; ++i) put(table + Bytes(8, '\xff') + fmt::format("{}", i));
  const auto target = storage::open_memory_store();
  ASSERT_TRUE(copy_store(*source, *target));
  ASSERT_TRUE(copy_store(*source, *target)) << "only the last step is missing";
  const auto newest = source->last_commit();
  put(table + Bytes(8, '\0') + "a");
  EXPECT_EQ(source->last_commit(), newest);
  EXPECT_EQ(copy_store(*source, *target).error().code, ErrorCode::Usage);
}
#endif

TEST(CopyMark, IsWhatItsPageShows) {
  const CopyMark mark{.source = 0xaa, .source_commit = {258}, .records = 3, .bytes = 40, .last_key = "i\x01"};
  EXPECT_NE(testing::page("docs/formats/catalog.md").find(hex(mark.encode())), std::string::npos) << hex(mark.encode());
  const auto read = CopyMark::decode(mark.encode()).value();
  EXPECT_EQ(read.encode(), mark.encode());
  EXPECT_FALSE(CopyMark::decode("\x01short"));
}

}  // namespace
}  // namespace stator::engine
