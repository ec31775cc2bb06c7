#include "stator/runtime/consistency/reconciler.h"

#include <gtest/gtest.h>

#include "stator/runtime/consistency/consistency_test_support.h"

namespace stator::runtime {
namespace {

using Strings = std::vector<std::string>;

// --------------------------------------------------------------------------- a parent that counts several of one batch

// A topic has a second row, and its key is made from a counter.
constexpr std::string_view kTopics = R"yaml(
model: topics
table: { name: Topics, key: [PK, SK], indexes: { ByAuthor: { key: [GSI1PK, GSI1SK], projection: all } } }
entities:
  AUTHOR:
    access: { read: public, write: public }
    keys: { PK: "author#{author}", SK: "author" }
    attributes: { author: string }
  BOARD:
    access: { read: public, write: public }
    records:
      main: { type: BOARD, keys: { PK: "board#{board}", SK: "board" } }
      rank: { type: BOARD_RANK, keys: { PK: "boards", SK: "{posts:05}#{own:05}#{board}" }, attributes: [board, posts, own] }
    attributes:
      board: string
      own: { count: POST.board }
      posts: { sum: { of: TOPIC.board, attribute: posts } }
  TOPIC:
    access: { read: public, write: public }
    parents: { board: { entity: BOARD, on_delete: nothing } }
    records:
      main: { type: TOPIC, keys: { PK: "topic#{topic}", SK: "topic" } }
      rank: { type: TOPIC_RANK, keys: { PK: "topics", SK: "{posts:05}#{topic}" }, attributes: [topic, posts] }
    attributes:
      topic: string
      board: string
      posts: { count: [POST.topic, POST.origin] }
  POST:
    access: { read: public, write: public }
    parents:
      author: { entity: AUTHOR, on_delete: cascade }
      board: { entity: BOARD, on_delete: nothing }
      topic: { entity: TOPIC, on_delete: nothing }
      origin: { entity: TOPIC, by: { topic: origin }, optional: true, on_delete: nothing }
    keys: { PK: "topic#{topic}", SK: "post#{post}", GSI1PK: "author#{author}", GSI1SK: "post#{topic}#{post}" }
    attributes:
      author: { type: string, required: true }
      board: string
      topic: { type: string, required: true }
      origin: string
      post: string
)yaml";

class TopicsOfAuthors : public ::testing::Test {
 protected:
  TopicsOfAuthors() {
    shelf.traffic = &quiet;  // batches are large
    for (const auto* author : {"ann", "bob"}) shelf.world.made("AUTHOR", {{"author", text(author)}}, nobody());
    shelf.world.made("BOARD", {{"board", text("b")}}, nobody());
    shelf.world.made("TOPIC", {{"topic", text("t")}, {"board", text("b")}}, nobody());
  }
  void post(std::string_view author, std::string_view name, const Item& more = {}) {
    shelf.world.made("POST", Shelf::both({{"author", text(author)}, {"topic", text("t")}, {"post", text(name)}}, more),
                     nobody());
  }
  void remove_author(std::string_view author) {
    shelf.propagate_all();
    ASSERT_EQ(told(shelf.world.remove("AUTHOR", {{"author", text(author)}}, nobody())), "ok");
    shelf.propagate_all();
  }
  // The sort keys of a rank.
  Strings ranks(std::string_view of) {
    Strings found;
    for (const auto& row : shelf.world.rows()) {
      if (*row.find("PK") == text(of)) found.push_back(*row.find("SK")->as_string());
    }
    return found;
  }

