#include "stator/runtime/consistency/verify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/runtime/consistency/consistency_test_support.h"
#include "stator/runtime/consistency/propagation.h"

namespace stator::runtime {
namespace {

using Strings = std::vector<std::string>;

// A library with a collection, a book in it with a unique number, and an event.
class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() {
    home = shelf.library("Home");
    classics = shelf.collection(home, "Classics");
    dune = shelf.book(classics, {{"Title", text("Dune")}, {"Isbn", text("1")}, {"Pages", number(600)}});
    EXPECT_TRUE(shelf.world.perform("lend", Shelf::both(dune, {{"borrower", text("Bob")}}), shelf.alice).ok());
  }

  void damage(std::string_view type, const std::string& attribute, std::optional<value::AttributeValue> content) {
    auto row = shelf.row_of(type);
    if (content) {
      row.set(attribute, *content);
    } else {
      row.erase(attribute);
    }
    shelf.put(row);
  }
  // Both are found by looking only, then repaired, and then there is nothing.
  void expect_found_and_repaired(const Strings& expected) {
    EXPECT_EQ(shelf.findings(), expected);
    EXPECT_EQ(shelf.findings(true), expected);
    EXPECT_EQ(shelf.findings(), Strings());
  }
  Item reservation_of(std::string_view what) {
    for (const auto& row : shelf.world.rows()) {
      if (row.find("PK")->as_string()->starts_with("unique#shelf#" + std::string(what))) return row;
    }
    return {};
  }

