#include "stator/systems/media-library/search_indexes.h"

#include <gtest/gtest.h>

#include "stator/runtime/test_support.h"
#include "stator/systems/media-library/change_feed.h"

namespace stator::systems::media_library {
namespace {

using runtime::text;
using runtime::told;
using Titles = std::vector<std::string>;

constexpr std::string_view kItems = R"yaml(
model: items
table:
  name: Items
  key: [PK, SK]
  indexes:
    GSI2: { key: [GSI2PK, GSI2SK] }
entities:
  BOOK:
    owner: OwnerId
    keys:
      PK: "owner#{OwnerId}"
      SK: "item#{ItemId}"
      GSI2PK: "owner#{OwnerId}"
      GSI2SK: "item#{Title|sortable}"
    attributes:
      OwnerId: { type: string, max: 20 }
      LibraryId: { type: string, max: 20 }
      ItemId: { type: string, max: 20 }
      Title: { type: string, max: 100 }
patterns:
  all_titles:
    query: { index: GSI2, GSI2PK: "owner#{OwnerId}" }
    returns: BOOK
    page: { default: 1000, max: 1000 }
    access: []
)yaml";

// A database whose index GSI2 can lag behind, and which does something when that is asked.
class OddIndex final : public client::Client {
 public:
  explicit OddIndex(client::Client& client) : client_(client) {}

  void call(std::string_view operation, std::string_view json, api::ReplyCallback reply) override {
    const bool reads_index = operation == "Query" && json.find("GSI2") != std::string_view::npos;
    if (reads_index && before_reading) before_reading();
    if (reads_index && json.find(hidden_owner) != std::string_view::npos && !hidden_owner.empty()) {
      return reply({.outcome = std::string(R"({"Items":[],"Count":0,"ScannedCount":0})"), .table = {}});
    }
    client_.call(operation, json, std::move(reply));
  }

  std::string hidden_owner;  // whose items have not arrived yet
  std::function<void()> before_reading;

 private:
  client::Client& client_;
};

// A table with items, and indexes that follow it.
class Indexes : public ::testing::Test {
 protected:
  Indexes() { world_.clock().hold_waits(); }  // the feed's thread would move the time

  void put(std::string_view owner, std::string_view item, std::string_view title) {
    world_.made("BOOK", {{"LibraryId", text("l")}, {"ItemId", text(item)}, {"Title", text(title)}},
                runtime::user(owner));
  }
  void remove(std::string_view owner, std::string_view item) {
    ASSERT_TRUE(world_.remove("BOOK", {{"ItemId", text(item)}}, runtime::user(owner)));
  }
  Titles find(const std::string& owner, std::string_view query) {
    EXPECT_EQ(told(feed_.catch_up()), "ok");
    return found(owner, query);
  }
  Titles found(const std::string& owner, std::string_view query) {
    Titles titles;
    const auto hits = indexes_.search(owner, {.text = query});
    if (!hits) return {told(hits)};
    for (const auto& hit : *hits) titles.push_back(hit.place.title);
    return titles;
  }

  static constexpr std::size_t kMostBytes = 100'000;

