#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>

#include "stator/runtime/test_support.h"
#include "stator/runtime/write/transaction.h"

namespace stator::runtime {
namespace {

class LendingTest : public ::testing::Test {
 protected:
  LendingTest() {
    auto key =
        Item{{"LibraryId", *world.made("LIBRARY", {{"Name", text("Home")}}, alice).attributes.find("LibraryId")}};
    auto attributes = key;
    attributes.set("Title", text("Dune"));
    key.set("ItemId", *world.made("BOOK", attributes, alice).attributes.find("ItemId"));
    dune = key;
  }
  Item lend_to(std::string_view borrower) {
    auto inputs = dune;
    inputs.set("borrower", text(borrower));
    return inputs;
  }

  World world{kShelf};
  const Caller alice = user("alice");
  Item dune;
};

TEST_F(LendingTest, AnActionWritesEverythingAtOnce) {
  const auto event = world.perform("lend", lend_to("bob"), alice);
  ASSERT_TRUE(event.ok()) << told(event);
  EXPECT_EQ(shown(**event, "Type"), "\"LENT\"");
  EXPECT_EQ(shown(**event, "OwnerId"), "\"alice\"");
  const auto book = world.get("BOOK", dune, alice);
  EXPECT_EQ(shown(*book, "LentTo"), "\"bob\"");
  EXPECT_EQ(book->version, 2U);
}

TEST_F(LendingTest, ACheckThatDoesNotHoldEndsIt) {
  ASSERT_TRUE(world.perform("lend", lend_to("bob"), alice).ok());
  EXPECT_EQ(told(world.perform("lend", lend_to("eve"), alice)), "409 AlreadyLent");
  EXPECT_EQ(shown(*world.get("BOOK", dune, alice), "LentTo"), "\"bob\"");
}

TEST_F(LendingTest, InputsAreChecked) {
  EXPECT_EQ(told(world.perform("lend", dune, alice)), "400 Invalid; borrower is required");
  auto inputs = lend_to("bob");
  inputs.set("colour", text("red"));
  EXPECT_EQ(told(world.perform("lend", inputs, alice)), "400 Invalid; colour is not known here");
}

TEST_F(LendingTest, WhatSomebodyElseOwnsIsNotFound) {
  EXPECT_EQ(told(world.perform("lend", lend_to("bob"), user("eve"))), "404 NotFound");
  EXPECT_EQ(told(world.perform("lend", lend_to("bob"), nobody())), "401 Unauthenticated");
}

TEST_F(LendingTest, ARecipientOfASharedLibraryMayNotLend) {
  world.made("SHARE",
             {{"LibraryId", *dune.find("LibraryId")}, {"SharedToId", text("bob")}, {"SharedFromId", text("alice")}},
             the_system());
  EXPECT_EQ(told(world.perform("lend", lend_to("eve"), user("bob"))), "403 Forbidden");
}

TEST_F(LendingTest, AnActionKeepsToThePreconditionOfWhatItsRouteNames) {
  const auto attempt = [&](const Precondition& precondition) {
    return told(world.perform("lend", lend_to("bob"), alice, precondition));
  };
  Precondition second, first;
  second.versions = {2};
  first.versions = {1};
  EXPECT_EQ(attempt(second), "412 VersionMismatch");
  EXPECT_EQ(shown(*world.get("BOOK", dune, alice), "LentTo"), "-");
  EXPECT_EQ(attempt(first), "ok");
  EXPECT_EQ(attempt(first), "412 VersionMismatch") << "and not that it is lent, which is another version's affair";
  EXPECT_EQ(attempt(second), "409 AlreadyLent");
}

TEST_F(LendingTest, OfManyWhoLendOneWins) {
  std::atomic<int> won = 0, lost = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto lent = world.perform("lend", lend_to("friend " + std::to_string(i)), alice);
      if (lent.ok())
        ++won;
      else if (told(lent) == "409 AlreadyLent")
        ++lost;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(won, 1);
  EXPECT_EQ(lost, 7);
  EXPECT_EQ(world.run("events", dune, alice)->objects.size(), 1U);
}

constexpr std::string_view kQueue = R"yaml(
model: queue
table: { name: Queue, key: [PK, SK] }
entities:
  TASK:
    access: { read: public, write: public }
    keys: { PK: "task#{taskId}", SK: "task" }
    attributes:
      taskId: { type: string, required: true }
      tries: { type: integer, default: 0 }
      looks: { type: integer, default: 0, drifts: true }
      known: { type: boolean, derived: "looks > 2" }
      touchedAt: { updated: true, drifts: true }
      stamp: { type: timestamp, derived: "if(tries < 100, touchedAt, null)" }
      notes: { count: NOTE.task }
      done: { type: boolean, internal: true }
  NOTE:
    access: { read: public, write: public }
    parents: { task: { entity: TASK, on_delete: cascade } }
    keys: { PK: "task#{taskId}", SK: "note#{noteId}" }
    attributes:
      taskId: { type: string, required: true }
      noteId: { type: ulid, generated: ulid }
      text: string
  LOG:
    access: { read: public, write: public }
    versioned: false
    keys: { PK: "log#{taskId}", SK: "log" }
    attributes: { taskId: { type: string, required: true }, last: string }
actions:
  try:
    post: /tasks/{taskId}/try
    access: public
    steps:
      - read: TASK
        as: task
        key: { taskId: ":taskId" }
      - update: task
        set: { tries: "tries + 1" }
      - read: LOG
        as: log
        optional: true
        key: { taskId: ":taskId" }
      - create: LOG
        when: "attribute_not_exists(log)"
        set: { taskId: ":taskId", last: "'first'" }
      - update: log
        set: { last: "'again'" }
    result: task
  look:
    post: /tasks/{taskId}/look
    access: public
    steps:
      - read: TASK
        as: task
        key: { taskId: ":taskId" }
      - update: task
        set: { looks: "looks + 1" }
    result: task
  touch:
    post: /tasks/{taskId}/touch
    access: public
    steps:
      - read: TASK
        as: task
        key: { taskId: ":taskId" }
      - update: task
        set: { touchedAt: ":now" }
    result: task
  note_if_quiet:
    post: /tasks/{taskId}/note
    access: public
    steps:
      - read: TASK
        as: task
        key: { taskId: ":taskId" }
      - check: "task.notes < 1"
        else: { status: 429, code: TooLoud, message: "there is a note already" }
      - create: NOTE
        set: { taskId: ":taskId" }
  with_notes:
    post: /tasks
    access: public
    input: { taskId: { type: string, required: true } }
    steps:
      - create: TASK
        as: task
        set: { taskId: ":taskId", done: "false" }
      - create: NOTE
        set: { taskId: ":taskId", text: "'one'" }
      - create: NOTE
        set: { taskId: ":taskId", text: "'two'" }
    result: task
  close:
    post: /tasks/{taskId}/close
    access: public
    steps:
      - read: TASK
        as: task
        key: { taskId: ":taskId" }
      - delete: task
)yaml";

class QueueTest : public ::testing::Test {
 protected:
  World world{kQueue};
  const Item task{{"taskId", text("t")}};
};

TEST_F(QueueTest, AParentThatIsDeletedAfterItWasReadIsLookedForAgain) {
  world.made("TASK", task, nobody());
  bool deleted = false;
  const auto outcome = world.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
    if (TRY(transaction.load(world.entity("TASK"), task)) == nullptr) return not_found("TASK");
    if (!std::exchange(deleted, true)) TRY(world.remove("TASK", task, nobody()));
    TRY(transaction.create(world.entity("NOTE"), task, ValueSource::Model));
    return {};
  });
  EXPECT_EQ(told(outcome), "404 NotFound");
}

