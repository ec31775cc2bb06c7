#include "stator/runtime/write/transaction.h"

#include <gtest/gtest.h>

#include <atomic>
#include <regex>
#include <thread>

#include "stator/runtime/test_support.h"

namespace stator::runtime {
namespace {

// Counters that other things are computed from: an index by popularity, and a sum of counts.
constexpr std::string_view kTopics = R"yaml(
model: topics
table:
  name: Topics
  key: [PK, SK]
  indexes:
    Popular: { key: [GSI1PK, GSI1SK], projection: all }
entities:
  FORUM:
    access: { read: public, write: public }
    keys: { PK: "forum#{forum}", SK: "forum" }
    attributes:
      forum: { type: string, required: true }
      votes: { sum: { of: TOPIC.forum, attribute: votes } }
  TOPIC:
    access: { read: public, write: public }
    parents: { forum: { entity: FORUM, on_delete: cascade } }
    keys:
      PK: "topic#{topic}"
      SK: "topic"
      GSI1PK: "forum#{forum}"
      GSI1SK: "{votes:08}"
    attributes:
      topic: { type: string, required: true }
      forum: { type: string, required: true }
      votes: { count: VOTE.topic }
  VOTE:
    access: { read: public, write: public }
    parents: { topic: { entity: TOPIC, on_delete: cascade } }
    keys: { PK: "topic#{topic}", SK: "vote#{voter}" }
    attributes: { topic: { type: string, required: true }, voter: { type: string, required: true } }
patterns:
  popular:
    query: { index: Popular, GSI1PK: "forum#{forum}" }
    order: descending
    returns: TOPIC
)yaml";

class TopicsTest : public ::testing::Test {
 protected:
  TopicsTest() {
    world.made("FORUM", {{"forum", text("f")}}, nobody());
    for (const auto* topic : {"a", "b"}) world.made("TOPIC", {{"topic", text(topic)}, {"forum", text("f")}}, nobody());
  }
  Result<Object, Problem> vote(std::string_view topic, std::string_view voter) {
    return world.create("VOTE", {{"topic", text(topic)}, {"voter", text(voter)}}, nobody());
  }
  std::string popular() {
    std::string out;
    const auto page = world.run("popular", {{"forum", text("f")}}, nobody());
    for (const auto& topic : page->objects) out += shown(topic, "topic") + ":" + shown(topic, "votes") + " ";
    return out;
  }
  std::string forum_votes() { return shown(*world.get("FORUM", {{"forum", text("f")}}, nobody()), "votes"); }

  World world{kTopics};
};

TEST_F(TopicsTest, AKeyFollowsACounter) {
  ASSERT_EQ(told(vote("b", "x")), "ok");
  ASSERT_EQ(told(vote("b", "y")), "ok");
  ASSERT_EQ(told(vote("a", "x")), "ok");
  EXPECT_EQ(popular(), "\"b\":2 \"a\":1 ");
  ASSERT_TRUE(world.remove("VOTE", {{"topic", text("b")}, {"voter", text("x")}}, nobody()).ok());
  ASSERT_EQ(told(vote("a", "y")), "ok");
  EXPECT_EQ(popular(), "\"a\":2 \"b\":1 ");
}

TEST_F(TopicsTest, ASumOfCountsMovesWithThem) {
  ASSERT_EQ(told(vote("a", "x")), "ok");
  ASSERT_EQ(told(vote("b", "x")), "ok");
  EXPECT_EQ(forum_votes(), "2");
  ASSERT_TRUE(world.remove("TOPIC", {{"topic", text("a")}}, nobody()).ok());
  EXPECT_EQ(forum_votes(), "1");
}

TEST_F(TopicsTest, ConcurrentVotesKeepKeyAndCounterTogether) {
  std::atomic<int> cast = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 4; ++n) cast += vote("a", std::to_string(i * 10 + n)).ok() ? 1 : 0;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GT(cast, 0);
  const auto row = world.row("topic#a", "topic");
  EXPECT_EQ(shown(*row, "votes"), std::to_string(cast));
  EXPECT_EQ(shown(*row, "GSI1SK"), "\"" + std::string(cast < 10 ? "0000000" : "000000") + std::to_string(cast) + "\"");
  EXPECT_EQ(forum_votes(), std::to_string(cast));
}