  runtime::World world_{kItems};
  OddIndex database_{world_.client()};
  runtime::Repository repository_{
      {std::shared_ptr<void>(), &world_.model()}, database_, world_.clock(), world_.random()};
  SearchIndexes indexes_{repository_, world_.clock(), {.most_bytes = kMostBytes, .items_at_once = 10}};
  ChangeFeed feed_{world_.client(),
                   world_.clock(),
                   "Items",
                   {.changed = [this](const runtime::Change& change) { indexes_.changed(change); },
                    .missed = [this] { indexes_.missed(); }},
                   {.poll = std::chrono::hours(1)}};  // told when the test asks
};

TEST_F(Indexes, HaveWhatWasThereBeforeTheFirstSearchAndWhatCameAfterIt) {
  put("ann", "1", "one");
  EXPECT_EQ(find("ann", "one"), Titles{"one"});
  put("ann", "2", "one more");
  EXPECT_EQ(find("ann", "one"), (Titles{"one", "one more"}));
  remove("ann", "1");
  EXPECT_EQ(find("ann", "one"), Titles{"one more"});
}

TEST_F(Indexes, AreOneForEachOwner) {
  put("ann", "1", "word of ann");
  put("bob", "1", "word of bob");
  EXPECT_EQ(find("ann", "word"), Titles{"word of ann"});
  EXPECT_EQ(find("bob", "word"), Titles{"word of bob"});
  EXPECT_EQ(find("eve", "word"), Titles{});
}

TEST_F(Indexes, AreReadAgainWhenSomethingWasMissed) {
  put("ann", "1", "one");
  EXPECT_EQ(find("ann", "one"), Titles{"one"});
  indexes_.missed();
  EXPECT_EQ(find("ann", "one"), Titles{"one"});
}

TEST_F(Indexes, StayTrueWhenOthersTookTheirPlaceInMemory) {
  const auto owners = {"a", "b", "c", "d", "e"};
  for (const auto* owner : owners) {
    for (int i = 0; i < 60; ++i) put(owner, std::to_string(i), "a title of some words " + std::to_string(i));
  }
  for (int round = 0; round < 2; ++round) {
    for (const auto* owner : owners) EXPECT_EQ(find(owner, "17"), Titles{"a title of some words 17"});
  }
}

TEST_F(Indexes, OfTooManyItemsAreRefused) {
  for (int i = 0; i < 300; ++i) put("ann", std::to_string(i), "a title of some words " + std::to_string(i));
  EXPECT_EQ(find("ann", "17"), Titles{"413 TooLarge"});
}

TEST_F(Indexes, HaveWhatWasWrittenBeforeTheyWereReadAlthoughTheIndexOfTheTableLagsBehind) {
  find("bob", "one");  // from here on, changes are told
  put("ann", "1", "one");
  put("ann", "2", "one too many");
  remove("ann", "2");
  database_.hidden_owner = "owner#ann";
  EXPECT_EQ(find("ann", "one"), Titles{"one"});
}

TEST_F(Indexes, AreReadAgainWhenItWasNotKnownWhatTheIndexOfTheTableLacked) {
  put("ann", "1", "one");
  database_.hidden_owner = "owner#ann";
  EXPECT_EQ(find("ann", "one"), Titles{}) << "it was written before changes were told";
  database_.hidden_owner.clear();
  world_.clock().advance(std::chrono::minutes(1));
  EXPECT_EQ(find("ann", "one"), Titles{"one"});
  database_.before_reading = [] { FAIL() << "once is enough"; };
  world_.clock().advance(std::chrono::minutes(5));
  EXPECT_EQ(find("ann", "one"), Titles{"one"});
}

TEST_F(Indexes, LetChangesWinOverWhatIsRead) {
  put("ann", "1", "one");
  put("ann", "2", "one more");
  EXPECT_EQ(told(feed_.catch_up()), "ok");
  database_.before_reading = [this] {
    database_.before_reading = nullptr;
    remove("ann", "1");
    EXPECT_EQ(told(feed_.catch_up()), "ok");
    put("ann", "1", "one again");  // what is read has it, and is told of later
  };
  EXPECT_EQ(found("ann", "one"), Titles{"one more"}) << "the removal was told, and nothing after it";
  EXPECT_EQ(find("ann", "one"), (Titles{"one again", "one more"}));
}

TEST_F(Indexes, ThatAreReadAtTheSameTimeShareTheMemory) {
  for (int i = 0; i < 90; ++i) {
    for (const auto* owner : {"ann", "bob"})
      put(owner, std::to_string(i), "a title of some words " + std::to_string(i));
  }
  EXPECT_EQ(told(feed_.catch_up()), "ok");
  int asked = 0;
  database_.before_reading = [&] {
    if (++asked != 10) return;  // the last page, while the words of the one before it are taken in
    EXPECT_GT(indexes_.memory_bytes(), kMostBytes / 2);
    EXPECT_EQ(found("bob", "17"), Titles{"429 Busy"}) << "most of ann's is there already";
  };
  EXPECT_EQ(found("ann", "17"), Titles{"a title of some words 17"});
  EXPECT_EQ(found("bob", "17"), Titles{"a title of some words 17"}) << "ann's can go now";
  EXPECT_LE(indexes_.memory_bytes(), kMostBytes);
  indexes_.missed();
  EXPECT_EQ(indexes_.memory_bytes(), 0U);
}

TEST_F(Indexes, ThatGrowMakeRoomForThemselves) {
  for (const auto* owner : {"ann", "bob"}) {
    put(owner, "x", "a word");
    EXPECT_EQ(find(owner, "word"), Titles{"a word"});
  }
  for (int i = 0; i < 300; ++i) put("ann", std::to_string(i), "a title of some words " + std::to_string(i));
  EXPECT_EQ(told(feed_.catch_up()), "ok");
  EXPECT_LE(indexes_.memory_bytes(), kMostBytes);
}

TEST(Feed, ReadsNothingWhileNobodyAsksAndSaysSo) {
  runtime::World world(kItems);
  world.clock().hold_waits();
  std::atomic<int> missed = 0;
  ChangeFeed feed(world.client(), world.clock(), "Items", {.changed = [](const auto&) {}, .missed = [&] { ++missed; }},
                  {.poll = std::chrono::milliseconds(1), .idle = std::chrono::minutes(0)});
  ASSERT_TRUE(feed.catch_up());
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (missed < 2 && std::chrono::steady_clock::now() < patience) {
    world.clock().advance(std::chrono::milliseconds(1));
    std::this_thread::yield();
  }
  ASSERT_GE(missed, 2) << "it did not stop reading";
  EXPECT_TRUE(feed.catch_up());
}

TEST(Feed, TellsWhenThereIsNoStream) {
  runtime::World world(kItems);
  ChangeFeed feed(world.client(), world.clock(), "Other", {.changed = [](const auto&) {}, .missed = [] {}}, {});
  EXPECT_EQ(told(feed.catch_up()), "503 Unavailable");
}

}  // namespace
}  // namespace stator::systems::media_library