TEST_F(QueueTest, AnActionMovesTheTimeOfTheLastChangeWithoutAVersion) {
  const auto made = world.made("TASK", task, nobody());
  world.clock().advance(std::chrono::milliseconds(1));
  const auto touched = **world.perform("touch", task, nobody());
  EXPECT_EQ(touched.version, made.version);
  EXPECT_GT(shown(touched, "touchedAt"), shown(made, "touchedAt"));
  EXPECT_EQ(shown(touched, "stamp"), shown(touched, "touchedAt"));
  world.clock().advance(std::chrono::milliseconds(1));
  const auto changed = world.update("TASK", task, changes({{"tries", number(7)}}), nobody());
  EXPECT_EQ(changed->version, made.version + 1);
  EXPECT_GT(shown(*changed, "touchedAt"), shown(touched, "touchedAt"));
}

TEST_F(QueueTest, OfTwoWhoMoveTheTimeAtOnceNobodyStartsAgain) {
  world.made("TASK", task, nobody());
  int attempts = 0;
  const auto outcome = world.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
    auto* draft = TRY(transaction.load(world.entity("TASK"), task));
    world.clock().advance(std::chrono::milliseconds(1));
    if (++attempts == 1) TRY(world.perform("touch", task, nobody()));
    const auto later = text("2999-01-01T00:00:00.000Z");
    return transaction.change(*draft, changes({{"touchedAt", later}}), ValueSource::Model);
  });
  EXPECT_EQ(told(outcome), "ok");
  EXPECT_EQ(attempts, 1);
  EXPECT_EQ(shown(*world.get("TASK", task, nobody()), "stamp"), "\"2999-01-01T00:00:00.000Z\"");
}

