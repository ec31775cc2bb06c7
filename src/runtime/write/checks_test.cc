#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "stator/runtime/test_support.h"
#include "stator/runtime/write/transaction.h"

namespace stator::runtime {
namespace {

TEST(Checks, HoldOfEveryRowThatSomebodyWrites) {
  World world(R"yaml(
model: reading
table: { name: Reading, key: [PK, SK] }
entities:
  BOOK:
    owner: userId
    keys: { PK: "USER#{userId}", SK: "BOOK#{id}" }
    checks:
      - that: "attribute_not_exists(page) OR attribute_not_exists(pages) OR page <= pages"
        attribute: page
        problem: "must not be beyond pages"
    attributes:
      userId: { type: string, min: 1, max: 100 }
      id: { type: uuid, generated: uuid }
      title: string
      page: integer
      pages: integer
      isbn: isbn
)yaml");
  const auto alice = user("alice");
  EXPECT_EQ(told(world.create("BOOK", {{"page", number(11)}, {"pages", number(10)}}, alice)),
            "400 Invalid; page must not be beyond pages");
  const auto made =
      world.made("BOOK", {{"page", number(9)}, {"pages", number(10)}, {"isbn", text("0-306-40615-2")}}, alice);
  EXPECT_EQ(shown(made, "isbn"), "\"0306406152\"");
  const Item key = {{"id", *made.attributes.find("id")}};
  EXPECT_EQ(told(world.update("BOOK", key, changes({{"pages", number(5)}}), alice)),
            "400 Invalid; page must not be beyond pages");
  EXPECT_TRUE(world.update("BOOK", key, changes({{"pages", number(5)}}, {"page"}), alice).ok());
  EXPECT_EQ(told(world.update("BOOK", key, changes({{"isbn", text("0306406153")}}), alice)),
            "400 Invalid; isbn is not an ISBN with a right checksum, such as 978-0-306-40615-7");
}

TEST(Checks, HoldAlsoOfWhatOthersChangeMeanwhile) {
  World world(R"yaml(
model: queue
table: { name: Queue, key: [PK] }
entities:
  JOB:
    access: { read: public, write: public }
    keys: { PK: "job#{job}" }
    checks: [{ that: "lease <= limit", attribute: lease, problem: "must not be beyond limit" }]
    attributes:
      job: { type: string, required: true }
      lease: { type: integer, default: 0, drifts: true }
      limit: { type: integer, default: 9 }
actions:
  lease:
    post: /jobs/{job}/lease
    access: public
    steps:
      - { read: JOB, as: job, key: { job: ":job" } }
      - { update: job, set: { lease: "5" } }
)yaml");
  const Item key = {{"job", text("j")}};
  world.made("JOB", key, nobody());
  bool leased = false;
  const auto lowered = world.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
    auto* job = TRY(transaction.load(world.entity("JOB"), key));
    TRY(transaction.change(*job, changes({{"limit", number(3)}}), ValueSource::Request));
    if (!std::exchange(leased, true)) TRY(world.perform("lease", key, nobody()));
    return {};
  });
  EXPECT_EQ(told(lowered), "400 Invalid; lease must not be beyond limit");
}

TEST(Checks, TellWhatKeepsThemFromBeingAsked) {
  World world(R"yaml(
model: speed
table: { name: Speed, key: [PK] }
entities:
  RIDE:
    access: { read: public, write: public }
    keys: { PK: "ride#{id}" }
    checks: [{ that: "way / hours <= 130", attribute: hours, problem: "must be more" }]
    attributes: { id: { type: string, required: true }, way: number, hours: number }
)yaml");
  const auto ride = [&](int hours) {
    return told(world.create("RIDE", {{"id", text("r")}, {"way", number(500)}, {"hours", number(hours)}}, nobody()));
  };
  EXPECT_EQ(ride(2), "400 Invalid; hours must be more");
  EXPECT_EQ(ride(0), "400 Invalid; hours cannot be checked: Division by zero in the expression: way / hours <= 130");
  EXPECT_EQ(ride(5), "ok");
}

// A shelf has room for so many books, and so much weight.
constexpr std::string_view kRoom = R"yaml(
model: room
table: { name: Room, key: [PK, SK] }
entities:
  SHELF:
    access: { read: public, write: public }
    keys: { PK: "shelf#{shelf}", SK: "shelf" }
    checks:
      - { that: "books <= room", attribute: books, problem: "must not be more than there is room for" }
      - { that: "weight < 100", attribute: weight, problem: "must be below 100" }
    attributes:
      shelf: { type: string, required: true }
      room: { type: integer, default: 2 }
      books: { count: BOOK.shelf }
      weight: { sum: { of: BOOK.shelf, attribute: weight } }
  BOOK:
    access: { read: public, write: public }
    parents: { shelf: { entity: SHELF, on_delete: cascade } }
    keys: { PK: "shelf#{shelf}", SK: "book#{book}" }
    attributes:
      shelf: { type: string, required: true }
      book: { type: string, required: true }
      weight: { type: number, default: 1 }
