// Entities of several records, and what is deleted softly.
#include <gtest/gtest.h>

#include "stator/runtime/repository.h"
#include "stator/runtime/test_support.h"

namespace stator::runtime {
namespace {

constexpr std::string_view kStories = R"yaml(
model: stories
table: { name: Stories, key: [PK, SK], ttl: expiresAt }
entities:
  STORY:
    path: /stories/{storyId}
    owner: userId
    soft_delete: { attribute: deleted, at: deletedAt, keep: 30d }
    records:
      main: { type: story, keys: { PK: "story#{storyId}", SK: "story" } }
      live:
        type: story_live
        keys: { PK: "stories#{userId}", SK: "{title|sortable}#{storyId}" }
        attributes: [storyId, userId, title, nodes]
        when: "attribute_not_exists(deleted)"
      deleted:
        type: story_deleted
        keys: { PK: "deleted#{userId}", SK: "{title|sortable}#{storyId}" }
        when: "deleted = true"
    attributes:
      userId: string
      storyId: { type: uuid, generated: uuid }
      title: { type: string, required: true }
      nodes: { count: NODE.story }
      deleted: boolean
      deletedAt: timestamp
  NODE:
    path: /stories/{storyId}/nodes/{nodeId}
    owner: userId
    parents: { story: { entity: STORY, on_delete: cascade } }
    keys: { PK: "story#{storyId}", SK: "node#{nodeId}" }
    attributes:
      userId: string
      storyId: uuid
      nodeId: { type: ulid, generated: ulid }
      label: string
patterns:
  live:
    query: { PK: "stories#{me}" }
    returns: STORY.live
  deleted:
    query: { PK: "deleted#{me}" }
    returns: STORY.deleted
)yaml";

class StoriesTest : public ::testing::Test {
 protected:
  std::vector<std::string> titles(std::string_view pattern) {
    std::vector<std::string> list;
    const auto page = world.run(pattern, {}, alice);
    if (!page) return {told(page)};
    for (const auto& story : page->objects) list.push_back(*story.attributes.find("title")->as_string());
    return list;
  }
  Item story(std::string_view title) {
    return {{"storyId", *world.made("STORY", {{"title", text(title)}}, alice).attributes.find("storyId")}};
  }
  Item node(const Item& story) {
    auto attributes = story;
    attributes.set("label", text("start"));
    return world.made("NODE", attributes, alice).attributes;
  }