constexpr std::string_view kAccounts = R"yaml(
model: accounts
table: { name: Accounts, key: [PK], ttl: expiresAt }
entities:
  ACCOUNT:
    access: { read: public, write: public }
    soft_delete: { attribute: deleted, at: deletedAt, keep: 1d }
    keys: { PK: "account#{id}" }
    attributes:
      id: { type: string, required: true }
      secret: { type: string, transient: true }
      hint: { type: string, derived: "lower(secret)" }
      note: string
      deleted: boolean
      deletedAt: timestamp
  SESSION:
    access: { read: public, write: public }
    versioned: false
    keys: { PK: "session#{id}" }
    expires: "until"
    attributes:
      id: { type: string, required: true }
      until: timestamp
      hits: { type: integer, default: 0 }
)yaml";

class AccountsTest : public ::testing::Test {
 protected:
  World world{kAccounts};
  const Item id{{"id", text("a")}};
};

TEST_F(AccountsTest, WhatIsTransientIsUsedAndNotStored) {
  world.made("ACCOUNT", {{"id", text("a")}, {"secret", text("PASS")}}, nobody());
  EXPECT_EQ(shown(*world.get("ACCOUNT", id, nobody()), "hint"), "\"pass\"");
  EXPECT_EQ(shown(world.rows().front(), "secret"), "-");
  ASSERT_TRUE(world.update("ACCOUNT", id, changes({{"note", text("x")}}), nobody()).ok());
  EXPECT_EQ(shown(*world.get("ACCOUNT", id, nobody()), "hint"), "\"pass\"") << "it stays until it is given again";
  ASSERT_TRUE(world.update("ACCOUNT", id, changes({{"secret", text("WORD")}}), nobody()).ok());
  EXPECT_EQ(shown(*world.get("ACCOUNT", id, nobody()), "hint"), "\"word\"");
}

TEST(Derived, WhatCannotBeComputedIsToldOfWhatWasGiven) {
  World world(R"yaml(
model: yard
table: { name: Yard, key: [PK] }
entities:
  TILE:
    access: { read: public, write: public }
    keys: { PK: "tile#{tile}" }
    attributes:
      tile: { type: string, required: true }
      side: { type: number, required: true }
      area: { type: number, derived: "side * side" }
)yaml");
  const auto side = value::AttributeValue(*value::Number::parse("1.2345678901234567890123456789"));
  EXPECT_EQ(
      told(world.create("TILE", {{"tile", text("t")}, {"side", side}}, nobody())),
      "400 Invalid; side leads to an area that cannot be computed: Attempting to store more than 38 significant digits "
      "in a Number in the expression: side * side");
}

TEST_F(AccountsTest, ADeletedRowExpiresUnlessItIsRestored) {
  world.made("ACCOUNT", id, nobody());
  ASSERT_TRUE(world.remove("ACCOUNT", id, nobody()).ok());
  EXPECT_EQ(shown(world.rows().front(), "expiresAt"), std::to_string(1'700'000'000 + 86'400));
  EXPECT_EQ(shown(*world.get("ACCOUNT", id, nobody(), true), "expiresAt"), "-");
  ASSERT_TRUE(world.repository().restore(world.entity("ACCOUNT"), id, nobody()).ok());
  EXPECT_EQ(shown(world.rows().front(), "expiresAt"), "-");
}

TEST_F(AccountsTest, NobodyDeletesByAnUpdate) {
  world.made("ACCOUNT", id, nobody());
  EXPECT_EQ(told(world.update("ACCOUNT", id, changes({{"deleted", boolean(true)}}), nobody())),
            "400 Invalid; deleted cannot be set");
}

TEST_F(AccountsTest, ARowExpiresWhenItsExpressionSays) {
  world.made("SESSION", {{"id", text("a")}, {"until", text("2026-01-15T10:00:00Z")}}, nobody());
  EXPECT_EQ(shown(world.rows().front(), "expiresAt"), "1768471200");
  ASSERT_TRUE(world.update("SESSION", id, changes({}, {"until"}), nobody()).ok());
  EXPECT_EQ(shown(world.rows().front(), "expiresAt"), "-");
}

