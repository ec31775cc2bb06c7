// Numbers that are never given twice, and ranks that stay distinct.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <set>
#include <thread>

#include "stator/runtime/consistency/reconciler.h"
#include "stator/runtime/test_support.h"
#include "stator/runtime/write/transaction.h"

namespace stator::runtime {
namespace {

// Issues and pulls of a repository have one series of numbers; tasks have ranks in their columns.
constexpr std::string_view kRepos = R"yaml(
model: repos
table:
  name: Repos
  key: [PK, SK]
  indexes:
    ByRank: { key: [GSI1PK, GSI1SK] }
entities:
  REPO:
    access: { read: public, write: public }
    keys: { PK: "repo#{repo}", SK: "repo" }
    attributes: { repo: { type: string, required: true }, last: { last: true }, issues: { count: ISSUE.repo } }
  ISSUE:
    access: { read: public, write: public }
    parents: { repo: { entity: REPO, on_delete: cascade } }
    keys: { PK: "repo#{repo}", SK: "issue#{number:08}" }
    attributes: { repo: string, number: { next: { by: repo.last }, max: 99999999 }, text: string }
  COMMENT:
    access: { read: public, write: public }
    parents: { issue: { entity: ISSUE, on_delete: cascade } }
    keys: { PK: "repo#{repo}", SK: "comment#{number:08}#{comment}" }
    attributes: { repo: string, number: { type: integer, min: 1, max: 99999999 }, comment: { type: ulid, generated: ulid } }
  PULL:
    access: { read: public, write: public }
    parents: { repo: { entity: REPO, on_delete: cascade } }
    keys: { PK: "pull#{pull}", SK: "pull", GSI1PK: "pulls#{repo}", GSI1SK: "{pull}" }
    attributes: { pull: { type: string, required: true }, repo: string, number: { next: { by: repo.last }, min: 1 } }
  TASK:
    access: { read: public, write: public }
    soft_delete: { attribute: gone }
    keys:
      PK: "task#{task}"
      SK: "task"
      GSI1PK: { key: "column#{column}", when: "attribute_not_exists(gone)" }
      GSI1SK: "{rank:05}#{task}"
    attributes:
      task: { type: string, required: true }
      column: { type: string, required: true }
      rank: { next: { in: tasks, step: 10, distinct: true }, min: 1, max: 99999 }
      gone: boolean
patterns:
  tasks: { query: { index: ByRank, GSI1PK: "column#{column}" }, returns: TASK }
)yaml";

class NumbersTest : public ::testing::Test {
 protected:
  NumbersTest() {
    for (const auto* name : {"a", "b"}) world.made("REPO", {{"repo", text(name)}}, nobody());
  }
  std::string issue(std::string_view repo = "a") {
    const auto made = world.create("ISSUE", {{"repo", text(repo)}}, nobody());
    return made ? shown(*made, "number") : told(made);
  }
  std::string pull(std::string_view name, std::string_view repo = "a") {
    const auto made = world.create("PULL", {{"pull", text(name)}, {"repo", text(repo)}}, nobody());
    return made ? shown(*made, "number") : told(made);
  }
  std::string last(std::string_view repo = "a") {
    return shown(*world.get("REPO", {{"repo", text(repo)}}, nobody()), "last");
  }
  static Item named(std::int64_t issue) { return {{"repo", text("a")}, {"number", number(issue)}}; }

  std::string task(std::string_view name, std::optional<std::int64_t> rank = {}) {
    Item attributes{{"task", text(name)}, {"column", text("todo")}};
    if (rank) attributes.set("rank", number(*rank));
    const auto made = world.create("TASK", attributes, nobody());
    return made ? shown(*made, "rank") : told(made);
  }
  // Runs it in several threads, each with its number.  How often it was not "ok".
  static int at_once(int threads, const std::function<std::string(int)>& work) {
    std::atomic<int> failed = 0;
    std::vector<std::jthread> running;
    for (int t = 0; t < threads; ++t) {
      running.emplace_back([&, t] {
        if (work(t) != "ok") ++failed;
      });
    }
    running.clear();
    return failed;
  }