  Shelf shelf;
  Item home, classics, dune;
};

TEST_F(VerifyTest, FindsNothingWhereEverythingIsAsTheRulesSay) { EXPECT_EQ(shelf.findings(), Strings()); }

TEST_F(VerifyTest, FindsACopyThatDiffersFromItsSourceAndWhatWasMadeFromIt) {
  damage("BOOK", "CollectionName", text("Wrong"));
  expect_found_and_repaired({"copy BOOK.CollectionName"});
  EXPECT_EQ(shelf.now("BOOK", dune, "CollectionName"), "\"Classics\"");
}

TEST_F(VerifyTest, FindsADerivedAttributeThatDiffersFromItsExpression) {
  damage("BOOK", "Label", text("Wrong"));
  expect_found_and_repaired({"derived BOOK.Label"});
}

TEST_F(VerifyTest, FindsKeysThatTheirTemplatesDoNotGive) {
  damage("BOOK", "GSI1SK", text("item#wrong"));
  expect_found_and_repaired({"key BOOK.GSI1SK"});
  damage("COLLECTION", "GSI1PK", std::nullopt);
  expect_found_and_repaired({"key COLLECTION.GSI1PK"});
}

TEST_F(VerifyTest, MovesARowThatLiesInTheWrongPlace) {
  auto row = shelf.row_of("BOOK");
  shelf.erase(row);
  const auto right = *row.find("SK");
  row.set("SK", text("item#astray"));
  shelf.put(row);
  const auto found = shelf.findings(true);
  EXPECT_NE(std::find(found.begin(), found.end(), "key BOOK.primary key"), found.end());
  EXPECT_EQ(*shelf.row_of("BOOK").find("SK"), right);
}

TEST_F(VerifyTest, FindsCountersAndSumsThatAreNotThoseOfTheChildren) {
  damage("LIBRARY", "TotalItems", number(7));
  damage("COLLECTION", "ItemCount", std::nullopt);
  expect_found_and_repaired({"counter COLLECTION.ItemCount", "counter LIBRARY.TotalItems"});
  damage("LIBRARY", "TotalPages", number(-1));
  expect_found_and_repaired({"counter LIBRARY.TotalPages"});
  EXPECT_EQ(shelf.now("LIBRARY", home, "TotalPages"), "600");
}

TEST_F(VerifyTest, FindsReservationsThatAreMissing) {
  shelf.erase(reservation_of("BOOK.Isbn"));
  expect_found_and_repaired({"reservation BOOK.Isbn"});
}

TEST_F(VerifyTest, FindsReservationsThatNobodyClaims) {
  auto row = reservation_of("BOOK.Isbn");
  row.set("PK", text(*row.find("PK")->as_string() + "2"));
  shelf.put(row);
  expect_found_and_repaired({"reservation BOOK.unique"});
}

TEST_F(VerifyTest, LeavesADoubleClaimToAPerson) {
  auto row = shelf.row_of("BOOK");
  row.set("ItemId", text("00000000-0000-4000-8000-000000000000"));
  row.set("SK", text("item#" + *home.find("LibraryId")->as_string() + "#00000000-0000-4000-8000-000000000000"));
  shelf.put(row);
  const auto found = shelf.findings(true);
  EXPECT_NE(std::find(found.begin(), found.end(), "reservation BOOK.Isbn"), found.end());
  EXPECT_EQ(shelf.findings(), Strings{"reservation BOOK.Isbn"}) << "which of the two is right, no rule says";
}

TEST_F(VerifyTest, FindsRowsWhoseParentIsGone) {
  shelf.erase(shelf.row_of("BOOK"));
  EXPECT_EQ(shelf.findings(), (Strings{"counter COLLECTION.ItemCount", "counter LIBRARY.TotalItems",
                                       "counter LIBRARY.TotalPages", "orphan EVENT.", "reservation BOOK.unique"}));
  shelf.findings(true);
  EXPECT_EQ(shelf.findings(), Strings());
  EXPECT_TRUE(shelf.row_of("EVENT").empty());
}

TEST_F(VerifyTest, FindsReferencesToAParentThatIsGone) {
  shelf.erase(shelf.row_of("COLLECTION"));
  shelf.findings(true);
  EXPECT_EQ(shelf.findings(), Strings());
  EXPECT_EQ(shelf.now("BOOK", dune, "CollectionId"), "-");
}

Strings findings_of(World& world, const model::Model& model, bool repair) {
  Reconciler reconciler(model, world.dynamo(), world.random());
  Strings found;
  VerifyOptions options;
  options.repair = repair;
  options.report = [&](const RowFinding& finding, FindingState) {
    found.push_back(finding.entity + "." + finding.what);
  };
  EXPECT_EQ(told(verify(reconciler, options)), "ok");
  return found;
}

// A cleared attribute has its default again, in a request as in a repair.
TEST(Verify, ClearingBringsDefaultsBack) {
  World world(R"yaml(
model: rooms
table: { name: Rooms, key: [PK, SK] }
entities:
  ROOM: { keys: { PK: "room#{room}", SK: "room" }, attributes: { room: string } }
  CHAIR:
    parents: { room: { entity: ROOM, optional: true, on_delete: { clear: [state] } } }
    keys: { PK: "room#{room}", SK: "chair#{chair}" }
    attributes: { room: string, chair: string, state: { type: string, default: stored } }
)yaml");
  world.made("ROOM", {{"room", text("r")}}, the_system());
  const Item chair{{"room", text("r")}, {"chair", text("c")}};
  world.made("CHAIR", Shelf::both(chair, {{"state", text("used")}}), the_system());
  ASSERT_EQ(told(world.remove("ROOM", {{"room", text("r")}}, the_system())), "ok");
  findings_of(world, world.model(), true);
  EXPECT_EQ(shown(*world.get("CHAIR", chair, the_system()), "state"), "\"stored\"");
  EXPECT_EQ(findings_of(world, world.model(), false), Strings());
}

// ------------------------------------------------------------------------------------------- models that share a table

// Two models with an entity of the same name and the same unique value, told apart by their rows' types and keys.
std::string people_of(std::string_view company) {
  return fmt::format(R"yaml(
model: {0}
table: {{ name: Shared, key: [PK, SK] }}
entities:
  PERSON:
    type: {0}-person
    keys: {{ PK: "{0}#{{id}}", SK: "person" }}
    attributes: {{ id: string, email: {{ type: string, required: true, unique_within: table }} }}
)yaml",
                     company);
}

// Copies of copies, each before its source.
constexpr std::string_view kEchoes = R"yaml(
model: echoes
table: { name: Echoes, key: [PK, SK] }
entities:
  VOICE:
    access: { read: public, write: public }
    keys: { PK: "valley", SK: "3" }
    attributes: { word: string }
  ECHO:
    access: { read: public, write: public }
    parents: { of: { entity: VOICE, by: {} } }
    keys: { PK: "valley", SK: "2" }
    attributes: { word: { type: string, copy_of: of.word } }
  FAINT:
    access: { read: public, write: public }
    parents: { of: { entity: ECHO, by: {} } }
    keys: { PK: "valley", SK: "1" }
    attributes: { word: { type: string, copy_of: of.word } }
)yaml";

TEST(Verify, RepairsCopiesOfCopiesUntilNothingIsLeft) {
  World world(kEchoes);
  world.made("VOICE", {{"word", text("hello")}}, {});
  world.made("ECHO", {}, {});
  world.made("FAINT", {}, {});
  RowWrite write;
  write.table = "Echoes";
  write.item = world.rows().back();
  write.item.set("word", text("goodbye"));
  ASSERT_TRUE(world.dynamo().write(write).ok());

  Reconciler reconciler(world.model(), world.dynamo(), world.random());
  Strings repaired;
  VerifyOptions options;
  options.report = [&](const RowFinding& finding, FindingState) { repaired.push_back(finding.entity); };
  const auto result = repair_wholly(reconciler, options);
  ASSERT_EQ(told(result), "ok");
  EXPECT_EQ(repaired, (Strings{"ECHO", "FAINT"}));
  EXPECT_EQ(result->passes, 3U) << "and one that finds nothing";
  EXPECT_EQ(result->findings, 2U);
  EXPECT_EQ(result->repaired, 2U);
  EXPECT_TRUE(result->complete);
  for (const auto& row : world.rows()) EXPECT_EQ(*row.find("word"), text("goodbye"));
}