actions:
  swap:
    post: /shelves/{shelf}/swap
    access: public
    input: { out: { type: string, required: true }, in: { type: string, required: true } }
    steps:
      - { read: BOOK, as: out, key: { shelf: ":shelf", book: ":out" } }
      - { create: BOOK, set: { shelf: ":shelf", book: ":in" } }
      - { delete: out }
  replace:
    post: /shelves/{shelf}/replace
    access: public
    input: { out: { type: string, required: true }, in: { type: string, required: true }, room: { type: integer, required: true } }
    steps:
      - { read: BOOK, as: out, key: { shelf: ":shelf", book: ":out" } }
      - { read: SHELF, as: it, key: { shelf: ":shelf" } }
      - { delete: out }
      - { update: it, set: { room: ":room" } }
      - { create: BOOK, set: { shelf: ":shelf", book: ":in" } }
  shrink:
    post: /shelves/{shelf}/shrink
    access: public
    input: { out: { type: string, required: true }, room: { type: integer, required: true } }
    steps:
      - { read: BOOK, as: out, key: { shelf: ":shelf", book: ":out" } }
      - { read: SHELF, as: it, key: { shelf: ":shelf" } }
      - { update: it, set: { room: ":room" } }
      - { delete: out }
  furnish:
    post: /shelves/{shelf}/furnish
    access: public
    steps:
      - { create: SHELF, set: { shelf: ":shelf", room: "0" } }
      - { create: BOOK, set: { shelf: ":shelf", book: "'first'" } }
)yaml";

class CountingChecks : public ::testing::Test {
 protected:
  CountingChecks() { world.made("SHELF", shelf, nobody()); }
  Item named(std::string_view book, int weight = 1) const {
    return {{"shelf", text("s")}, {"book", text(book)}, {"weight", number(weight)}};
  }
  std::string put(std::string_view book, int weight = 1) {
    return told(world.create("BOOK", named(book, weight), nobody()));
  }
  std::string books() { return shown(*world.get("SHELF", shelf, nobody()), "books"); }

  World world{kRoom};
  const Item shelf{{"shelf", text("s")}};
  const std::string full = "409 CheckFailed; books must not be more than there is room for";
};

TEST_F(CountingChecks, HoldWhoeverComesOrGrows) {
  EXPECT_EQ(put("a"), "ok");
  EXPECT_EQ(put("b"), "ok");
  EXPECT_EQ(put("c"), full);
  EXPECT_EQ(books(), "2");
  const Item a{{"shelf", text("s")}, {"book", text("a")}};
  EXPECT_EQ(told(world.update("BOOK", a, changes({{"weight", number(99)}}), nobody())),
            "409 CheckFailed; weight must be below 100");
  ASSERT_TRUE(world.remove("BOOK", a, nobody()).ok());
  EXPECT_EQ(put("c"), "ok");
  EXPECT_EQ(told(world.update("SHELF", shelf, changes({{"room", number(1)}}), nobody())),
            "400 Invalid; books must not be more than there is room for");
}

TEST_F(CountingChecks, AreAskedAboutTheWholeOfAnAction) {
  put("a");
  put("b");
  EXPECT_EQ(told(world.perform("swap", {{"shelf", text("s")}, {"out", text("a")}, {"in", text("c")}}, nobody())), "ok");
  EXPECT_EQ(books(), "2");
  EXPECT_EQ(told(world.perform("furnish", {{"shelf", text("new")}}, nobody())), full);
}

TEST_F(CountingChecks, AreAskedOnlyOnceAnActionHasDoneEverything) {
  put("a");
  put("b");
  const auto replace = [&](int room) {
    return told(world.perform(
        "replace", {{"shelf", text("s")}, {"out", text("a")}, {"in", text("c")}, {"room", number(room)}}, nobody()));
  };
  EXPECT_EQ(replace(1), "400 Invalid; books must not be more than there is room for") << "as many books, and less room";
  EXPECT_EQ(told(world.perform("shrink", {{"shelf", text("s")}, {"out", text("b")}, {"room", number(1)}}, nobody())),
            "ok")
      << "there is a moment in which it does not hold";
  EXPECT_EQ(books(), "1");
}

TEST_F(CountingChecks, LetNothingInWhereTheyDoNotHoldAlready) {
  for (const auto* book : {"a", "b"}) put(book);
  WritePlan lowered(world.model().table);
  lowered.set({{"PK", text("shelf#s")}, {"SK", text("shelf")}}, "room", number(0));
  ASSERT_TRUE(lowered.commit(world.dynamo()).ok());
  EXPECT_EQ(put("c"), full);
  EXPECT_EQ(books(), "2");
}

TEST_F(CountingChecks, HoldAmongManyAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&, i] { put(std::to_string(i)); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(books(), "2");
}

// Else what was there before the check could not become less.
TEST_F(CountingChecks, LetGoWhatWasTooMuchBefore) {
  for (const auto* book : {"a", "b"}) put(book);
  WritePlan lowered(world.model().table);
  lowered.set({{"PK", text("shelf#s")}, {"SK", text("shelf")}}, "room", number(0));
  ASSERT_TRUE(lowered.commit(world.dynamo()).ok());
  EXPECT_TRUE(world.remove("BOOK", {{"shelf", text("s")}, {"book", text("a")}}, nobody()).ok());
  EXPECT_EQ(books(), "1");
}

}  // namespace
}  // namespace stator::runtime