  World world{kRepos};
};

TEST_F(NumbersTest, EachParentCountsForItself) {
  EXPECT_EQ(issue(), "1");
  EXPECT_EQ(issue(), "2");
  EXPECT_EQ(issue("b"), "1");
  EXPECT_EQ(last(), "2");
  EXPECT_EQ(issue("c"), "400 NoSuchParent; repo names no REPO");
}

TEST_F(NumbersTest, TwoEntitiesShareOneSeries) {
  EXPECT_EQ(issue(), "1");
  EXPECT_EQ(pull("x"), "2");
  EXPECT_EQ(issue(), "3");
}

TEST_F(NumbersTest, TheNumberOfADeletedRowIsNotGivenAgain) {
  issue();
  issue();
  world.made("COMMENT", named(2), nobody());
  ASSERT_EQ(told(world.remove("ISSUE", named(2), nobody())), "ok");
  EXPECT_EQ(issue(), "3") << "although the comments of the former issue are still being removed";
}

TEST_F(NumbersTest, NobodySetsThem) {
  auto chosen = named(7);
  EXPECT_EQ(told(world.create("ISSUE", chosen, nobody())), "400 Invalid; number cannot be set");
  EXPECT_EQ(told(world.create("REPO", {{"repo", text("d")}, {"last", number(7)}}, nobody())),
            "400 Invalid; last cannot be set");
  pull("x");
  EXPECT_EQ(told(world.update("PULL", {{"pull", text("x")}}, changes({{"number", number(7)}}), nobody())),
            "400 Invalid; number cannot be set");
  const auto by_program = world.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
    TRY(transaction.create(world.entity("ISSUE"), chosen, ValueSource::Model));
    return {};
  });
  EXPECT_EQ(told(by_program), "400 Invalid; number cannot be set");
}

TEST_F(NumbersTest, TheyDoNotCountAsChangesOfTheParent) {
  const auto before = world.get("REPO", {{"repo", text("a")}}, nobody())->version;
  issue();
  EXPECT_EQ(world.get("REPO", {{"repo", text("a")}}, nobody())->version, before);
}

TEST_F(NumbersTest, WhoMovesToAnotherParentGetsANumberThere) {
  issue("b");
  issue("b");
  EXPECT_EQ(pull("x"), "1");
  const auto moved = world.update("PULL", {{"pull", text("x")}}, changes({{"repo", text("b")}}), nobody());
  EXPECT_EQ(shown(*moved, "number"), "3");
  EXPECT_EQ(issue(), "2");
}

TEST_F(NumbersTest, ManyInOneTransactionFollowEachOther) {
  const auto done = world.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
    TRY(transaction.create(world.entity("REPO"), {{"repo", text("new")}}, ValueSource::Model));
    for (int i = 0; i < 3; ++i)
      TRY(transaction.create(world.entity("ISSUE"), {{"repo", text("new")}}, ValueSource::Model));
    return {};
  });
  ASSERT_EQ(told(done), "ok");
  EXPECT_EQ(last("new"), "3");
}

TEST_F(NumbersTest, NoNumberIsGivenTwiceHoweverManyAsk) {
  constexpr int kThreads = 4;
  constexpr int kEach = 5;
  EXPECT_EQ(at_once(kThreads,
                    [&](int t) {
                      for (int i = 0; i < kEach; ++i) {
                        issue();
                        pull(std::to_string(t) + "-" + std::to_string(i));
                      }
                      return "ok";
                    }),
            0);
  EXPECT_EQ(last(), std::to_string(2 * kThreads * kEach));
  EXPECT_EQ(shown(*world.get("REPO", {{"repo", text("a")}}, nobody()), "issues"), std::to_string(kThreads * kEach));
}

