#include "stator/runtime/consistency/consistency_manager.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "stator/client/test_call.h"
#include "stator/runtime/consistency/consistency_test_support.h"

namespace stator::runtime {
namespace {

using Strings = std::vector<std::string>;
using Fate = FailingClient::Fate;

TEST(ConsistencyManager, CarriesARenameToEveryCopyAndEveryKeyMadeFromIt) {
  Shelf shelf;
  const auto home = shelf.library("Home");
  const auto classics = shelf.collection(home, "Classics");
  Item last;
  for (int i = 1; i <= 130; ++i) {  // more than one page, more than one transaction
    last = shelf.book(classics, {{"Title", text("T" + std::to_string(i))}, {"Order", number(i)}});
  }
  const auto loose = shelf.book(home, {{"Title", text("Loose")}});
  shelf.propagate_all();
  ASSERT_TRUE(shelf.world.update("COLLECTION", classics, changes({{"Name", text("Crime")}}), shelf.alice).ok());
  EXPECT_EQ(shelf.now("BOOK", last, "CollectionName"), "\"Classics\"");

  shelf.propagate_all();
  for (const auto& row : shelf.world.rows()) {
    if (row.find("CollectionName") == nullptr) continue;
    EXPECT_EQ(*row.find("CollectionName"), text("Crime"));
    EXPECT_TRUE(row.find("GSI1SK")->as_string()->starts_with("item#crime#"));
  }
  EXPECT_EQ(shelf.now("BOOK", last, "Label"), "\"T130 (Crime)\"") << "what is derived from a copy follows it";
  EXPECT_EQ(shelf.now("BOOK", loose, "CollectionName"), "-");
  EXPECT_EQ(shelf.world.get("BOOK", last, shelf.alice)->version, 1U) << "no user has changed it";
  EXPECT_EQ(shelf.findings(), Strings());
}

TEST(ConsistencyManager, TakesEverythingAlongThatADeletedParentOwned) {
  Shelf shelf;
  const auto home = shelf.library("Home");
  const auto classics = shelf.collection(home, "Classics");
  const auto dune = shelf.book(classics, {{"Title", text("Dune")}, {"Isbn", text("1")}});
  ASSERT_TRUE(shelf.world.perform("lend", Shelf::both(dune, {{"borrower", text("Bob")}}), shelf.alice).ok());
  const auto other = shelf.library("Other");
  const auto kept = shelf.book(other, {{"Title", text("Emma")}});
  ASSERT_TRUE(shelf.world.remove("LIBRARY", home, shelf.alice).ok());
  shelf.propagate_all();
  EXPECT_EQ(shelf.now("BOOK", kept, "Title"), "\"Emma\"");
  EXPECT_EQ(shelf.world.rows().size(), 3U) << "the other library, its reservation, and its book";
  EXPECT_EQ(shelf.findings(), Strings());
  EXPECT_TRUE(
      shelf.world.create("BOOK", Shelf::both(other, {{"Title", text("Dune")}, {"Isbn", text("1")}}), shelf.alice).ok())
      << "its unique value is free again";
}

TEST(ConsistencyManager, ClearsWhatPointedToADeletedParent) {
  Shelf shelf;
  const auto home = shelf.library("Home");
  const auto classics = shelf.collection(home, "Classics");
  const auto dune = shelf.book(classics, {{"Title", text("Dune")}, {"Order", number(7)}});
  ASSERT_TRUE(shelf.world.remove("COLLECTION", classics, shelf.alice).ok());
  shelf.propagate_all();
  for (const auto* cleared : {"CollectionId", "CollectionName", "Order"})
    EXPECT_EQ(shelf.now("BOOK", dune, cleared), "-");
  EXPECT_EQ(shelf.now("BOOK", dune, "Label"), "\"Dune (loose)\"");
  EXPECT_TRUE(shelf.row_of("BOOK").find("GSI1SK")->as_string()->starts_with("item#dune##"));
  EXPECT_EQ(shelf.now("LIBRARY", home, "TotalItems"), "1");
  EXPECT_EQ(shelf.findings(), Strings());
}

TEST(ConsistencyManager, LeavesTheChildrenOfAParentThatIsThereAgain) {
  Shelf shelf;
  const auto home = shelf.library("Home");
  shelf.book(home, {{"Title", text("Dune")}, {"Pages", number(600)}});
  shelf.book(home, {{"Title", text("Emma")}, {"Pages", number(400)}});
  auto row = shelf.row_of("LIBRARY");
  ASSERT_TRUE(shelf.world.remove("LIBRARY", home, shelf.alice).ok());
  row.set("TotalItems", number(0));
  row.set("TotalPages", number(0));
  shelf.put(row);
  shelf.propagate_all();
  EXPECT_EQ(shelf.now("LIBRARY", home, "TotalItems"), "2");
  EXPECT_EQ(shelf.now("LIBRARY", home, "TotalPages"), "1000");
}

// A little of everything, as a user does it.
void change_things(Shelf& shelf) {
  const auto home = shelf.library("Home");
  const auto classics = shelf.collection(home, "Classics");
  const auto crime = shelf.collection(home, "Crime");
  shelf.book(classics, {{"Title", text("Dune")}, {"Isbn", text("1")}, {"Pages", number(600)}});
  shelf.book(classics, {{"Title", text("Emma")}, {"Order", number(2)}});
  const auto lent = shelf.book(crime, {{"Title", text("Rebecca")}, {"Order", number(3)}});
  const auto gone = shelf.library("Gone");
  shelf.book(shelf.collection(gone, "Old"), {{"Title", text("Persuasion")}, {"Isbn", text("2")}});
  ASSERT_TRUE(shelf.world.perform("lend", Shelf::both(lent, {{"borrower", text("Bob")}}), shelf.alice).ok());
  ASSERT_TRUE(shelf.world.update("COLLECTION", classics, changes({{"Name", text("Read")}}), shelf.alice).ok());
  ASSERT_TRUE(shelf.world.remove("COLLECTION", crime, shelf.alice).ok());
  ASSERT_TRUE(shelf.world.remove("LIBRARY", gone, shelf.alice).ok());
}

// Kills a manager at every k-th call of its work, and lets another one end it.
void kill_everywhere(bool first_start, Fate fate) {
  bool survived = false;
  // Every call at first, then every seventh: further on it is the same things again.
  for (unsigned k = 0; !survived; k += k < 60 ? 1 : 7) {
    SCOPED_TRACE("killed at call " + std::to_string(k));
    Shelf shelf;
    if (!first_start) shelf.propagate_all();
    change_things(shelf);
    FailingClient mortal(shelf.world.client(), FailingClient::dies_at(k, fate));
    survived = shelf.manager(mortal)->catch_up().ok();
    if (!first_start) {
      ASSERT_EQ(shelf.findings_beside_pending(), Strings());
    }
    shelf.let_leases_run_out();
    shelf.propagate_all();
    ASSERT_EQ(shelf.findings(), Strings());
    ASSERT_EQ(shelf.world.rows().size(), 9U) << "a library, a collection, three books, an event, three reservations";
  }
}

TEST(ConsistencyManager, ResumesWhereverItWasKilledWhileItCarriesChanges) {
  kill_everywhere(false, Fate::Refused);
  kill_everywhere(false, Fate::Lost);
}

TEST(ConsistencyManager, ResumesWhereverItWasKilledWhileItVerifiesTheTable) { kill_everywhere(true, Fate::Lost); }

// In how many transactions a manager removes the books of a library.
unsigned remove_a_library(Shelf& shelf, const Traffic& traffic) {
  shelf.traffic = &traffic;
  const auto home = shelf.library("Home");
  for (int i = 0; i < 60; ++i) shelf.book(home, {{"Title", text("Volume " + std::to_string(i))}});
  shelf.propagate_all();
  EXPECT_TRUE(shelf.world.remove("LIBRARY", home, shelf.alice).ok());
  unsigned transactions = 0;
  FailingClient counting(shelf.world.client(), [&](std::string_view operation, std::string_view) {
    if (operation == "TransactWriteItems") ++transactions;
    return Fate::Done;
  });
  EXPECT_EQ(told(shelf.manager(counting)->catch_up()), "ok");
  EXPECT_EQ(shelf.world.rows().size(), 0U);
  return transactions;
}

TEST(ConsistencyManager, RemovesManyRowsAtOnceWhileNobodyElseAsks) {
  Shelf shelf;
  const Traffic traffic;
  EXPECT_EQ(remove_a_library(shelf, traffic), 1U);
}

TEST(ConsistencyManager, RemovesAFewRowsAtATimeWhileOthersAsk) {
  Shelf shelf;
  Traffic traffic;
  traffic.note_request(shelf.clock.steady_now());
  EXPECT_GE(remove_a_library(shelf, traffic), 5U);
}

TEST(ConsistencyManager, VerifiesTheTableWhenChangesMayHaveBeenMissed) {
  Shelf shelf;
  const auto home = shelf.library("Home");
  const auto classics = shelf.collection(home, "Classics");
  const auto dune = shelf.book(classics, {{"Title", text("Dune")}});
  shelf.propagate_all();
  ASSERT_TRUE(shelf.world.update("COLLECTION", classics, changes({{"Name", text("Crime")}}), shelf.alice).ok());
  shelf.clock.advance(std::chrono::hours(25));  // longer than a stream keeps anything
  const auto manager = shelf.manager();
  ASSERT_TRUE(manager->catch_up().ok());
  EXPECT_GT(manager->status().repaired, 0U);
  EXPECT_EQ(shelf.now("BOOK", dune, "CollectionName"), "\"Crime\"");
}

TEST(ConsistencyManager, VerifiesTheTableWhenItsStreamIsAnotherOne) {
  Shelf shelf;
  const auto home = shelf.library("Home");
  const auto classics = shelf.collection(home, "Classics");
  const auto dune = shelf.book(classics, {{"Title", text("Dune")}});
  shelf.propagate_all();
  const auto set_stream = [&](std::string_view specification) {
    const auto json = R"({"TableName":"Shelf","StreamSpecification":)" + std::string(specification) + "}";
    EXPECT_TRUE(client::call_and_wait(shelf.world.client(), "UpdateTable", json).ok());
  };
  set_stream(R"({"StreamEnabled":false})");
  ASSERT_TRUE(shelf.world.update("COLLECTION", classics, changes({{"Name", text("Crime")}}), shelf.alice).ok());
  set_stream(R"({"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"})");
  shelf.propagate_all();
  EXPECT_EQ(shelf.now("BOOK", dune, "CollectionName"), "\"Crime\"");
}

TEST(ConsistencyManager, WhoeverHasANameTakesUpWhatItWasAtWhenItDied) {
  Shelf shelf;
  const auto named = [&] {
    ConsistencyOptions options;
    options.owner = "embedded";
    const std::shared_ptr<const model::Model> model(&shelf.world.model(), [](const model::Model*) {});
    return std::make_unique<ConsistencyManager>(model, shelf.world.client(), shelf.clock, shelf.world.random(),
                                                options);
  };
  const auto died = named();
  ASSERT_TRUE(died->catch_up().ok());
  ASSERT_GT(died->status().shards, 0U);
  const auto again = named();
  ASSERT_TRUE(again->catch_up().ok());
  EXPECT_GT(again->status().shards, 0U) << "without waiting for its own lease";
}

TEST(ConsistencyManager, ReadsAShardOnlyWithItsLease) {
  Shelf shelf;
  const auto home = shelf.library("Home");
  const auto first = shelf.manager();
  ASSERT_TRUE(first->catch_up().ok());
  EXPECT_GT(first->status().shards, 0U);
  const auto second = shelf.manager();
  ASSERT_TRUE(second->catch_up().ok());
  EXPECT_EQ(second->status().shards, 0U) << "all leases are the first one's";

  shelf.let_leases_run_out();
  const auto propagated = first->status().propagated;
  ASSERT_TRUE(second->catch_up().ok());
  EXPECT_GT(second->status().shards, 0U);
  shelf.book(home, {{"Title", text("Dune")}});
  ASSERT_TRUE(first->catch_up().ok());
  EXPECT_EQ(first->status().shards, 0U) << "it notices that they are somebody else's";
  EXPECT_EQ(first->status().propagated, propagated);
}

TEST(ConsistencyManager, ParksWhatFailsAgainAndAgainAndGoesOn) {
  Shelf shelf;
  const auto home = shelf.library("Home");
  const auto classics = shelf.collection(home, "Classics");
  const auto crime = shelf.collection(home, "Crime");
  const auto dune = shelf.book(classics, {{"Title", text("Dune")}});
  const auto rebecca = shelf.book(crime, {{"Title", text("Rebecca")}});
  shelf.propagate_all();
  ASSERT_TRUE(shelf.world.update("COLLECTION", classics, changes({{"Name", text("Poison")}}), shelf.alice).ok());
  ASSERT_TRUE(shelf.world.update("COLLECTION", crime, changes({{"Name", text("Noir")}}), shelf.alice).ok());

  FailingClient client(shelf.world.client(), [](std::string_view operation, std::string_view json) {
    const bool poison = operation == "TransactWriteItems" && json.find("Poison") != std::string_view::npos;
    return poison ? Fate::Refused : Fate::Done;
  });
  {
    const auto manager = shelf.manager(client);
    ASSERT_TRUE(manager->catch_up().ok());
    EXPECT_EQ(manager->status().parked, 1U);
  }
  EXPECT_EQ(shelf.now("BOOK", rebecca, "CollectionName"), "\"Noir\"");
  EXPECT_EQ(shelf.now("BOOK", dune, "CollectionName"), "\"Classics\"");

  const auto manager = shelf.manager();
  const auto parked = manager->parked();
  ASSERT_EQ(parked->size(), 1U);
  EXPECT_EQ(parked->front().problem, "the test says no");
  EXPECT_NE(parked->front().record.find("Poison"), std::string::npos);
  EXPECT_EQ(told(manager->replay("no such record")), "404 NotFound");
  EXPECT_EQ(told(manager->replay(parked->front().id)), "ok");
  EXPECT_EQ(shelf.now("BOOK", dune, "CollectionName"), "\"Poison\"");
  EXPECT_TRUE(manager->parked()->empty());
}

TEST(ConsistencyManager, CarriesARenameToAllOthersWhenOneKeyWouldBeTooLong) {
  Shelf shelf;
  std::string long_text;  // of notes (U+1D160) that are three characters each when they are sorted
  for (unsigned i = 0; i < 45; ++i) long_text += "\xF0\x9D\x85\xA0";
  const auto home = shelf.library("Home");
  const auto classics = shelf.collection(home, "Classics");
  const auto wordy = shelf.book(classics, {{"Title", text(long_text)}, {"Order", number(1)}});
  const auto dune = shelf.book(classics, {{"Title", text("Dune")}, {"Order", number(2)}});
  shelf.propagate_all();
  ASSERT_TRUE(shelf.world.update("COLLECTION", classics, changes({{"Name", text(long_text)}}), shelf.alice).ok());

  const auto manager = shelf.manager();
  ASSERT_TRUE(manager->catch_up().ok());
  EXPECT_EQ(shelf.now("BOOK", dune, "CollectionName"), "\"" + long_text + "\"");
  EXPECT_EQ(shelf.now("BOOK", wordy, "CollectionName"), "\"Classics\"");
  const auto parked = manager->parked();
  ASSERT_EQ(parked->size(), 1U);
  EXPECT_EQ(parked->front().attempts, 1U) << "there is no point in trying again";

  for (const bool repair : {false, true}) {
    const auto findings = shelf.findings(repair);
    ASSERT_EQ(findings.size(), 1U) << "the verification goes on to the end";
    EXPECT_TRUE(findings.front().starts_with("key BOOK.")) << findings.front();
  }

  ASSERT_TRUE(shelf.world.update("BOOK", wordy, changes({{"Title", text("Brief")}}), shelf.alice).ok());
  EXPECT_EQ(told(manager->replay(parked->front().id)), "ok");
  EXPECT_EQ(shelf.findings(), Strings());
}

TEST(ConsistencyManager, ParksARecordThatIsLargerThanARow) {
  Shelf shelf;
  const auto classics = shelf.collection(shelf.library("Home"), "Classics");
  const auto dune = shelf.book(classics, {{"Title", text("Dune")}});
  auto row = shelf.row_of("COLLECTION");
  std::string padding;
  while (padding.size() < 390'000) padding += "\u00e9";  // two bytes: a cut can go through it
  row.set("Padding", text(padding));
  shelf.put(row);
  shelf.propagate_all();
  row.set("Name", text("Poison"));
  shelf.put(row);

  FailingClient client(shelf.world.client(), [](std::string_view operation, std::string_view json) {
    const bool poison = operation == "TransactWriteItems" && json.find("Poison") != std::string_view::npos;
    return poison ? Fate::Refused : Fate::Done;
  });
  ASSERT_EQ(told(shelf.manager(client)->catch_up()), "ok");
  const auto manager = shelf.manager();
  const auto parked = manager->parked();
  ASSERT_EQ(parked->size(), 1U);
  EXPECT_GT(parked->front().record.size(), 780'000U);
  EXPECT_EQ(shelf.now("BOOK", dune, "CollectionName"), "\"Classics\"");
  EXPECT_EQ(told(manager->replay(parked->front().id)), "ok");
  EXPECT_EQ(shelf.now("BOOK", dune, "CollectionName"), "\"Poison\"");
  EXPECT_TRUE(manager->parked()->empty());
  ConsistencyTable table(shelf.world.dynamo(), shelf.clock, shelf.world.model());
  EXPECT_FALSE(table.row("part#" + parked->front().id + "#0000")->has_value()) << "nothing is left";
}

TEST(ConsistencyManager, RunsInTheBackground) {
  Shelf shelf;
  const auto home = shelf.library("Home");
  const auto classics = shelf.collection(home, "Classics");
  const auto dune = shelf.book(classics, {{"Title", text("Dune")}});
  ConsistencyTable table(shelf.world.dynamo(), shelf.clock, shelf.world.model());
  ASSERT_EQ(told(table.open()), "ok");
  shelf.clock.hold_waits();  // from here on, only the test moves the time
  const auto manager = shelf.manager();
  ASSERT_EQ(told(manager->start()), "ok");
  ASSERT_TRUE(shelf.world.update("COLLECTION", classics, changes({{"Name", text("Crime")}}), shelf.alice).ok());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (shelf.now("BOOK", dune, "CollectionName") != "\"Crime\"" && std::chrono::steady_clock::now() < deadline) {
    shelf.clock.advance(std::chrono::milliseconds(5));
    std::this_thread::yield();
  }
  EXPECT_EQ(shelf.now("BOOK", dune, "CollectionName"), "\"Crime\"");
  EXPECT_TRUE(manager->status().running);
  EXPECT_EQ(manager->status().problem, "");
  manager->stop();
  EXPECT_FALSE(manager->status().running);
  shelf.propagate_all();  // at once: the leases were given back
  EXPECT_EQ(shelf.findings(), Strings());
}

TEST(ConsistencyManager, IsNeededOnlyByRulesThatReachOtherRows) {
  EXPECT_TRUE(ConsistencyManager::needed(model::load_or_fail(kShelf)));
  EXPECT_FALSE(ConsistencyManager::needed(model::load_or_fail(R"(
model: plain
table: { name: Plain, key: [PK] }
entities:
  THING:
    keys: { PK: "thing#{id}" }
    attributes: { id: string }
)")));
}

TEST(ConsistencyManager, TellsOfChangesThatWaitForOneThatHasDied) {
  Shelf shelf;
  const auto home = shelf.library("Home");
  const auto classics = shelf.collection(home, "Classics");
  const auto dune = shelf.book(classics, {{"Title", text("Dune")}});
  shelf.propagate_all();
  const auto dead = shelf.manager();  // never gives its leases back
  ASSERT_TRUE(dead->catch_up().ok());
  const auto manager = shelf.manager();
  ASSERT_TRUE(manager->catch_up().ok());
  EXPECT_EQ(manager->status().lag, std::chrono::milliseconds(0)) << "nothing waits";

  ASSERT_TRUE(shelf.world.update("COLLECTION", classics, changes({{"Name", text("Crime")}}), shelf.alice).ok());
  shelf.clock.advance(std::chrono::seconds(20));
  ASSERT_TRUE(manager->catch_up().ok());
  EXPECT_EQ(shelf.now("BOOK", dune, "CollectionName"), "\"Classics\"");
  EXPECT_EQ(manager->status().shards, 0U);
  EXPECT_GT(manager->status().waiting, 0U);
  EXPECT_GT(manager->status().lag, std::chrono::seconds(10));

  shelf.let_leases_run_out();
  ASSERT_TRUE(manager->catch_up().ok());
  EXPECT_EQ(shelf.now("BOOK", dune, "CollectionName"), "\"Crime\"");
  EXPECT_EQ(manager->status().lag, std::chrono::milliseconds(0));
}

TEST(ConsistencyManager, IsNeededToCountWhatAFormerParentHasLeft) {
  const auto with = [](std::string_view stream, std::string_view id, std::string_view relation) {
    return ConsistencyManager::needed(model::load_or_fail(fmt::format(R"(
model: counted
table: {{ name: Counted, key: [PK, SK], stream: {} }}
entities:
  BOX:
    keys: {{ PK: "box#{{box}}", SK: "box" }}
    attributes: {{ box: {{ type: uuid{} }}, things: {{ count: THING.box }} }}
  THING:
    keys: {{ PK: "box#{{box}}", SK: "thing#{{thing}}" }}
    parents: {{ box: {{ entity: BOX, {} }} }}
    attributes: {{ box: uuid, thing: string }}
)",
                                                                      stream, id, relation)));
  };
  EXPECT_TRUE(with("new_and_old_images", "", "on_delete: nothing"));
  EXPECT_FALSE(with("new_and_old_images", "", "on_delete: restrict")) << "it leaves none";
  EXPECT_FALSE(with("new_and_old_images", ", generated: uuid", "on_delete: nothing"))
      << "there is no other of its name";
  EXPECT_TRUE(with("new_and_old_images", ", generated: uuid", "must_exist: false"));
  EXPECT_FALSE(with("none", "", "on_delete: nothing")) << "nothing tells it";
}

}  // namespace
}  // namespace stator::runtime