  Traffic quiet;
  Shelf shelf{kTopics};
};

TEST_F(TopicsOfAuthors, ARowWhoseKeyCountsChildrenMovesOnceForAllChildrenOfABatch) {
  for (const auto* name : {"1", "2", "3"}) post("ann", name);
  post("bob", "4");
  ASSERT_EQ(ranks("topics"), Strings{"00004#t"});
  remove_author("ann");
  EXPECT_EQ(ranks("topics"), Strings{"00001#t"});
  EXPECT_EQ(ranks("boards"), Strings{"00001#00000#b"});
  EXPECT_EQ(shelf.findings(), Strings());
}

TEST_F(TopicsOfAuthors, AChildThatCountsThroughTwoRelationsIsRemoved) {
  for (const auto* name : {"1", "2"}) post("ann", name, {{"origin", text("t")}});
  ASSERT_EQ(ranks("topics"), Strings{"00004#t"});
  remove_author("ann");
  EXPECT_EQ(ranks("topics"), Strings{"00000#t"});
  EXPECT_EQ(shelf.findings(), Strings());
}

TEST_F(TopicsOfAuthors, AParentIsCountedRightThatIsReachedInTwoWays) {
  for (const auto* name : {"1", "2", "3"}) post("ann", name, {{"board", text("b")}});
  ASSERT_EQ(ranks("boards"), Strings{"00003#00003#b"});
  remove_author("ann");
  EXPECT_EQ(ranks("boards"), Strings{"00000#00000#b"});
  EXPECT_EQ(shelf.findings(), Strings());
}

// ----------------------------------------------------------------------------- a row of another type where a parent
// was

std::string papers(std::string_view rule) {
  std::string yaml = R"yaml(
model: papers
table: { name: Papers, key: [PK, SK], indexes: { ByAuthor: { key: [GSI1PK, GSI1SK], projection: all } } }
entities:
  AUTHOR:
    access: { read: public, write: public }
    keys: { PK: "author#{author}", SK: "author" }
    attributes: { author: string }
  PAGE:
    access: { read: public, write: public }
    key_family: paper
    keys: { PK: "paper#{paper}", SK: "paper" }
    attributes:
      paper: string
      title: { type: string, unique_within: table }
      notes: { count: NOTE.page }
  SKETCH:
    access: { read: public, write: public }
    key_family: paper
    keys: { PK: "paper#{paper}", SK: "paper" }
    attributes: { paper: string }
  NOTE:
    access: { read: public, write: public }
    parents:
      author: { entity: AUTHOR, on_delete: cascade }
      page: { entity: PAGE, RULE }
    keys: { PK: "paper#{paper}", SK: "note#{note}", GSI1PK: "author#{author}", GSI1SK: "note#{paper}#{note}" }
    attributes:
      author: { type: string, required: true }
      paper: { type: string, required: true }
      note: string
      title: { type: string, copy_of: page.title }
)yaml";
  yaml.replace(yaml.find("RULE"), 4, rule);
  return yaml;
}

class Papers : public Shelf {
 public:
  explicit Papers(std::string_view rule) : Shelf(papers(rule)) {
    world.made("AUTHOR", {{"author", text("ann")}}, nobody());
    propagate_all();
  }
  void page() { world.made("PAGE", {{"paper", text("p")}, {"title", text("Dawn")}}, nobody()); }
  std::string note() {
    return told(world.create("NOTE", {{"author", text("ann")}, {"paper", text("p")}, {"note", text("1")}}, nobody()));
  }
  void replace_by_sketch() {
    EXPECT_EQ(told(world.remove("PAGE", {{"paper", text("p")}}, nobody())), "ok");
    sketch();
  }
  void sketch() { world.made("SKETCH", {{"paper", text("p")}}, nobody()); }
  std::size_t parked() { return manager()->parked()->size(); }
};

TEST(AnotherTypeAtTheKeyOfAParent, LetsAChildBeCreated) {
  Papers papers("must_exist: false");
  papers.sketch();
  EXPECT_EQ(papers.note(), "ok");
  EXPECT_EQ(shown(papers.row_of("NOTE"), "title"), "-");
  EXPECT_EQ(papers.findings(), Strings());
}

TEST(AnotherTypeAtTheKeyOfAParent, LetsChildrenOfTheParentBeRemoved) {
  Papers papers("on_delete: cascade");
  papers.page();
  ASSERT_EQ(papers.note(), "ok");
  papers.replace_by_sketch();
  papers.propagate_all();
  EXPECT_TRUE(papers.row_of("NOTE").empty());
  EXPECT_EQ(papers.parked(), 0U);
  EXPECT_EQ(papers.findings(), Strings());
}

TEST(AnotherTypeAtTheKeyOfAParent, HasNoCountersToAdjust) {
  Papers papers("on_delete: nothing");
  papers.page();
  ASSERT_EQ(papers.note(), "ok");
  papers.replace_by_sketch();
  ASSERT_EQ(told(papers.world.remove("AUTHOR", {{"author", text("ann")}}, nobody())), "ok");
  papers.propagate_all();
  EXPECT_TRUE(papers.row_of("NOTE").empty());
  EXPECT_EQ(papers.parked(), 0U);
}

TEST(AnotherTypeAtTheKeyOfAParent, LetsTheRestOfAnEntityBeRemoved) {
  Papers papers("on_delete: nothing");
  papers.page();
  Reconciler reconciler(papers.world.model(), papers.world.dynamo(), papers.world.random());
  const auto gone = reconciler.entity_of(papers.row_of("PAGE"));
  ASSERT_TRUE(gone);
  papers.erase(gone->row);
  papers.sketch();
  const auto swept = reconciler.sweep_remains(*gone);
  ASSERT_EQ(told(swept), "ok");
  EXPECT_EQ(swept->size(), 1U) << "the reservation of the title";
  EXPECT_EQ(papers.findings(), Strings());
}

}  // namespace
}  // namespace stator::runtime