TEST_F(QueueTest, AnUpdateComputesWithWhatWasRead) {
  world.made("TASK", task, nobody());
  EXPECT_EQ(shown(**world.perform("try", task, nobody()), "tries"), "1");
  EXPECT_EQ(shown(**world.perform("try", task, nobody()), "tries"), "2");
  EXPECT_EQ(shown(*world.get("LOG", task, nobody()), "last"), "\"again\"");
}

TEST_F(QueueTest, ConcurrentComputationsAreNotLost) {
  world.made("TASK", task, nobody());
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 5; ++n) done += world.perform("try", task, nobody()).ok() ? 1 : 0;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(shown(*world.get("TASK", task, nobody()), "tries"), std::to_string(done));
}

TEST_F(QueueTest, WhatDriftsIsCountedByNoVersionAndYetNotLost) {
  const auto first = world.made("TASK", task, nobody()).version;
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 5; ++n) done += world.perform("look", task, nobody()).ok() ? 1 : 0;
    });
  }
  for (auto& thread : threads) thread.join();
  const auto looked = world.get("TASK", task, nobody());
  EXPECT_EQ(shown(*looked, "looks"), std::to_string(done));
  EXPECT_EQ(shown(*looked, "known"), "true");
  EXPECT_EQ(looked->version, first);

  EXPECT_EQ(world.update("TASK", task, changes({{"looks", number(0)}}), nobody())->version, first + 1)
      << "a request counts";
  EXPECT_EQ((**world.perform("try", task, nobody())).version, first + 2) << "so does what does not drift";
}

TEST_F(QueueTest, WhatComesAgainHasNoVersionThatAFormerOneHad) {
  WriteOptions former;
  former.precondition.versions = std::vector{world.made("TASK", task, nobody()).version};
  ASSERT_TRUE(world.remove("TASK", task, nobody()).ok());
  world.clock().advance(std::chrono::milliseconds(1));
  world.made("TASK", task, nobody());
  EXPECT_EQ(told(world.update("TASK", task, changes({{"looks", number(7)}}), nobody(), former)), "412 VersionMismatch");
  EXPECT_EQ(told(world.remove("TASK", task, nobody(), former)), "412 VersionMismatch");
}

TEST_F(QueueTest, AnActionDependsOnTheCountersThatItReads) {
  world.made("TASK", task, nobody());
  std::vector<std::thread> threads;
  std::atomic<int> won = 0, lost = 0;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      const auto noted = world.perform("note_if_quiet", task, nobody());
      if (noted.ok())
        ++won;
      else if (told(noted) == "429 TooLoud")
        ++lost;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(won, 1);
  EXPECT_EQ(lost, 5);
  EXPECT_EQ(shown(*world.get("TASK", task, nobody()), "notes"), "1");
}

TEST_F(QueueTest, AParentAndItsChildrenCanComeInOneAction) {
  const auto made = world.perform("with_notes", task, nobody());
  ASSERT_TRUE(made.ok()) << told(made);
  EXPECT_EQ(shown(*world.get("TASK", task, nobody()), "notes"), "2");
  EXPECT_EQ(shown(*world.get("TASK", task, nobody()), "done"), "false");
  EXPECT_EQ(world.rows().size(), 3U);
  EXPECT_EQ(told(world.perform("with_notes", task, nobody())), "409 Exists");
}

TEST_F(QueueTest, AnActionCanRemove) {
  world.made("TASK", task, nobody());
  const auto closed = world.perform("close", task, nobody());
  ASSERT_TRUE(closed.ok()) << told(closed);
  EXPECT_FALSE(closed->has_value());
  EXPECT_EQ(told(world.perform("close", task, nobody())), "404 NotFound");
}

}  // namespace
}  // namespace stator::runtime
