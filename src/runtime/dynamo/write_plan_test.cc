#include "stator/runtime/dynamo/write_plan.h"

#include <gtest/gtest.h>

#include "stator/runtime/problem.h"
#include "stator/runtime/test_support.h"

namespace stator::runtime {
namespace {

constexpr std::string_view kTable = R"yaml(
model: plain
table: { name: Plain, key: [PK] }
entities:
  THING:
    access: { read: public, write: public }
    keys: { PK: "{id}" }
    attributes: { id: string }
)yaml";

class WritePlanTest : public ::testing::Test {
 protected:
  static Item key(std::string_view id) { return {{"PK", text(id)}}; }
  static Item row(std::string_view id, const Item& more) {
    auto item = more;
    item.set("PK", text(id));
    return item;
  }
  std::optional<Item> stored(std::string_view id) { return *world.dynamo().get("Plain", key(id)); }
  static Requirement absent() {
    return {.kind = Requirement::Kind::Absent, .attribute = {}, .value = {}, .otherwise = conflict("Exists", "")};
  }
  std::string commit() {
    const auto outcome = plan.commit(world.dynamo());
    if (!outcome) return told(outcome);
    return *outcome == WritePlan::Commit::Written ? "written" : "stale";
  }

  World world{kTable};
  WritePlan plan{world.model().table};
};

TEST_F(WritePlanTest, TouchesOfOneRowBecomeOneWrite) {
  ASSERT_TRUE(world.dynamo().write({.table = "Plain", .item = row("a", {{"n", number(1)}, {"old", text("x")}})}).ok());
  plan.require(key("a"), {.kind = Requirement::Kind::Exists});
  plan.add(key("a"), "n", value::Number::from_int(2));
  plan.add(key("a"), "n", value::Number::from_int(3));
  plan.set(key("a"), "title", text("Dune"));
  plan.clear(key("a"), "old");
  plan.require(key("a"), {.kind = Requirement::Kind::Is, .attribute = "old", .value = text("x")});
  EXPECT_EQ(commit(), "written");
  EXPECT_EQ(*stored("a"), row("a", {{"n", number(6)}, {"title", text("Dune")}}));
}

TEST_F(WritePlanTest, APlanThatChangesNothingAsksNothing) {
  plan.require(key("a"), {.kind = Requirement::Kind::Exists});
  EXPECT_EQ(commit(), "written");
}

TEST_F(WritePlanTest, ARequirementWithoutAProblemMeansReadAgain) {
  plan.require(key("a"), {.kind = Requirement::Kind::Exists});
  plan.set(key("a"), "n", number(1));
  EXPECT_EQ(commit(), "stale");
  EXPECT_FALSE(stored("a"));
}

TEST_F(WritePlanTest, TheFirstRequirementThatDoesNotHoldIsTold) {
  ASSERT_TRUE(world.dynamo().write({.table = "Plain", .item = row("a", {{"n", number(1)}})}).ok());
  plan.require(key("a"), {.kind = Requirement::Kind::Exists});
  plan.require(key("a"), {.kind = Requirement::Kind::AtMostZero,
                          .attribute = "n",
                          .value = {},
                          .otherwise = conflict("InUse", "", {{"n", "is not zero"}})});
  plan.remove(key("a"));
  plan.put(key("b"), row("b", {}));
  EXPECT_EQ(commit(), "409 InUse; n is not zero");
  EXPECT_TRUE(stored("a"));
  EXPECT_FALSE(stored("b")) << "all or nothing";
}

TEST_F(WritePlanTest, WhatThePlanHasPutIsJudgedOnTheSpot) {
  plan.require(key("a"), absent());
  plan.put(key("a"), row("a", {{"n", number(0)}}));
  plan.require(key("a"), {.kind = Requirement::Kind::Exists});
  plan.add(key("a"), "n", value::Number::from_int(1));
  EXPECT_EQ(commit(), "written");
  EXPECT_EQ(*stored("a"), row("a", {{"n", number(1)}}));
}

TEST_F(WritePlanTest, AFreedRowCanBeClaimedAgain) {
  ASSERT_TRUE(world.dynamo().write({.table = "Plain", .item = row("a", {{"of", text("x")}})}).ok());
  plan.remove(key("a"));
  plan.require(key("a"), absent());
  plan.put(key("a"), row("a", {{"of", text("y")}}));
  plan.require(key("a"), absent());
  EXPECT_EQ(commit(), "409 Exists") << "but once only";
}

TEST_F(WritePlanTest, MoreRowsThanATransactionTakesAreRefused) {
  for (int i = 0; i < 101; ++i) plan.put(key(std::to_string(i)), row(std::to_string(i), {}));
  EXPECT_EQ(commit(), "413 TooManyRows");
}

}  // namespace
}  // namespace stator::runtime