// A table from before: the repository has no last number yet.
TEST_F(NumbersTest, AParentFromBeforeBeginsAtTheHighestNumber) {
  const auto put = [&](Item row) {
    RowWrite write;
    write.kind = RowWrite::Kind::Put;
    write.table = world.model().table.name;
    write.item = std::move(row);
    ASSERT_TRUE(world.dynamo().write(std::move(write)).ok());
  };
  put({{"PK", text("repo#old")}, {"SK", text("repo")}, {"EntityType", text("REPO")}, {"repo", text("old")}});
  put({{"PK", text("repo#old")},
       {"SK", text("issue#00000041")},
       {"EntityType", text("ISSUE")},
       {"repo", text("old")},
       {"number", number(41)}});
  EXPECT_EQ(issue("old"), "42");
  EXPECT_EQ(last("old"), "42");
}

TEST_F(NumbersTest, ALastNumberThatIsBehindIsRepaired) {
  issue();
  issue();
  RowWrite write;
  write.kind = RowWrite::Kind::Put;
  write.table = world.model().table.name;
  write.item = *world.row("repo#a", "repo");
  write.item.set("last", number(1));
  ASSERT_TRUE(world.dynamo().write(std::move(write)).ok());
  Reconciler reconciler(world.model(), world.dynamo(), world.random());
  const auto repo = [&] { return *reconciler.entity_of(*world.row("repo#a", "repo")); };
  const auto found = reconciler.recount(repo(), true);
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().what, "last");
  EXPECT_EQ(last(), "2");
  ASSERT_EQ(told(world.remove("ISSUE", named(2), nobody())), "ok");
  EXPECT_TRUE(reconciler.recount(repo(), true)->empty()) << "it may be ahead";
}

// --------------------------------------------------------------------------------------------------------------- ranks

TEST_F(NumbersTest, ARankThatAnotherRowHasIsRefused) {
  EXPECT_EQ(task("a"), "10");
  EXPECT_EQ(task("b", 10), "409 Duplicate; rank is taken");
  EXPECT_EQ(task("b", 15), "15");
  EXPECT_EQ(told(world.update("TASK", {{"task", text("b")}}, changes({{"rank", number(10)}}), nobody())),
            "409 Duplicate; rank is taken");
}

TEST_F(NumbersTest, TheRankOfWhatIsDeletedSoftlyIsKeptForIt) {
  task("a");
  ASSERT_EQ(task("b"), "20");
  ASSERT_EQ(told(world.remove("TASK", {{"task", text("b")}}, nobody())), "ok");
  EXPECT_EQ(task("c"), "30");
  const auto restored = world.repository().restore(world.entity("TASK"), {{"task", text("b")}}, nobody());
  EXPECT_EQ(shown(*restored, "rank"), "20");
}

TEST_F(NumbersTest, RanksStayDistinctHoweverManyMove) {
  constexpr int kThreads = 8;
  constexpr int kEach = 4;
  const auto name = [](int t, int i) { return std::to_string(t) + "-" + std::to_string(i); };
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kEach; ++i) task(name(t, i));
  }
  const auto move = [&](int t) {
    for (const auto* column : {"doing", "todo", "done"}) {
      for (int i = 0; i < kEach; ++i) {
        const auto moved =
            world.update("TASK", {{"task", text(name(t, i))}}, changes({{"column", text(column)}}), nobody());
        if (!moved) return told(moved);
      }
    }
    return std::string("ok");
  };
  EXPECT_EQ(at_once(kThreads, move), 0);
  std::set<std::string> ranks;
  const auto done = world.run("tasks", {{"column", text("done")}}, nobody());
  for (const auto& one : done->objects) ranks.insert(shown(one, "rank"));
  EXPECT_EQ(done->objects.size(), kThreads * kEach);
  EXPECT_EQ(ranks.size(), kThreads * kEach);
}

}  // namespace
}  // namespace stator::runtime
