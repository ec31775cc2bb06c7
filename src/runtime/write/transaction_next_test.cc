#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "stator/runtime/test_support.h"
#include "stator/runtime/write/transaction.h"

namespace stator::runtime {
namespace {

// Songs in the order of an index, in lists that count them; tickets whose number is their key; seats whose key is a
// number.
constexpr std::string_view kSongs = R"yaml(
model: songs
table:
  name: Songs
  key: [PK, SK]
  indexes:
    Order: { key: [GSI1PK, GSI1SK] }
    Seats: { key: [row, seat:N] }
entities:
  LIST:
    access: { read: public, write: public }
    keys: { PK: "list#{list}", SK: "list" }
    attributes: { list: { type: string, required: true }, songs: { count: SONG.list } }
  SONG:
    access: { read: public, write: public }
    parents: { list: { entity: LIST, on_delete: cascade } }
    keys: { PK: "song#{song}", SK: "song", GSI1PK: "list#{list}", GSI1SK: "{side}#{place:03}#{song}" }
    attributes:
      song: { type: string, required: true }
      list: { type: string, required: true }
      side: string
      place: { next: { in: songs, step: 10 }, min: 5, max: 100 }
      label: { type: string, derived: "concat(side, '!')" }
  DREAM:
    access: { read: public, write: public }
    soft_delete: { attribute: gone }
    keys:
      PK: "dream#{dream}"
      SK: "dream"
      GSI1PK: { key: "dreams", when: "attribute_not_exists(gone)" }
      GSI1SK: "{place:03}#{dream}"
    attributes:
      dream: { type: string, required: true }
      place: { next: { in: dreams, step: 10 }, required: true, min: 5, max: 100 }
      gone: { type: boolean, internal: true }
  JINGLE:
    access: { read: public, write: public }
    keys: { PK: "jingle#{jingle}", SK: "jingle", GSI1PK: "list#{list}", GSI1SK: "{side}#9x{jingle}" }
    attributes: { jingle: { type: string, required: true }, list: string, side: string }
  TICKET:
    access: { read: public, write: public }
    keys: { PK: "tickets", SK: "ticket#{number:06}" }
    attributes: { number: { next: { in: tickets } }, name: string }
  SEAT:
    access: { read: public, write: public }
    keys: { PK: "seat#{name}", SK: "seat" }
    attributes: { name: { type: string, required: true }, row: string, seat: { next: { in: seats, step: 2 } } }
patterns:
  songs: { query: { index: Order, GSI1PK: "list#{list}" }, returns: SONG }
  dreams: { query: { index: Order, GSI1PK: "dreams" }, returns: DREAM }
  tickets: { query: { PK: "tickets" }, returns: TICKET }
  seats: { query: { index: Seats, row: "{row|raw}" }, returns: SEAT }
)yaml";

class NextTest : public ::testing::Test {
 protected:
  NextTest() { world.made("LIST", {{"list", text("l")}}, nobody()); }

  Item song(std::string_view name, std::string_view side = "A") {
    return {{"song", text(name)}, {"list", text("l")}, {"side", text(side)}};
  }
  std::string place(const Item& attributes) {
    const auto made = world.create("SONG", attributes, nobody());
    return made ? shown(*made, "place") : told(made);
  }