  using Titles = std::vector<std::string>;
  World world{kStories};
  const Caller alice = user("alice");
};

TEST_F(StoriesTest, RecordsOfAnEntityAreWrittenTogether) {
  const auto first = story("First");
  story("Second");
  EXPECT_EQ(titles("live"), (Titles{"First", "Second"}));
  ASSERT_TRUE(world.update("STORY", first, changes({{"title", text("Third")}}), alice).ok());
  EXPECT_EQ(titles("live"), (Titles{"Second", "Third"})) << "the row has moved";
  EXPECT_EQ(world.rows().size(), 4U);
}

TEST_F(StoriesTest, ACounterReachesEveryRecordThatHoldsIt) {
  const auto first = story("First");
  node(first);
  node(first);
  EXPECT_EQ(shown(*world.get("STORY", first, alice), "nodes"), "2");
  EXPECT_EQ(shown(world.run("live", {}, alice)->objects.front(), "nodes"), "2");
}

TEST_F(StoriesTest, ADeletedEntityIsNotFoundUntilItIsRestored) {
  const auto first = story("First");
  EXPECT_EQ(told(world.repository().restore(world.entity("STORY"), first, alice)), "409 NotDeleted");
  EXPECT_EQ(told(world.remove("STORY", first, alice)), "ok");
  EXPECT_EQ(told(world.remove("STORY", first, alice)), "404 NotFound");
  EXPECT_EQ(told(world.get("STORY", first, alice)), "404 NotFound");
  EXPECT_EQ(told(world.update("STORY", first, changes({{"title", text("x")}}), alice)), "404 NotFound");
  EXPECT_EQ(shown(*world.get("STORY", first, alice, true), "deletedAt"), "\"2023-11-14T22:13:20.000Z\"");
  EXPECT_EQ(titles("live"), Titles{});
  EXPECT_EQ(titles("deleted"), Titles{"First"});

  EXPECT_EQ(told(world.repository().restore(world.entity("STORY"), first, alice)), "ok");
  EXPECT_EQ(shown(*world.get("STORY", first, alice), "deletedAt"), "-");
  EXPECT_EQ(titles("live"), Titles{"First"});
  EXPECT_EQ(titles("deleted"), Titles{});
}

TEST_F(StoriesTest, NobodyAddsToADeletedParent) {
  const auto first = story("First");
  ASSERT_TRUE(world.remove("STORY", first, alice).ok());
  EXPECT_EQ(told(world.create("NODE", first, alice)), "404 NotFound; storyId names no STORY");
}

TEST_F(StoriesTest, WhatIsBelowADeletedParentIsNotFoundEither) {
  const auto first = story("First");
  const auto start = node(first);
  const Item key = {{"storyId", *start.find("storyId")}, {"nodeId", *start.find("nodeId")}};
  ASSERT_TRUE(world.remove("STORY", first, alice).ok());
  EXPECT_EQ(told(world.get("NODE", key, alice)), "404 NotFound");
  EXPECT_EQ(told(world.update("NODE", key, changes({{"label", text("x")}}), alice)), "404 NotFound");
  EXPECT_EQ(told(world.remove("NODE", key, alice)), "404 NotFound");
  ASSERT_TRUE(world.repository().restore(world.entity("STORY"), first, alice).ok());
  EXPECT_EQ(told(world.update("NODE", key, changes({{"label", text("x")}}), alice)), "ok");
}

TEST_F(StoriesTest, WhatIsBelowAPurgedParentIsNotFoundEvenAmongDeletedThings) {
  const auto first = story("First");
  const auto start = node(first);
  const Item key = {{"storyId", *start.find("storyId")}, {"nodeId", *start.find("nodeId")}};
  ASSERT_TRUE(world.remove("STORY", first, alice).ok());
  EXPECT_EQ(told(world.get("NODE", key, alice, true)), "ok");
  ASSERT_TRUE(world.repository().purge(world.entity("STORY"), first, alice).ok());
  EXPECT_EQ(told(world.get("NODE", key, alice)), "404 NotFound");
  EXPECT_EQ(told(world.get("NODE", key, alice, true)), "404 NotFound");
}

TEST_F(StoriesTest, APurgeRemovesForGood) {
  const auto first = story("First");
  EXPECT_EQ(told(world.repository().purge(world.entity("STORY"), first, alice)), "409 NotDeleted");
  ASSERT_TRUE(world.remove("STORY", first, alice).ok());
  EXPECT_EQ(told(world.repository().purge(world.entity("STORY"), first, alice)), "ok");
  EXPECT_TRUE(world.rows().empty());
}

// A walk up that does not remember where it was takes 3^16 ways.
TEST(Ancestors, AreLookedAtOnceHoweverTheyLeadToEachOther) {
  World world(R"yaml(
model: people
table: { name: People, key: [PK] }
entities:
  PERSON:
    access: { read: public, write: public }
    soft_delete: { attribute: gone }
    parents:
      mother: { entity: PERSON, by: { name: mother }, when: "attribute_exists(mother)" }
      father: { entity: PERSON, by: { name: father }, when: "attribute_exists(father)" }
      teacher: { entity: PERSON, by: { name: teacher }, when: "attribute_exists(teacher)" }
    keys: { PK: "person#{name}" }
    attributes:
      name: { type: string, required: true }
      mother: string
      father: string
      teacher: string
      gone: boolean
)yaml");
  const auto led_by = [](std::string_view name) {
    return Item{{"mother", text(name)}, {"father", text(name)}, {"teacher", text(name)}};
  };
  const Item eve{{"name", text("eve")}}, ada{{"name", text("ada")}};
  world.made("PERSON", eve, nobody());
  world.made("PERSON", ada, nobody());
  ASSERT_TRUE(world.update("PERSON", ada, changes(led_by("eve")), nobody()).ok());
  ASSERT_TRUE(world.update("PERSON", eve, changes(led_by("ada")), nobody()).ok());
  EXPECT_TRUE(world.get("PERSON", ada, nobody()).ok());
  ASSERT_TRUE(world.remove("PERSON", eve, nobody()).ok());
  EXPECT_EQ(told(world.get("PERSON", ada, nobody())), "404 NotFound");
}

}  // namespace
}  // namespace stator::runtime