TEST(Verify, SaysThatARepairOnlyPropagatedWhatWaitsInTheStream) {
  Shelf shelf;
  shelf.propagate_all();
  const auto library = shelf.library("Home");
  const auto where = shelf.collection(library, "Dune");
  shelf.book(where, {{"Title", text("Dune")}});
  ASSERT_TRUE(shelf.world.update("COLLECTION", where, changes({{"Name", text("Sand")}}), shelf.alice).ok());

  Reconciler reconciler(shelf.world.model(), shelf.world.dynamo(), shelf.world.random());
  const auto stream = shelf.world.dynamo().describe_table(shelf.world.model().table.name);
  ASSERT_TRUE(stream.ok() && *stream);
  const auto waiting = PendingChanges::read_all(reconciler, *(*stream)->stream_arn);
  ASSERT_EQ(told(waiting), "ok");
  std::set<FindingState> states;
  VerifyOptions options;
  options.repair = true;
  options.changes = &*waiting;
  options.report = [&](const RowFinding&, FindingState state) { states.insert(state); };
  ASSERT_EQ(told(verify(reconciler, options)), "ok");
  EXPECT_EQ(states, std::set{FindingState::Propagated});
  EXPECT_EQ(shelf.findings(), Strings());
}

TEST_F(VerifyTest, TellsWhatNobodyCanRepairOnceInHoweverManyPasses) {
  auto twin = shelf.row_of("BOOK");
  twin.set("ItemId", text("00000000-0000-4000-8000-000000000000"));
  twin.set("SK", text("item#" + *home.find("LibraryId")->as_string() + "#00000000-0000-4000-8000-000000000000"));
  shelf.put(twin);
  Reconciler reconciler(shelf.world.model(), shelf.world.dynamo(), shelf.world.random());
  unsigned unrepaired = 0;
  VerifyOptions options;
  options.report = [&](const RowFinding&, FindingState state) {
    unrepaired += state == FindingState::Repaired ? 0 : 1;
  };
  const auto result = repair_wholly(reconciler, options);
  ASSERT_EQ(told(result), "ok");
  EXPECT_GT(result->passes, 1U) << "counters and keys are put right";
  EXPECT_EQ(result->findings - result->repaired, 1U) << "its unique number";
  EXPECT_EQ(unrepaired, 1U);
}

TEST(SharedTable, KeepsUniqueValuesOfModelsApart) {
  World acme(people_of("acme"));
  const auto model = std::make_shared<const model::Model>(model::load_or_fail(people_of("emca")));
  Repository emca(model, acme.client(), acme.clock(), acme.random());
  ASSERT_EQ(told(emca.open()), "ok");
  const Item ann = {{"id", text("1")}, {"email", text("ann@example.com")}};
  EXPECT_EQ(told(acme.create("PERSON", ann, the_system())), "ok");
  EXPECT_EQ(told(emca.create(*model->find_entity("PERSON"), ann, the_system())), "ok");
  EXPECT_EQ(acme.rows().size(), 4U) << "two people, each with a reservation";
}

TEST(SharedTable, LeavesTheRowsOfTheOtherModelAlone) {
  World acme(people_of("acme"));
  const auto model = std::make_shared<const model::Model>(model::load_or_fail(people_of("emca")));
  Repository emca(model, acme.client(), acme.clock(), acme.random());
  ASSERT_EQ(told(acme.create("PERSON", {{"id", text("1")}, {"email", text("ann@example.com")}}, the_system())), "ok");
  ASSERT_EQ(told(emca.create(*model->find_entity("PERSON"), {{"id", text("2")}, {"email", text("bob@example.com")}},
                             the_system())),
            "ok");
  for (const auto* judge : {&acme.model(), model.get()}) {
    EXPECT_EQ(findings_of(acme, *judge, false), Strings()) << judge->name;
    EXPECT_EQ(findings_of(acme, *judge, true), Strings()) << judge->name;
  }
  EXPECT_EQ(acme.rows().size(), 4U);
}

// ------------------------------------------------------------------------------ entities with several rows that expire