  World world{kSongs};
};

TEST_F(NextTest, EachOrderCountsForItself) {
  EXPECT_EQ(place(song("a")), "10");
  EXPECT_EQ(place(song("b")), "20");
  EXPECT_EQ(place(song("c", "B")), "10");
}

TEST_F(NextTest, OtherRowsInTheIndexAreNotCounted) {
  EXPECT_EQ(place(song("a")), "10");
  for (const auto* name : {"1", "2", "3", "4", "5", "6", "7"}) {
    world.made("JINGLE", {{"jingle", text(name)}, {"list", text("l")}, {"side", text("A")}}, nobody());
  }
  EXPECT_EQ(place(song("b")), "20");
}

TEST_F(NextTest, BeyondTheGreatestItIsFull) {
  auto last = song("a");
  last.set("place", number(95));
  EXPECT_EQ(place(last), "95");
  EXPECT_EQ(place(song("b")), "409 Full; place has no next value");
}

TEST_F(NextTest, WithoutAnOrderThereIsNoNumberAndWithOneThereIs) {
  EXPECT_EQ(place({{"song", text("a")}, {"list", text("l")}}), "-");
  const auto moved = world.update("SONG", {{"song", text("a")}}, changes({{"side", text("A")}}), nobody());
  EXPECT_EQ(shown(*moved, "place"), "10");
  EXPECT_EQ(shown(*moved, "label"), "\"A!\"");
}

TEST_F(NextTest, WhoMovesToAnotherOrderGetsTheNextNumberThereUnlessOneIsGiven) {
  place(song("a", "B"));
  place(song("b"));
  const auto moved = [&](const model::PlainObject& change) {
    return shown(*world.update("SONG", {{"song", text("b")}}, change, nobody()), "place");
  };
  EXPECT_EQ(moved(changes({{"side", text("B")}})), "20");
  EXPECT_EQ(moved(changes({{"side", text("B")}})), "20") << "it is there already";
  EXPECT_EQ(moved(changes({{"side", text("A")}, {"place", number(20)}})), "20") << "as given";
  EXPECT_EQ(moved(changes({}, {"side"})), "-") << "who is in no order has no number";
}

TEST_F(NextTest, ANumberFromNowhereCountsInNoOrder) {
  place(song("a"));
  world.made("SONG", {{"song", text("b")}, {"list", text("l")}, {"place", number(70)}}, nobody());
  EXPECT_EQ(shown(*world.update("SONG", {{"song", text("b")}}, changes({{"side", text("A")}}), nobody()), "place"),
            "20");
}

TEST_F(NextTest, WhatIsDeletedSoftlyKeepsItsNumber) {
  const Item first{{"dream", text("a")}}, second{{"dream", text("b")}};
  world.made("DREAM", first, nobody());
  world.made("DREAM", second, nobody());
  ASSERT_EQ(told(world.remove("DREAM", first, nobody())), "ok");
  const auto restored = world.repository().restore(world.entity("DREAM"), first, nobody(), {});
  ASSERT_EQ(told(restored), "ok");
  EXPECT_EQ(shown(*restored, "place"), "10");
}

TEST_F(NextTest, ManyInOneTransactionFollowEachOther) {
  const auto done = world.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
    for (const auto* name : {"a", "b", "c"})
      TRY(transaction.create(world.entity("SONG"), song(name), ValueSource::Model));
    return {};
  });
  ASSERT_EQ(told(done), "ok");
  EXPECT_EQ(shown(*world.get("SONG", {{"song", text("c")}}, nobody()), "place"), "30");
  EXPECT_EQ(place(song("d")), "40");
}

TEST_F(NextTest, ANumberCanBeAKeyAsItIs) {
  const auto seat = [&](std::string_view name) {
    return shown(world.made("SEAT", {{"name", text(name)}, {"row", text("r")}}, nobody()), "seat");
  };
  EXPECT_EQ(seat("a"), "2");
  EXPECT_EQ(seat("b"), "4");
}

TEST_F(NextTest, NoTwoGetTheSameWhereAParentCountsOrTheNumberIsTheKey) {
  constexpr int kThreads = 4;
  constexpr int kEach = 5;
  std::atomic<int> failed = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const auto name = std::to_string(t) + "-" + std::to_string(i);
        Item attributes = song(name, t % 2 == 0 ? "A" : "B");
        if (!world.create("SONG", attributes, nobody())) ++failed;
        if (!world.create("TICKET", {{"name", text(name)}}, nobody())) ++failed;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(failed, 0);
  std::set<std::string> places, tickets;
  const auto songs = world.run("songs", {{"list", text("l")}}, nobody());
  for (const auto& one : songs->objects) places.insert(shown(one, "side") + shown(one, "place"));
  const auto all = world.run("tickets", {}, nobody());
  for (const auto& one : all->objects) tickets.insert(shown(one, "number"));
  EXPECT_EQ(places.size(), kThreads * kEach);
  EXPECT_EQ(tickets.size(), kThreads * kEach);
}

}  // namespace
}  // namespace stator::runtime
