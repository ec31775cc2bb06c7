#include "stator/runtime/repository.h"

#include <gtest/gtest.h>

#include <utility>

#include <atomic>
#include <thread>

#include "stator/runtime/problem.h"
#include "stator/runtime/test_support.h"
#include "stator/runtime/write/transaction.h"

namespace stator::runtime {
namespace {

class RepositoryTest : public ::testing::Test {
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
  EXPECT_EQ(told(world.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
              auto* person = TRY(transaction.load(world.entity("PERSON"), key));
              if (!std::exchange(came_again, true)) {
                TRY(world.remove("PERSON", key, nobody()));
                world.made("PERSON", with("new@x.org"), nobody());  // version 1, as the one before
              }
              return transaction.remove(*person);
            })),
            "ok");
  EXPECT_TRUE(world.rows().empty()) << "no address stays taken";
}

// -------------------------------------------------------------------------------------------------------------- create

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
            "400 NoSuchParent; CollectionId names no COLLECTION");
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

// -------------------------------------------------------------------------------------------------------------- update

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

// -------------------------------------------------------------------------------------------------------------- remove

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
  EXPECT_EQ(told(world.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
              return transaction.remove(
                  *TRY(transaction.load(world.entity("BOOK"), within(dune, {{"OwnerId", text("alice")}}))));
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
  ASSERT_EQ(world.rows().size(), 2U) << "the removal was not propagated to them yet";

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

// ------------------------------------------------------------------------------------------------------------- by hand

TEST_F(RepositoryTest, AProgramCanPutATransactionTogether) {
  const auto home = library("Home");
  const auto dune = book(home, {{"Title", text("Dune")}, {"Pages", number(600)}});
  const auto emma = book(home, {{"Title", text("Emma")}, {"Pages", number(400)}});
  const auto merged = world.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
    auto* first = TRY(transaction.load(world.entity("BOOK"), within(dune, {{"OwnerId", text("alice")}})));
    auto* second = TRY(transaction.load(world.entity("BOOK"), within(emma, {{"OwnerId", text("alice")}})));
    TRY(transaction.change(*first, changes({{"Pages", number(1000)}}), ValueSource::Request));
    return transaction.remove(*second);
  });
  EXPECT_EQ(told(merged), "ok");
  EXPECT_EQ(now("LIBRARY", home, "TotalItems"), "1");
  EXPECT_EQ(now("LIBRARY", home, "TotalPages"), "1000");
}

TEST_F(RepositoryTest, AProgramFollowsWhatRequestsChange) {
  world.repository().follow(world.entity("BOOK"), [](Transaction& transaction, Draft& book) -> Result<void, Problem> {
    if (*book.after->find("Title") == text("Ulysses")) return conflict("TooLong", "nobody reads that");
    if (book.before) return {};
    return transaction.change(book, changes({{"Pages", number(1)}}), ValueSource::Request);
  });
  const auto home = library("Home");
  const auto dune = book(home, {{"Title", text("Dune")}});
  EXPECT_EQ(now("BOOK", dune, "Pages"), "1");
  EXPECT_EQ(now("LIBRARY", home, "TotalPages"), "1");
  EXPECT_EQ(version("BOOK", dune), 1U) << "it is one change";
  EXPECT_EQ(told(world.update("BOOK", dune, changes({{"Title", text("Ulysses")}}), alice)), "409 TooLong");
  EXPECT_EQ(now("BOOK", dune, "Title"), "\"Dune\"");
}

// --------------------------------------------------------------------------------------------------------- concurrency

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

// A book that comes while its collection is renamed has the name from before the rename, and then was written before
// it, so that the propagation of the rename finds the book; or it has the new one.
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