TEST_F(AccountsTest, AnEntityCanGoWithoutAVersion) {
  world.made("SESSION", id, nobody());
  const auto changed = world.update("SESSION", id, changes({{"hits", number(1)}}), nobody());
  ASSERT_TRUE(changed.ok()) << told(changed);
  EXPECT_EQ(changed->version, 0U);
  EXPECT_EQ(shown(world.rows().front(), "Version"), "-");
}

// One row gives its unique value to another, in one action, whichever of the two is read first.
constexpr std::string_view kSeats = R"yaml(
model: seats
table: { name: Seats, key: [PK, SK] }
entities:
  GUEST:
    access: { read: public, write: public }
    keys: { PK: "guest#{guest}", SK: "guest" }
    attributes:
      guest: { type: string, required: true }
      seat: { type: integer, unique_within: table }
actions:
  give:
    post: /give
    access: public
    input: { from: { type: string, required: true }, to: { type: string, required: true } }
    steps:
      - read: GUEST
        as: giver
        key: { guest: ":from" }
      - read: GUEST
        as: taker
        key: { guest: ":to" }
      - update: taker
        set: { seat: "giver.seat" }
      - update: giver
        set: { seat: "null" }
    result: taker
  take:
    post: /take
    access: public
    input: { from: { type: string, required: true }, to: { type: string, required: true } }
    steps:
      - read: GUEST
        as: taker
        key: { guest: ":to" }
      - read: GUEST
        as: giver
        key: { guest: ":from" }
      - update: taker
        set: { seat: "giver.seat" }
      - update: giver
        set: { seat: "null" }
    result: taker
  exchange:
    post: /exchange
    access: public
    input: { from: { type: string, required: true }, to: { type: string, required: true } }
    steps:
      - read: GUEST
        as: one
        key: { guest: ":from" }
      - read: GUEST
        as: other
        key: { guest: ":to" }
      - update: one
        set: { seat: "one.seat + other.seat" }
      - update: other
        set: { seat: "one.seat - other.seat" }
      - update: one
        set: { seat: "one.seat - other.seat" }
    result: one
)yaml";

TEST(UniqueValues, PassFromOneRowToAnotherInOneAction) {
  World world(kSeats);
  world.made("GUEST", {{"guest", text("ann")}, {"seat", number(1)}}, nobody());
  world.made("GUEST", {{"guest", text("bob")}}, nobody());
  world.made("GUEST", {{"guest", text("cy")}, {"seat", number(7)}}, nobody());
  const auto seat = [&](std::string_view guest) {
    return shown(*world.get("GUEST", {{"guest", text(guest)}}, nobody()), "seat");
  };
  const auto perform = [&](std::string_view action, std::string_view from, std::string_view to) {
    return told(world.perform(action, {{"from", text(from)}, {"to", text(to)}}, nobody()));
  };
  EXPECT_EQ(perform("give", "ann", "bob"), "ok");
  EXPECT_EQ(seat("bob") + seat("ann"), "1-");
  EXPECT_EQ(perform("take", "bob", "ann"), "ok");
  EXPECT_EQ(seat("ann") + seat("bob"), "1-");
  EXPECT_EQ(perform("exchange", "ann", "cy"), "ok");
  EXPECT_EQ(seat("ann") + seat("cy"), "71");
  EXPECT_EQ(told(world.create("GUEST", {{"guest", text("dot")}, {"seat", number(1)}}, nobody())),
            "409 Duplicate; seat is taken");
  EXPECT_EQ(world.rows().size(), 5U) << "three guests, two seats";
}

TEST(GeneratorTest, UlidsSortByTime) {
  ManualClock clock;
  Random random{1};
  const Generator generator(clock, random);
  const auto first = generator.ulid();
  EXPECT_TRUE(std::regex_match(first, std::regex("[0-9A-HJKMNP-TV-Z]{26}"))) << first;
  EXPECT_NE(generator.ulid(), first);
  clock.advance(std::chrono::milliseconds(1));
  EXPECT_LT(first, generator.ulid());
}

}  // namespace
}  // namespace stator::runtime
