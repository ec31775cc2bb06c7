#include "stator/runtime/repository.h"

#include <gtest/gtest.h>

#include <utility>

#include <atomic>
#include <thread>

#include "stator/runtime/problems.h"
#include "stator/runtime/test_support.h"
#include "stator/runtime/transaction.h"

namespace stator::runtime {
namespace {

class RepositoryTest : public testing::Test {
 protected:
  Item library(std::string_view name) {
    return {{"LibraryId", *world.made("LIBRARY", {{"Name", text(name)}}, alice).attributes.find("LibraryId")}};
  }
  Item within(const Item& library, const Item& more) {
    auto attributes = library;
    for (const auto& [name, content] : more) attributes.set(name, content);
    return attributes;
  }
  Item collection(const Item& library, std::string_view name) {
    const auto made = world.made("COLLECTION", within(library, {{"Name", text(name)}}), alice);
    return within(library, {{"CollectionId", *made.attributes.find("CollectionId")}});
  }
  Item book(const Item& library, const Item& attributes) {
    const auto made = world.made("BOOK", within(library, attributes), alice);
    return within(library, {{"ItemId", *made.attributes.find("ItemId")}});
  }
  // An attribute of an entity of Alice's as it is now.
  std::string now(std::string_view entity, const Item& key, std::string_view attribute) {
    const auto found = world.get(entity, key, alice);
    return found.ok() ? shown(*found, attribute) : told(found);
  }
  std::uint64_t version(std::string_view entity, const Item& key) { return world.get(entity, key, alice)->version; }
  // The row in the table.
  Item row_of(std::string_view type, const Item& key) {
    for (const auto& row : world.rows()) {
      bool is_it = *row.find("EntityType") == text(type);
      for (const auto& [name, content] : key) is_it = is_it && row.find(name) != nullptr && *row.find(name) == content;
      if (is_it) return row;
    }
    return {};
  }

