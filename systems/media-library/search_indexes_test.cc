#include "stator/systems/media-library/search_indexes.h"

#include <gtest/gtest.h>

#include "stator/runtime/test_support.h"
#include "stator/systems/media-library/stream_follower.h"

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

// A table with items, and indexes that follow it.
class Indexes : public testing::Test {
 protected:
  void put(std::string_view owner, std::string_view item, std::string_view title) {
    world_.made("BOOK", {{"LibraryId", text("l")}, {"ItemId", text(item)}, {"Title", text(title)}},
                runtime::user(owner));
  }
  void remove(std::string_view owner, std::string_view item) {
    ASSERT_TRUE(world_.remove("BOOK", {{"ItemId", text(item)}}, runtime::user(owner)));
  }
  Titles find(const std::string& owner, std::string_view query) {
    EXPECT_EQ(told(follower_.catch_up()), "ok");
    Titles titles;
    const auto hits = indexes_.search(owner, {.text = query});
    if (!hits) return {told(hits)};
    for (const auto& hit : *hits) titles.push_back(hit.place.title);
    return titles;
  }

  static constexpr std::size_t kMostBytes = 100'000;

  runtime::World world_{kItems};
  int missed_ = 0;
  SearchIndexes indexes_{world_.repository(), {.most_bytes = kMostBytes, .most_changes = 100}};
  StreamFollower follower_{world_.client(),
                           "Items",
                           {.changed = [this](const runtime::Change& change) { indexes_.changed(change); },
                            .missed =
                                [this] {
                                  ++missed_;
                                  indexes_.missed();
                                }},
                           {.poll = std::chrono::milliseconds(1)}};
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

TEST(Follower, ReadsNothingWhileNobodyAsksAndSaysSo) {
  runtime::World world(kItems);
  std::atomic<int> missed = 0;
  StreamFollower follower(world.client(), "Items", {.changed = [](const auto&) {}, .missed = [&] { ++missed; }},
                          {.poll = std::chrono::milliseconds(1), .idle = std::chrono::minutes(0)});
  ASSERT_TRUE(follower.catch_up());
  while (missed == 0) std::this_thread::yield();
  EXPECT_TRUE(follower.catch_up());
}

TEST(Follower, TellsWhenThereIsNoStream) {
  runtime::World world(kItems);
  StreamFollower follower(world.client(), "Other", {.changed = [](const auto&) {}, .missed = [] {}}, {});
  EXPECT_EQ(told(follower.catch_up()), "503 Unavailable");
}

}  // namespace
}  // namespace stator::systems::media_library