constexpr std::string_view kStories = R"yaml(
model: stories
table: { name: Stories, key: [PK, SK], ttl: expiresAt, indexes: { ByAuthor: { key: [GSI1PK], projection: keys } } }
entities:
  AUTHOR:
    keys: { PK: "author#{author}", SK: "author" }
    attributes: { author: string, stories: { count: STORY.author } }
  STORY:
    parents: { author: { entity: AUTHOR } }
    records:
      main:
        type: STORY
        keys: { PK: "story#{id}", SK: "story", GSI1PK: "author#{author}" }
      shelf:
        type: SHELVED
        keys: { PK: "author#{author}", SK: "story#{id}" }
        attributes: [id, author, title]
      bin:
        type: BINNED
        keys: { PK: "bin#{author}", SK: "story#{id}" }
        attributes: [id, author, title, until]
        when: "attribute_exists(until)"
        expires: "until"
    attributes:
      id: string
      author: string
      title: { type: string, unique_within: table }
      until: timestamp
)yaml";

class ExpiryTest : public ::testing::Test {
 protected:
  ExpiryTest() {
    world.made("AUTHOR", {{"author", text("ann")}}, the_system());
    world.made("STORY", {{"id", text("1")}, {"author", text("ann")}, {"title", text("Dawn")}}, the_system());
  }
  Strings findings(bool repair) {
    Reconciler reconciler(world.model(), world.dynamo(), world.random());
    Strings found;
    VerifyOptions options;
    options.repair = repair;
    options.report = [&](const RowFinding& finding, FindingState) {
      found.push_back(std::string(finding_name(finding.kind)) + " " + finding.what);
    };
    EXPECT_EQ(told(verify(reconciler, options)), "ok");
    return found;
  }
  // As the database's TTL does it.
  void expire(std::string_view pk, std::string_view sk) {
    Change change;
    change.kind = Change::Kind::Remove;
    change.before = world.row(pk, sk);
    change.expired = true;
    ASSERT_TRUE(change.before);
    erase(pk, sk);
    Reconciler reconciler(world.model(), world.dynamo(), world.random());
    EXPECT_EQ(told(Propagation(reconciler).propagate(change)), "ok");
    EXPECT_EQ(told(Propagation(reconciler).propagate(change)), "ok") << "and a second time";
  }
  void erase(std::string_view pk, std::string_view sk) {
    RowWrite write;
    write.kind = RowWrite::Kind::Delete;
    write.table = "Stories";
    write.item = {{"PK", text(pk)}, {"SK", text(sk)}};
    ASSERT_TRUE(world.dynamo().write(write).ok());
  }

  World world{kStories};
};

TEST_F(ExpiryTest, FindsRecordsThatAreMissingDifferentOrTooMany) {
  erase("author#ann", "story#1");
  EXPECT_EQ(findings(true), Strings{"record shelf"});
  auto row = *world.row("author#ann", "story#1");
  row.set("title", text("Dusk"));
  RowWrite write;
  write.table = "Stories";
  write.item = row;
  ASSERT_TRUE(world.dynamo().write(write).ok());
  EXPECT_EQ(findings(true), Strings{"record shelf"});
  EXPECT_EQ(*world.row("author#ann", "story#1")->find("title"), text("Dawn"));
  write.item.set("SK", text("story#2"));
  write.item.set("id", text("2"));
  ASSERT_TRUE(world.dynamo().write(write).ok());
  EXPECT_EQ(findings(true), Strings{"record shelf"});
  EXPECT_EQ(findings(false), Strings());
}

TEST_F(ExpiryTest, AMainRowThatExpiredTakesTheRestWithIt) {
  expire("story#1", "story");
  EXPECT_EQ(world.rows().size(), 1U);
  EXPECT_EQ(shown(*world.row("author#ann", "author"), "stories"), "0");
  EXPECT_EQ(findings(false), Strings());
}

TEST_F(ExpiryTest, AnotherRowThatExpiredEndsTheWholeEntity) {
  const auto updated =
      world.update("STORY", {{"id", text("1")}}, changes({{"until", text("2020-01-01T00:00:00.000Z")}}), the_system());
  ASSERT_EQ(told(updated), "ok");
  expire("bin#ann", "story#1");
  EXPECT_EQ(world.rows().size(), 1U);
  EXPECT_EQ(shown(*world.row("author#ann", "author"), "stories"), "0");
}

TEST_F(ExpiryTest, AnExpiredRowThatTheStreamDoesNotShowChangesNothing) {
  Change change;
  change.kind = Change::Kind::Remove;
  change.expired = true;
  Reconciler reconciler(world.model(), world.dynamo(), world.random());
  EXPECT_EQ(told(Propagation(reconciler).propagate(change)), "ok");
  EXPECT_EQ(findings(false), Strings());
}

}  // namespace
}  // namespace stator::runtime