  World world{kShelf};
  const Caller alice = user("alice");
};

// -------------------------------------------------------------------------------------------------------------------- checks

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
  const auto lowered = world.repository().transact([&](Transaction& transaction) -> Outcome<Done> {
    auto* job = ATTEMPT(transaction.load(world.entity("JOB"), key));
    ATTEMPT(transaction.change(*job, changes({{"limit", number(3)}}), Source::Request));
    if (!std::exchange(leased, true)) ATTEMPT(world.perform("lease", key, nobody()));
    return Done{};
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

class CountingChecks : public testing::Test {
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

TEST(Versions, OfWhatCameAgainAreNotThoseOfItsPredecessor) {
  World world(R"yaml(
model: people
table: { name: People, key: [PK] }
entities:
  PERSON:
    access: { read: public, write: public }
    keys: { PK: "person#{id}" }
    attributes:
      id: { type: string, required: true }
      email: { type: string, required: true, max: 100, unique_within: table }
)yaml");
  const Item key = {{"id", text("p")}};
  const auto with = [&](std::string_view email) {
    return Item{{"id", text("p")}, {"email", text(std::string(email))}};
  };
  world.made("PERSON", with("old@x.org"), nobody());
  bool came_again = false;
  EXPECT_EQ(told(world.repository().transact([&](Transaction& transaction) -> Outcome<Done> {
              auto* person = ATTEMPT(transaction.load(world.entity("PERSON"), key));
              if (!std::exchange(came_again, true)) {
                ATTEMPT(world.remove("PERSON", key, nobody()));
                world.made("PERSON", with("new@x.org"), nobody());  // version 1, as the one before
              }
              return transaction.remove(*person);
            })),
            "ok");
  EXPECT_TRUE(world.rows().empty()) << "no address stays taken";
}

// -------------------------------------------------------------------------------------------------------------------- create

TEST_F(RepositoryTest, WhatIsClearedHasItsDefaultAgain) {
  const Item library{
      {"LibraryId", *world.made("LIBRARY", {{"Name", text("Home")}}, alice).attributes.find("LibraryId")}};
  auto book = library;
  book.set("Title", text("Dune"));
  book.set("Pages", number(412));
  auto key = library;
  key.set("ItemId", *world.made("BOOK", book, alice).attributes.find("ItemId"));
  EXPECT_EQ(shown(*world.update("BOOK", key, changes({}, {"Pages"}), alice), "Pages"), "0");
  EXPECT_EQ(told(world.update("BOOK", key, changes({}, {"Title"}), alice)), "400 Invalid; Title is required");
}

TEST(Names, AreAskedForWithAllElseThatIsMissing) {
  World world(R"yaml(
model: boxes
table: { name: Boxes, key: [PK] }
entities:
  BOX:
    access: { read: public, write: public }
    keys: { PK: "box#{box}" }
    attributes: { box: string, title: { type: string, required: true } }
)yaml");
  EXPECT_EQ(told(world.create("BOX", {}, nobody())), "400 Invalid; title is required; box is required");
}

TEST_F(RepositoryTest, CreateFillsInWhatNobodyGives) {
  const auto made = world.made("LIBRARY", {{"Name", text("Home")}}, alice);
  EXPECT_EQ(shown(made, "OwnerId"), "\"alice\"");
  EXPECT_EQ(shown(made, "LibraryId").size(), 38U);
  EXPECT_EQ(shown(made, "Shelf"), "\"oak\"");
  EXPECT_EQ(shown(made, "TotalItems"), "0");
  EXPECT_EQ(shown(made, "CreatedAt"), "\"2023-11-14T22:13:20.000Z\"");
  EXPECT_EQ(shown(made, "UpdatedAt"), "\"2023-11-14T22:13:20.000Z\"");
  EXPECT_EQ(shown(made, "PK"), "-");
  EXPECT_EQ(shown(made, "Version"), "-");
  EXPECT_EQ(made.version, 1U);
  const auto key = Item{{"LibraryId", *made.attributes.find("LibraryId")}};
  EXPECT_EQ(world.get("LIBRARY", key, alice)->attributes, made.attributes);
}

TEST_F(RepositoryTest, CreateTellsAllProblemsAtOnce) {
  const auto refused = world.create("LIBRARY",
                                    {{"Description", text(std::string(101, 'x'))},
                                     {"TotalItems", number(7)},
                                     {"CreatedAt", text("2026-01-01T00:00:00.000Z")},
                                     {"Colour", text("red")}},
                                    alice);
  const auto problem = told(refused);
  for (const auto* part : {"400 Invalid", "Colour is not an attribute of LIBRARY", "TotalItems cannot be set",
                           "CreatedAt cannot be set", "Name is required", "Description must have at most 100"}) {
    EXPECT_NE(problem.find(part), std::string::npos) << part << " in " << problem;
  }
  EXPECT_TRUE(world.rows().empty());
}

TEST_F(RepositoryTest, NobodyCreatesForSomebodyElse) {
  EXPECT_EQ(told(world.create("LIBRARY", {{"Name", text("Home")}, {"OwnerId", text("bob")}}, alice)),
            "400 Invalid; OwnerId cannot be set");
  EXPECT_EQ(told(world.create("LIBRARY", {{"Name", text("Home")}}, nobody())), "401 Unauthenticated");
  EXPECT_EQ(told(world.create("LIBRARY", {{"Name", text("Home")}, {"OwnerId", text("bob")}}, the_system())), "ok");
}

TEST_F(RepositoryTest, AChildNeedsItsParent) {
  const Item nowhere{{"LibraryId", text("00000000-0000-4000-8000-000000000000")}};
  EXPECT_EQ(told(world.create("BOOK", within(nowhere, {{"Title", text("Dune")}}), alice)),
            "404 NotFound; LibraryId names no LIBRARY");
  const auto home = library("Home");
  EXPECT_EQ(told(world.create(
                "BOOK",
                within(home, {{"Title", text("Dune")}, {"CollectionId", text("00000000-0000-4000-8000-000000000000")}}),
                alice)),
            "409 NoSuchParent; CollectionId names no COLLECTION");
  EXPECT_EQ(now("LIBRARY", home, "TotalItems"), "0");
}

TEST_F(RepositoryTest, AChildIsCountedAndSummedInItsParents) {
  const auto home = library("Home");
  const auto classics = collection(home, "Classics");
  book(home, {{"Title", text("Dune")}, {"Pages", number(600)}});
  book(home, {{"Title", text("Emma")}, {"Pages", number(400)}, {"CollectionId", *classics.find("CollectionId")}});
  EXPECT_EQ(now("LIBRARY", home, "TotalItems"), "2");
  EXPECT_EQ(now("LIBRARY", home, "TotalPages"), "1000");
  EXPECT_EQ(now("COLLECTION", classics, "ItemCount"), "1");
  EXPECT_EQ(version("LIBRARY", home), 1U) << "what children do is no change by a user";
}

TEST_F(RepositoryTest, WhatIsDerivedFromCountersIsComputedWhenRead) {
  const auto home = library("Home");
  EXPECT_EQ(now("LIBRARY", home, "PagesPerItem"), "-");
  book(home, {{"Title", text("Dune")}, {"Pages", number(600)}});
  book(home, {{"Title", text("Emma")}, {"Pages", number(400)}});
  EXPECT_EQ(now("LIBRARY", home, "PagesPerItem"), "500");
  EXPECT_EQ(row_of("LIBRARY", home).find("PagesPerItem"), nullptr);
}

TEST_F(RepositoryTest, ACopyIsTakenFromTheParentAndGoesIntoKeys) {
  const auto home = library("Home");
  const auto classics = collection(home, "Classics");
  const auto emma =
      book(home, {{"Title", text("Emma")}, {"CollectionId", *classics.find("CollectionId")}, {"Order", number(3)}});
  EXPECT_EQ(now("BOOK", emma, "CollectionName"), "\"Classics\"");
  EXPECT_EQ(now("BOOK", emma, "Label"), "\"Emma (Classics)\"");
  EXPECT_TRUE(row_of("BOOK", emma).find("GSI1SK")->as_string()->starts_with("item#classics#00003#emma#"));
}

TEST_F(RepositoryTest, AUniqueValueIsTakenOnce) {
  library("Home");
  EXPECT_EQ(told(world.create("LIBRARY", {{"Name", text("HOME")}}, alice)), "409 Duplicate; Name is taken");
  EXPECT_EQ(told(world.create("LIBRARY", {{"Name", text("Home")}}, user("bob"))), "ok") << "another scope";
}

TEST_F(RepositoryTest, EveryDuplicateIsTold) {
  World two(R"(
model: people
table: { name: People, key: [PK] }
entities:
  USER:
    access: { read: public, write: public }
    keys: { PK: "user#{id}" }
    attributes:
      id: { type: uuid, generated: uuid }
      email: { type: email, required: true, unique_within: table, fold: true }
      name: { type: string, required: true, unique_within: table, fold: true }
)");
  two.made("USER", {{"email", text("a@example.com")}, {"name", text("Ada")}}, nobody());
  EXPECT_EQ(told(two.create("USER", {{"email", text("A@example.com")}, {"name", text("ADA")}}, nobody())),
            "409 Duplicate; email is taken; name is taken");
}

TEST_F(RepositoryTest, ACreateNeverOverwrites) {
  World shops(R"(
model: shops
table: { name: Shops, key: [PK] }
entities:
  SHOP:
    access: { read: public, write: public }
    keys: { PK: "shop#{domain}" }
    attributes: { domain: { type: string, required: true }, hash: string }
)");
  shops.made("SHOP", {{"domain", text("a.example")}, {"hash", text("1")}}, nobody());
  EXPECT_EQ(told(shops.create("SHOP", {{"domain", text("a.example")}}, nobody())), "409 Exists");
  EXPECT_EQ(shown(*shops.get("SHOP", {{"domain", text("a.example")}}, nobody()), "hash"), "\"1\"");
}

// -------------------------------------------------------------------------------------------------------------------- update

TEST_F(RepositoryTest, AnUpdateKeepsWhatIsAbsentAndClearsWhatIsNull) {
  const auto home = library("Home");
  world.clock().advance(std::chrono::seconds(1));
  ASSERT_TRUE(world.update("LIBRARY", home, changes({{"Description", text("by the sea")}}), alice).ok());
  EXPECT_EQ(now("LIBRARY", home, "Name"), "\"Home\"");
  EXPECT_EQ(now("LIBRARY", home, "Description"), "\"by the sea\"");
  EXPECT_EQ(now("LIBRARY", home, "UpdatedAt"), "\"2023-11-14T22:13:21.000Z\"");
  EXPECT_EQ(now("LIBRARY", home, "CreatedAt"), "\"2023-11-14T22:13:20.000Z\"");
  EXPECT_EQ(version("LIBRARY", home), 2U);
  ASSERT_TRUE(world.update("LIBRARY", home, changes({}, {"Description"}), alice).ok());
  EXPECT_EQ(now("LIBRARY", home, "Description"), "-");
}

TEST_F(RepositoryTest, AnUpdateThatChangesNothingWritesNothing) {
  const auto home = library("Home");
  world.clock().advance(std::chrono::seconds(1));
  EXPECT_EQ(world.update("LIBRARY", home, changes({{"Name", text("Home")}}), alice)->version, 1U);
  EXPECT_EQ(now("LIBRARY", home, "UpdatedAt"), "\"2023-11-14T22:13:20.000Z\"");
}

TEST_F(RepositoryTest, WhatNamesOrOwnsAnEntityOrIsImmutableCannotChange) {
  const auto home = library("Home");
  EXPECT_EQ(
      told(world.update("LIBRARY", home,
                        changes({{"LibraryId", text("00000000-0000-4000-8000-000000000000")},
                                 {"OwnerId", text("bob")},
                                 {"Shelf", text("pine")},
                                 {"TotalItems", number(3)}},
                                {"Name"}),
                        alice)),
      "400 Invalid; LibraryId cannot be set; OwnerId cannot be changed; Shelf cannot be changed; TotalItems cannot be "
      "set; Name is required");
}

TEST_F(RepositoryTest, AnUpdateNeverCreates) {
  const Item nowhere{{"LibraryId", text("00000000-0000-4000-8000-000000000000")}};
  EXPECT_EQ(told(world.update("LIBRARY", nowhere, changes({{"Name", text("Home")}}), alice)), "404 NotFound");
  EXPECT_TRUE(world.rows().empty());
}

TEST_F(RepositoryTest, KeysFollowAnUpdate) {
  const auto home = library("Home");
  const auto classics = collection(home, "Classics");
  const auto emma = book(home, {{"Title", text("Emma")}});
  EXPECT_TRUE(row_of("BOOK", emma).find("GSI1SK")->as_string()->starts_with("item#emma#"));
  ASSERT_TRUE(world
                  .update("BOOK", emma,
                          changes({{"CollectionId", *classics.find("CollectionId")}, {"Order", number(7)}}), alice)
                  .ok());
  EXPECT_TRUE(row_of("BOOK", emma).find("GSI1SK")->as_string()->starts_with("item#classics#00007#emma#"));
  EXPECT_EQ(now("BOOK", emma, "CollectionName"), "\"Classics\"");
  ASSERT_TRUE(
      world.update("BOOK", emma, changes({{"Title", text("Persuasion")}}, {"CollectionId", "Order"}), alice).ok());
  EXPECT_TRUE(row_of("BOOK", emma).find("GSI1SK")->as_string()->starts_with("item#persuasion#"));
  EXPECT_EQ(now("BOOK", emma, "CollectionName"), "-");
  EXPECT_EQ(now("BOOK", emma, "Label"), "\"Persuasion (loose)\"");
}

TEST_F(RepositoryTest, CountsMoveWithARelationAndSumsWithAnAmount) {
  const auto home = library("Home");
  const auto classics = collection(home, "Classics");
  const auto novels = collection(home, "Novels");
  const auto emma =
      book(home, {{"Title", text("Emma")}, {"Pages", number(400)}, {"CollectionId", *classics.find("CollectionId")}});
  ASSERT_TRUE(world
                  .update("BOOK", emma,
                          changes({{"CollectionId", *novels.find("CollectionId")}, {"Pages", number(410)}}), alice)
                  .ok());
  EXPECT_EQ(now("COLLECTION", classics, "ItemCount"), "0");
  EXPECT_EQ(now("COLLECTION", novels, "ItemCount"), "1");
  EXPECT_EQ(now("LIBRARY", home, "TotalPages"), "410");
  EXPECT_EQ(now("LIBRARY", home, "TotalItems"), "1");
}

TEST_F(RepositoryTest, ARenameClaimsTheNewNameAndFreesTheOld) {
  const auto home = library("Home");
  library("Office");
  EXPECT_EQ(told(world.update("LIBRARY", home, changes({{"Name", text("office")}}), alice)),
            "409 Duplicate; Name is taken");
  ASSERT_TRUE(world.update("LIBRARY", home, changes({{"Name", text("Cabin")}}), alice).ok());
  EXPECT_EQ(told(world.create("LIBRARY", {{"Name", text("Home")}}, alice)), "ok");
  EXPECT_EQ(told(world.create("LIBRARY", {{"Name", text("cabin")}}, alice)), "409 Duplicate; Name is taken");
  EXPECT_EQ(told(world.update("LIBRARY", home, changes({{"Name", text("CABIN")}}), alice)), "ok") << "it is its own";
}

TEST_F(RepositoryTest, AnExpectedVersionIsKept) {
  const auto home = library("Home");
  WriteOptions first;
  first.precondition.versions = {1};
  EXPECT_EQ(told(world.update("LIBRARY", home, changes({{"Name", text("Cabin")}}), alice, first)), "ok");
  EXPECT_EQ(told(world.update("LIBRARY", home, changes({{"Name", text("Cave")}}), alice, first)),
            "412 VersionMismatch");
  EXPECT_EQ(told(world.remove("LIBRARY", home, alice, first)), "412 VersionMismatch");
  EXPECT_EQ(now("LIBRARY", home, "Name"), "\"Cabin\"");
}

// -------------------------------------------------------------------------------------------------------------------- remove

TEST_F(RepositoryTest, ARemovalCountsDownAndFreesNames) {
  const auto home = library("Home");
  const auto dune = book(home, {{"Title", text("Dune")}, {"Pages", number(600)}, {"Isbn", text("1")}});
  EXPECT_EQ(told(world.create("BOOK", within(home, {{"Title", text("Dune")}, {"Isbn", text("1")}}), alice)),
            "409 Duplicate; Isbn is taken");
  EXPECT_EQ(told(world.remove("BOOK", dune, alice)), "ok");
  EXPECT_EQ(told(world.remove("BOOK", dune, alice)), "404 NotFound");
  EXPECT_EQ(now("LIBRARY", home, "TotalItems"), "0");
  EXPECT_EQ(now("LIBRARY", home, "TotalPages"), "0");
  EXPECT_EQ(told(world.create("BOOK", within(home, {{"Title", text("Dune")}, {"Isbn", text("1")}}), alice)), "ok");
}

TEST_F(RepositoryTest, AChildWhoseParentIsGoneCanGoToo) {
  const auto home = library("Home");
  const auto dune = book(home, {{"Title", text("Dune")}});
  EXPECT_EQ(told(world.remove("LIBRARY", home, alice)), "ok");
  EXPECT_EQ(told(world.repository().transact([&](Transaction& transaction) -> Outcome<Done> {
              return transaction.remove(
                  *ATTEMPT(transaction.load(world.entity("BOOK"), within(dune, {{"OwnerId", text("alice")}}))));
            })),
            "ok");
  EXPECT_TRUE(world.rows().empty()) << "a counter must not bring a row back";
}

TEST_F(RepositoryTest, NothingIsFoundBelowAParentThatIsGone) {
  const auto home = library("Home");
  const auto dune = book(home, {{"Title", text("Dune")}});
  const auto event = world.made("EVENT", within(dune, {{"Type", text("LENT")}, {"Borrower", text("bob")}}), alice);
  const auto event_key = within(dune, {{"EventId", *event.attributes.find("EventId")}});
  ASSERT_EQ(told(world.remove("LIBRARY", home, alice)), "ok");
  ASSERT_EQ(world.rows().size(), 2U) << "nobody has carried the removal to them yet";

  EXPECT_EQ(told(world.get("BOOK", dune, alice)), "404 NotFound");
  EXPECT_EQ(told(world.get("EVENT", event_key, alice)), "404 NotFound") << "nor what is below those";
  EXPECT_EQ(told(world.update("BOOK", dune, changes({{"Title", text("Emma")}}), alice)), "404 NotFound");
  EXPECT_EQ(told(world.remove("BOOK", dune, alice)), "404 NotFound");
  EXPECT_EQ(told(world.perform("lend", within(dune, {{"borrower", text("bob")}}), alice)), "404 NotFound");
  EXPECT_EQ(told(world.run("contents", home, alice)), "404 NotFound");
  EXPECT_EQ(told(world.create("EVENT", within(dune, {{"Type", text("LENT")}, {"Borrower", text("bob")}}), alice)),
            "404 NotFound; LibraryId names no BOOK; ItemId names no BOOK");
}

TEST_F(RepositoryTest, AppendOnlyEntitiesStayAsTheyAre) {
  const auto home = library("Home");
  const auto dune = book(home, {{"Title", text("Dune")}});
  const auto event = world.made("EVENT", within(dune, {{"Type", text("LENT")}, {"Borrower", text("bob")}}), alice);
  const auto key = within(dune, {{"EventId", *event.attributes.find("EventId")}});
  EXPECT_EQ(told(world.update("EVENT", key, changes({{"Borrower", text("eve")}}), alice)), "409 AppendOnly");
  EXPECT_EQ(told(world.remove("EVENT", key, alice)), "409 AppendOnly");
  EXPECT_EQ(told(world.remove("EVENT", within(key, {{"OwnerId", text("alice")}}), the_system())), "409 AppendOnly");
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

TEST(RestrictTest, AParentThatIsInUseStays) {
  World world(kMovies);
  const auto movie = world.made("MOVIE", {{"title", text("Alien")}}, admin());
  const Item key{{"movieId", *movie.attributes.find("movieId")}};
  const auto entry = world.made("ENTRY", key, user("alice"));
  EXPECT_EQ(told(world.remove("MOVIE", key, admin())), "409 InUse; uses is not zero");
  ASSERT_TRUE(world.remove("ENTRY", {{"entryId", *entry.attributes.find("entryId")}}, user("alice")).ok());
  EXPECT_EQ(told(world.remove("MOVIE", key, admin())), "ok");
}

// ------------------------------------------------------------------------------------------------------------------ by hand

TEST_F(RepositoryTest, AProgramCanPutATransactionTogether) {
  const auto home = library("Home");
  const auto dune = book(home, {{"Title", text("Dune")}, {"Pages", number(600)}});
  const auto emma = book(home, {{"Title", text("Emma")}, {"Pages", number(400)}});
  const auto merged = world.repository().transact([&](Transaction& transaction) -> Outcome<Done> {
    auto* first = ATTEMPT(transaction.load(world.entity("BOOK"), within(dune, {{"OwnerId", text("alice")}})));
    auto* second = ATTEMPT(transaction.load(world.entity("BOOK"), within(emma, {{"OwnerId", text("alice")}})));
    ATTEMPT(transaction.change(*first, changes({{"Pages", number(1000)}}), Source::Request));
    return transaction.remove(*second);
  });
  EXPECT_EQ(told(merged), "ok");
  EXPECT_EQ(now("LIBRARY", home, "TotalItems"), "1");
  EXPECT_EQ(now("LIBRARY", home, "TotalPages"), "1000");
}

TEST_F(RepositoryTest, AProgramFollowsWhatRequestsChange) {
  world.repository().follow(world.entity("BOOK"), [](Transaction& transaction, Draft& book) -> Outcome<Done> {
    if (*book.after->find("Title") == text("Ulysses")) return conflict("TooLong", "nobody reads that");
    if (book.before) return Done{};
    return transaction.change(book, changes({{"Pages", number(1)}}), Source::Request);
  });
  const auto home = library("Home");
  const auto dune = book(home, {{"Title", text("Dune")}});
  EXPECT_EQ(now("BOOK", dune, "Pages"), "1");
  EXPECT_EQ(now("LIBRARY", home, "TotalPages"), "1");
  EXPECT_EQ(version("BOOK", dune), 1U) << "it is one change";
  EXPECT_EQ(told(world.update("BOOK", dune, changes({{"Title", text("Ulysses")}}), alice)), "409 TooLong");
  EXPECT_EQ(now("BOOK", dune, "Title"), "\"Dune\"");
}

// --------------------------------------------------------------------------------------------------------------- concurrency

TEST_F(RepositoryTest, OfSixteenWithOneNameOneWins) {
  const auto home = library("Home");
  std::atomic<int> won = 0, duplicates = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      const auto created = world.create("BOOK", within(home, {{"Title", text("Dune")}, {"Isbn", text("1")}}), alice);
      if (created.ok())
        ++won;
      else if (told(created) == "409 Duplicate; Isbn is taken")
        ++duplicates;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(won, 1);
  EXPECT_EQ(duplicates, 15);
  EXPECT_EQ(now("LIBRARY", home, "TotalItems"), "1");
}

TEST_F(RepositoryTest, ConcurrentWritersCountExactly) {
  const auto home = library("Home");
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 10; ++n) {
        const auto made = world.create("BOOK", within(home, {{"Title", text("Dune")}, {"Pages", number(10)}}), alice);
        if (!made)
          ++failures;
        else if (n % 2 == 0 && !world.remove("BOOK", made->attributes, alice))
          ++failures;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(now("LIBRARY", home, "TotalItems"), "40");
  EXPECT_EQ(now("LIBRARY", home, "TotalPages"), "400");
}

// A book that comes while its collection is renamed has the name from before the rename, and then was written before it, so that
// whoever follows the rename finds the book; or it has the new one.
TEST_F(RepositoryTest, ACreateCannotMissARename) {
  const auto home = library("Home");
  const auto classics = collection(home, "Name 0");
  std::atomic<bool> stop = false;
  std::thread renamer([&] {
    for (int i = 1; i <= 30; ++i) {
      const auto renamed =
          world.update("COLLECTION", classics, changes({{"Name", text("Name " + std::to_string(i))}}), alice);
      EXPECT_TRUE(renamed.ok()) << told(renamed);
    }
    stop = true;
  });
  int books = 0;
  while (!stop) {
    const auto made = world.create(
        "BOOK", within(home, {{"Title", text("Dune")}, {"CollectionId", *classics.find("CollectionId")}}), alice);
    if (made.ok())
      ++books;
    else
      EXPECT_EQ(told(made), "409 Contention");
  }
  renamer.join();
  EXPECT_EQ(now("COLLECTION", classics, "ItemCount"), std::to_string(books));
  const auto last = book(home, {{"Title", text("Emma")}, {"CollectionId", *classics.find("CollectionId")}});
  EXPECT_EQ(now("BOOK", last, "CollectionName"), "\"Name 30\"");
}

TEST_F(RepositoryTest, ConcurrentChangesOfOneEntityAreNotLost) {
  const auto home = library("Home");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const auto changed =
          i % 2 == 0 ? world.update("LIBRARY", home, changes({{"Description", text(std::to_string(i))}}), alice)
                     : world.update("LIBRARY", home, changes({{"Name", text("Home " + std::to_string(i))}}), alice);
      EXPECT_TRUE(changed.ok()) << told(changed);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(version("LIBRARY", home), 5U);
  EXPECT_NE(now("LIBRARY", home, "Name"), "\"Home\"");
  EXPECT_NE(now("LIBRARY", home, "Description"), "-");
}

}  // namespace
}  // namespace stator::runtime
