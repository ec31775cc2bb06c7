// Children that restrict the deletion of their parent, and their fate if the parent is removed all the same.
#include <gtest/gtest.h>

#include "stator/runtime/consistency/consistency_test_support.h"

namespace stator::runtime {
namespace {

using Strings = std::vector<std::string>;

constexpr std::string_view kTree = R"yaml(
model: tree
table: { name: Tree, key: [PK, SK] }
entities:
  TOP:
    path: /tops/{top}
    access: { read: public, write: public }
    keys: { PK: "top#{top}", SK: "top" }
    attributes: { top: string }
  MID:
    path: /tops/{top}/mids/{mid}
    access: { read: public, write: public }
    keys: { PK: "top#{top}", SK: "mid#{mid}" }
    parents: { top: { entity: TOP, on_delete: cascade } }
    attributes: { top: string, mid: string, leaves: { count: LEAF.mid } }
  LEAF:
    path: /tops/{top}/mids/{mid}/leaves/{leaf}
    access: { read: public, write: public }
    keys: { PK: "top#{top}", SK: "leaf#{mid}#{leaf}" }
    parents: { mid: { entity: MID, on_delete: restrict } }
    attributes: { top: string, mid: string, leaf: string, code: { type: string, unique_within: table } }
)yaml";

class Restricted : public ::testing::Test {
 protected:
  Restricted() : tree_(kTree) {
    tree_.propagate_all();
    grow();
  }

  void grow() {
    tree_.world.made("TOP", top_, nobody());
    tree_.world.made("MID", mid_, nobody());
    tree_.world.made("LEAF", Shelf::both(leaf_, {{"code", text("C")}}), nobody());
  }
  std::string removed(std::string_view entity, const Item& key) {
    return told(tree_.world.remove(entity, key, nobody()));
  }

  Shelf tree_;
  const Item top_ = {{"top", text("t")}};
  const Item mid_ = {{"top", text("t")}, {"mid", text("m")}};
  const Item leaf_ = {{"top", text("t")}, {"mid", text("m")}, {"leaf", text("l")}};
};

TEST_F(Restricted, IsNotDeletedWhileItHasChildren) {
  EXPECT_EQ(removed("MID", mid_), "409 InUse; leaves is not zero");
  EXPECT_EQ(removed("LEAF", leaf_), "ok");
  EXPECT_EQ(removed("MID", mid_), "ok");
  tree_.propagate_all();
  EXPECT_EQ(tree_.world.rows().size(), 1U);
}

TEST_F(Restricted, TakesChildrenAlongWhenItGoesWithItsOwnParent) {
  EXPECT_EQ(removed("TOP", top_), "ok");
  EXPECT_EQ(told(tree_.world.get("LEAF", leaf_, nobody())), "404 NotFound") << "what it is below is gone";
  EXPECT_EQ(removed("LEAF", leaf_), "404 NotFound");
  tree_.propagate_all();
  EXPECT_EQ(tree_.world.rows(), std::vector<Item>()) << "its unique value is free as well";
  grow();
  EXPECT_EQ(tree_.now("MID", mid_, "leaves"), "1");
}

TEST_F(Restricted, DoesNotComeAgainBeforeTheyAreGone) {
  EXPECT_EQ(removed("TOP", top_), "ok");
  tree_.erase(tree_.row_of("MID"));  // as far as the cascade has come
  tree_.world.made("TOP", top_, nobody());
  EXPECT_EQ(told(tree_.world.create("MID", mid_, nobody())), "409 StillGoing");
  tree_.propagate_all();
  EXPECT_EQ(told(tree_.world.create("MID", mid_, nobody())), "ok");
  EXPECT_EQ(tree_.now("MID", mid_, "leaves"), "0");
  EXPECT_EQ(tree_.findings(), Strings());
}

TEST_F(Restricted, LeavesOrphansThatVerificationFindsAndRepairs) {
  tree_.erase(tree_.row_of("MID"));
  EXPECT_EQ(tree_.findings(true), (Strings{"orphan LEAF.", "reservation LEAF.code"}));
  EXPECT_EQ(tree_.findings(), Strings());
  EXPECT_EQ(tree_.world.rows().size(), 1U);
}

TEST(Restriction, LeavesWhatNeedsNoParentAlone) {
  Shelf tags(R"yaml(
model: tags
table: { name: Tags, key: [PK, SK] }
entities:
  TAG:
    access: { read: public, write: public }
    keys: { PK: "tag#{tag}", SK: "tag" }
    attributes: { tag: string, colour: { type: string, default: "red" }, uses: { count: USE.tag } }
  USE:
    access: { read: public, write: public }
    parents: { tag: { entity: TAG, must_exist: false, on_delete: restrict } }
    keys: { PK: "tag#{tag}", SK: "use#{use}" }
    attributes: { tag: string, use: string, colour: { copy_of: tag.colour } }
)yaml");
  tags.propagate_all();
  const Item tag{{"tag", text("t")}};
  tags.world.made("USE", Shelf::both(tag, {{"use", text("u")}}), nobody());
  tags.world.made("TAG", tag, nobody());
  EXPECT_EQ(told(tags.world.remove("TAG", tag, nobody())), "409 InUse; USE belongs to it") << "it is not counted yet";
  tags.propagate_all();
  EXPECT_EQ(tags.now("TAG", tag, "uses"), "1");
  tags.erase(tags.row_of("TAG"));
  for (const auto& finding : tags.findings()) EXPECT_EQ(finding.find("orphan"), std::string::npos) << finding;
}

TEST(Restriction, NeedsNoManagerWhereNothingOverrulesIt) {
  std::string yaml(kTree);
  EXPECT_TRUE(ConsistencyManager::needed(model::load_or_fail(yaml)));
  yaml.replace(yaml.find("cascade"), 7, "nothing");
  EXPECT_FALSE(ConsistencyManager::needed(model::load_or_fail(yaml)));
}

constexpr std::string_view kMovies = R"yaml(
model: movies
table: { name: Movies, key: [PK, SK] }
entities:
  MOVIE:
    access: { read: public, write: role:admin }
    keys: { PK: "movie#{movieId}", SK: "movie" }
    attributes:
      movieId: { type: uuid, generated: uuid }
      title: { type: string, required: true }
      uses: { count: ENTRY.movie }
  ENTRY:
    access: { read: public, write: signed-in }
    parents:
      movie: { entity: MOVIE, on_delete: restrict }
    keys: { PK: "entry#{entryId}", SK: "entry" }
    attributes:
      entryId: { type: uuid, generated: uuid }
      movieId: { type: uuid, required: true }
)yaml";

TEST(Restriction, KeepsAParentThatIsInUse) {
  World world(kMovies);
  const auto movie = world.made("MOVIE", {{"title", text("Alien")}}, admin());
  const Item key{{"movieId", *movie.attributes.find("movieId")}};
  const auto entry = world.made("ENTRY", key, user("alice"));
  EXPECT_EQ(told(world.remove("MOVIE", key, admin())), "409 InUse; uses is not zero");
  ASSERT_TRUE(world.remove("ENTRY", {{"entryId", *entry.attributes.find("entryId")}}, user("alice")).ok());
  EXPECT_EQ(told(world.remove("MOVIE", key, admin())), "ok");
}

}  // namespace
}  // namespace stator::runtime
