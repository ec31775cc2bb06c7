#include "stator/runtime/migration/migration.h"

#include <gtest/gtest.h>

#include <map>

#include "stator/expr/build.h"
#include "stator/runtime/migration/migration_test_support.h"

namespace stator::runtime {
namespace {

Strings steps_to(const std::string& yaml) {
  const auto plan = plan_migration(model::load_or_fail(kShelf), model::load_or_fail(yaml));
  Strings steps;
  for (const auto& step : plan.steps) steps.push_back(step.text);
  for (const auto& obstacle : plan.obstacles) steps.push_back("not possible: " + obstacle);
  return steps;
}

TEST(Migration, HasNothingToDoBetweenEqualModels) { EXPECT_EQ(steps_to(std::string(kShelf)), Strings()); }

TEST(Migration, LooksAtRowsWhoseRelationsOrVersionsChange) {
  const auto rewriting = [](const std::string& why) {
    return Strings{"rewrite rows (" + why + ")", "check all rows, with copies, counters and unique values"};
  };
  EXPECT_EQ(steps_to(shelf_with({{"collection: { entity: COLLECTION, optional: true,",
                                  "collection: { entity: COLLECTION, optional: true, when: \"Pages < 500\","}})),
            rewriting("BOOK: relation collection"));
  const auto versions = steps_to(shelf_with({{"key: [PK, SK]", "key: [PK, SK]\n  version_attribute: Rev"}}));
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_NE(versions.front().find("BOOK: versions are in Rev"), std::string::npos) << versions.front();
}

TEST(Migration, CountsAnewWhatAChangedRelationCounts) {
  StillShelf shelf;
  const auto home = shelf.library("Home");
  const auto classics = shelf.collection(home, "Classics");
  shelf.book(classics, {{"Title", text("Dune")}, {"Pages", number(600)}});
  shelf.book(classics, {{"Title", text("Emma")}, {"Pages", number(400)}});
  const auto to =
      model::load_or_fail(shelf_with({{"collection: { entity: COLLECTION, optional: true,",
                                       "collection: { entity: COLLECTION, optional: true, when: \"Pages < 500\","}}));
  EXPECT_EQ(migrate_to(shelf, to), Strings());
  EXPECT_EQ(*shelf.row_of("COLLECTION").find("ItemCount"), number(1));
}

TEST(Migration, TakesVersionsAlongToTheirNewAttribute) {
  StillShelf shelf;
  const auto home = shelf.library("Home");
  ASSERT_TRUE(shelf.world.update("LIBRARY", home, changes({{"Name", text("House")}}), shelf.alice).ok());
  const auto to = model::load_or_fail(shelf_with({{"key: [PK, SK]", "key: [PK, SK]\n  version_attribute: Rev"}}));
  EXPECT_EQ(migrate_to(shelf, to), Strings());
  EXPECT_EQ(*shelf.row_of("LIBRARY").find("Rev"), number(2));
}

TEST(Migration, TellsWhichUniqueValuesBecomeTheSameBeforeItRewritesAnything) {
  StillShelf shelf;
  const auto home = shelf.library("Home");
  shelf.collection(home, "Æsop");
  const auto aesop = shelf.collection(home, "Aesop");
  shelf.collection(home, "Œuvre");
  const auto to = model::load_or_fail(
      shelf_with({{"unique_within: LibraryId, fold: true", "unique_within: LibraryId, fold: letters"}}));
  const auto plan = plan_migration(shelf.world.model(), to);
  ASSERT_EQ(plan.steps.front().text, "look for values of COLLECTION.Name that become the same");
  const auto go = [&] {
    return migrate(shelf.world.model(), to, plan, shelf.world.client(), shelf.clock, shelf.world.random());
  };
  auto report = go();
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->complete);
  EXPECT_EQ(report->rewritten, 0U);
  ASSERT_EQ(report->unresolved.size(), 1U);
  EXPECT_EQ(report->unresolved.front().what, "Name");
  EXPECT_NE(report->unresolved.front().expected, report->unresolved.front().found) << "the two rows";
  EXPECT_EQ(shelf.findings(), Strings()) << "nothing was changed";

  ASSERT_TRUE(shelf.world.update("COLLECTION", aesop, changes({{"Name", text("Aesop's")}}), shelf.alice).ok());
  report = go();
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->complete);
  EXPECT_EQ(findings_by(to, shelf), Strings());
}

TEST(Migration, ChangesTheStreamBeforeRowsWhereItGetsBothImagesAndAtTheEndWhereItLosesOne) {
  const auto with_index_and = [](const std::string& stream) {
    return model::load_or_fail(shelf_with({{"key: [PK, SK]", "key: [PK, SK]\n  stream: " + stream},
                                           {"GSI1SK: \"item#{Name|sortable}\"", "GSI1SK: \"named#{Name|sortable}\""}}));
  };
  const auto changed = with_index_and("new_image");
  const auto away = plan_migration(model::load_or_fail(kShelf), changed);
  ASSERT_EQ(away.steps.size(), 3U);
  EXPECT_EQ(away.steps.back().text, "change the stream from new_and_old_images to new_image");
  const auto back = plan_migration(changed, model::load_or_fail(kShelf));
  ASSERT_EQ(back.steps.size(), 3U);
  EXPECT_EQ(back.steps.front().text, "change the stream from new_image to new_and_old_images");

  StillShelf shelf;
  fill(shelf);
  EXPECT_EQ(migrate_to(shelf, changed), Strings());
  const auto view = [&] { return (*shelf.world.dynamo().describe_table("Shelf"))->table.stream; };
  EXPECT_EQ(view(), model::StreamView::NewImage);
  EXPECT_EQ(told(migrate(changed, shelf.world.model(), back, shelf.world.client(), shelf.clock, shelf.world.random())),
            "ok");
  EXPECT_EQ(view(), model::StreamView::NewAndOldImages);
  EXPECT_EQ(shelf.findings(), Strings());
}

TEST(Migration, CreatesIndexesFirstAndDropsThemLast) {
  const auto plan = plan_migration(model::load_or_fail(shelf_with_index("ByPages")),
                                   model::load_or_fail(shelf_with_index("ByLength")));
  ASSERT_EQ(plan.steps.size(), 2U);
  EXPECT_EQ(plan.steps.front().text, "create index ByLength");
  EXPECT_EQ(plan.steps.back().text, "drop index ByPages");
}

TEST(Migration, RefusesWhatATableCannotDo) {
  EXPECT_EQ(
      steps_to(shelf_with({{"projection: all", "projection: keys"}})),
      Strings{"not possible: index ByName changes its key or projection; give the new one another name, so that both "
              "can be there while rows are rewritten"});
  EXPECT_EQ(steps_to(shelf_with({{"projection: all }", "projection: all }\n    Local: { local: Pages:N }"}})),
            Strings{"not possible: Local is a new local index, and those are made with their table"});
  EXPECT_EQ(steps_to(shelf_with({{"name: Shelf", "name: Other"}})),
            Strings{"not possible: the table's name changes from Shelf to Other"});
  EXPECT_EQ(steps_to(shelf_with({{"model: shelf", "model: other"}})),
            Strings{"not possible: the model's name changes from shelf to other, and reservations and progress are "
                    "kept under it; give both files the same name"});
}

TEST(Migration, TellsWhatRowsHoldThatTheNewModelWouldNotTake) {
  const auto plan = plan_migration(
      model::load_or_fail(kShelf),
      model::load_or_fail(
          shelf_with({{"Description: { type: string, max: 100 }", "Description: boolean"},
                      {"Isbn: { type: string,", "Isbn: { type: string, required: true, lower: true,"}})));
  EXPECT_EQ(plan.remarks,
            (Strings{"LIBRARY.Description has another type; rows keep their values until the attribute is changed",
                     "BOOK.Isbn is kept in lower case; rows keep their values until the attribute is changed",
                     "BOOK.Isbn is required; rows without it stay as they are until they are changed"}));
  EXPECT_EQ(steps_to(shelf_with({{"      LentTo: {", "      Place: { next: { in: contents } }\n      LentTo: {"},
                                 {"{Title|sortable}##{ItemId}", "{Place:05}##{ItemId}"}}))
                .back(),
            "not possible: BOOK.Place gets the number after the last one, and existing rows have no number; add it "
            "without next, give them their numbers, and then add next");
}

TEST(Migration, BuildsANewIndexAndPutsRowsIntoIt) {
  StillShelf shelf;
  fill(shelf);
  const auto to = model::load_or_fail(shelf_with_index("ByPages"));
  EXPECT_EQ(migrate_to(shelf, to), Strings());
  QueryRequest request;
  request.page.table = "Shelf";
  request.page.index = "ByPages";
  request.condition.terms = {expr::key_equals("GSI2PK", text("owner#alice"))};
  const auto page = shelf.world.dynamo().query(request);
  ASSERT_EQ(told(page), "ok");
  EXPECT_EQ(page->items.size(), 2U);
}

TEST(Migration, MovesRowsToTheirNewPrimaryKeysWithAllThatPointsToThem) {
  StillShelf shelf;
  fill(shelf);
  const auto rows = shelf.world.rows().size();
  const auto to =
      model::load_or_fail(shelf_with({{"SK: \"item#{LibraryId}#{ItemId}\"", "SK: \"book#{LibraryId}#{ItemId}\""},
                                      {"SK: \"library#{LibraryId}\"", "SK: \"lib#{LibraryId}\""}}));
  EXPECT_EQ(migrate_to(shelf, to), Strings());
  EXPECT_EQ(shelf.world.rows().size(), rows) << "nothing was taken for a deletion";
  EXPECT_TRUE(shelf.row_of("BOOK").find("SK")->as_string()->starts_with("book#"));
  EXPECT_TRUE(shelf.row_of("LIBRARY").find("SK")->as_string()->starts_with("lib#"));

  // A manager of the old model would take the moves for deletions; it waits, and one of the new model goes on.
  const auto old_manager = shelf.manager();
  ASSERT_TRUE(old_manager->catch_up().ok());
  EXPECT_TRUE(old_manager->status().held);
  EXPECT_EQ(shelf.world.rows().size(), rows);
}

TEST(Migration, HoldsManagersOfTheOldModelUntilItIsFinishedOrTakenBack) {
  StillShelf shelf;
  const auto home = shelf.library("Home");
  const auto classics = shelf.collection(home, "Classics");
  shelf.book(classics, {{"Title", text("Dune")}});
  shelf.propagate_all();
  const auto to =
      model::load_or_fail(shelf_with({{"SK: \"item#{LibraryId}#{ItemId}\"", "SK: \"book#{LibraryId}#{ItemId}\""}}));
  const auto plan = plan_migration(shelf.world.model(), to);
  // Killed as it begins with the rows.
  FailingClient mortal(shelf.world.client(), [](std::string_view operation, std::string_view) {
    return operation == "Scan" ? FailingClient::Fate::Refused : FailingClient::Fate::Done;
  });
  ASSERT_FALSE(migrate(shelf.world.model(), to, plan, mortal, shelf.clock, shelf.world.random()).ok());
  ASSERT_TRUE(shelf.world.update("COLLECTION", classics, changes({{"Name", text("Old ones")}}), shelf.alice).ok());
  shelf.clock.advance(std::chrono::minutes(2));
  {
    const auto manager = shelf.manager();
    ASSERT_TRUE(manager->catch_up().ok());
    const auto status = manager->status();
    EXPECT_TRUE(status.held);
    EXPECT_GT(status.waiting, 0U);
    EXPECT_GT(status.lag, std::chrono::seconds(60));
  }
  EXPECT_EQ(*shelf.row_of("BOOK").find("CollectionName"), text("Classics"));

  const auto back = plan_migration(to, shelf.world.model());
  ASSERT_EQ(told(migrate(to, shelf.world.model(), back, shelf.world.client(), shelf.clock, shelf.world.random())),
            "ok");
  const auto manager = shelf.manager();
  ASSERT_TRUE(manager->catch_up().ok());
  EXPECT_FALSE(manager->status().held);
  EXPECT_EQ(manager->status().lag, std::chrono::milliseconds(0));
  EXPECT_EQ(*shelf.row_of("BOOK").find("CollectionName"), text("Old ones"));
  EXPECT_EQ(shelf.findings(), Strings());
}

// Runs a manager of that model until nothing is left for it.
void propagate_by(Shelf& shelf, const model::Model& model) {
  ConsistencyOptions options;
  options.attempts = 2;
  options.first_wait = std::chrono::milliseconds(0);
  const std::shared_ptr<const model::Model> shared(&model, [](const model::Model*) {});
  ConsistencyManager manager(shared, shelf.world.client(), shelf.clock, shelf.world.random(), options);
  EXPECT_EQ(told(manager.catch_up()), "ok");
}

TEST(Migration, LetsThoseGoWhoseParentWentWhileTheyWereOnTheirWay) {
  StillShelf shelf;
  fill(shelf);
  shelf.propagate_all();
  const auto rows = shelf.world.rows().size();
  const auto to =
      model::load_or_fail(shelf_with({{"SK: \"item#{LibraryId}#{ItemId}\"", "SK: \"book#{LibraryId}#{ItemId}\""},
                                      {"SK: \"library#{LibraryId}\"", "SK: \"lib#{LibraryId}\""}}));
  EXPECT_EQ(migrate_to(shelf, to), Strings());
  // A program of the old model, which has not been switched yet.
  const auto other = shelf.library("Other");
  shelf.book(other, {{"Title", text("Emma")}});
  ASSERT_TRUE(shelf.world.remove("LIBRARY", other, shelf.alice).ok());
  const auto kept = shelf.library("Kept");
  shelf.book(kept, {{"Title", text("Persuasion")}});
  propagate_by(shelf, to);  // the new one's manager propagates the deletion, and looks for books in their new places
  EXPECT_EQ(migrate_to(shelf, to), Strings());
  EXPECT_EQ(shelf.world.rows().size(), rows + 3) << "the library that was kept, its reservation, and its book";
}

TEST(Migration, LetsThoseGoWhoseParentWentWhileItWasTakenBack) {
  StillShelf shelf;
  fill(shelf);
  shelf.propagate_all();
  const auto to =
      model::load_or_fail(shelf_with({{"SK: \"item#{LibraryId}#{ItemId}\"", "SK: \"book#{LibraryId}#{ItemId}\""}}));
  EXPECT_EQ(migrate_to(shelf, to), Strings());
  ASSERT_TRUE(shelf.world.remove("LIBRARY", only_library(shelf), shelf.alice).ok());
  bool propagated = false;
  FailingClient watched(shelf.world.client(), [&](std::string_view operation, std::string_view) {
    if (operation == "Scan" && !std::exchange(propagated, true))
      shelf.propagate_all();  // books are still in their new places
    return FailingClient::Fate::Done;
  });
  const auto back = plan_migration(to, shelf.world.model());
  ASSERT_EQ(told(migrate(to, shelf.world.model(), back, watched, shelf.clock, shelf.world.random())), "ok");
  EXPECT_TRUE(propagated);
  shelf.propagate_all();
  EXPECT_EQ(shelf.world.rows(), std::vector<Item>());
}

TEST(Migration, DeletesNoRowForAParentThatTheOldModelDidNotKeep) {
  StillShelf shelf;
  shelf.world.made(
      "SHARE",
      {{"SharedToId", text("bob")}, {"LibraryId", text(shelf.world.random().uuid())}, {"SharedFromId", text("alice")}},
      the_system());
  const auto to = model::load_or_fail(
      shelf_with({{"  SHARE:\n",
                   "  SHARE:\n    parents: { library: { entity: LIBRARY, by: { OwnerId: SharedFromId }, "
                   "on_delete: cascade } }\n"},
                  {"      PK: \"share#{SharedToId}\"",
                   "      PK: \"shared#{SharedToId}\"\n      GSI1PK: "
                   "\"owner#{SharedFromId}#library#{LibraryId}\"\n      GSI1SK: \"share#{SharedToId}\""}}));
  EXPECT_EQ(migrate_to(shelf, to), Strings{"SHARE."}) << "verification tells of it";
  EXPECT_EQ(shelf.world.rows().size(), 1U);
}

TEST(Migration, FillsInDefaultsCountersAndUniqueValuesThatAreNew) {
  StillShelf shelf;
  fill(shelf);
  const auto to = model::load_or_fail(
      shelf_with({{"Title: { type: string, required: true, min: 1, max: 100 }",
                   "Title: { type: string, required: true, min: 1, max: 100, unique_within: LibraryId }\n      Colour: "
                   "{ type: string, default: red }"},
                  {"TotalItems: { count: BOOK.library }",
                   "TotalItems: { count: BOOK.library }\n      Collections: { count: COLLECTION.library }"}}));
  EXPECT_EQ(migrate_to(shelf, to), Strings());
  EXPECT_EQ(shown(shelf.row_of("BOOK"), "Colour"), "\"red\"");
  EXPECT_EQ(shown(shelf.row_of("LIBRARY"), "Collections"), "1");
}

TEST(Migration, BeginsALastNumberAtTheHighestNumberOfTheChildren) {
  StillShelf shelf;
  const auto home = shelf.library("Home");
  shelf.book(home, {{"Title", text("Dune")}, {"Order", number(7)}});
  shelf.book(home, {{"Title", text("Emma")}, {"Order", number(3)}});
  const auto to = model::load_or_fail(shelf_with(
      {{"TotalItems: { count: BOOK.library }", "TotalItems: { count: BOOK.library }\n      LastOrder: { last: true }"},
       {"Order: { type: integer, min: 1, max: 1000 }", "Order: { next: { by: library.LastOrder }, max: 1000 }"},
       {"clear: [CollectionId, CollectionName, Order]", "clear: [CollectionId, CollectionName]"}}));
  EXPECT_EQ(migrate_to(shelf, to), Strings());
  EXPECT_EQ(shown(shelf.row_of("LIBRARY"), "LastOrder"), "7");
}

TEST(Migration, TellsWhichRowsHaveTheSameUniqueValue) {
  StillShelf shelf;
  const auto home = shelf.library("Home");
  shelf.book(home, {{"Title", text("Dune")}});
  shelf.book(home, {{"Title", text("Dune")}});
  const auto to = model::load_or_fail(
      shelf_with({{"Title: { type: string, required: true, min: 1, max: 100 }",
                   "Title: { type: string, required: true, max: 100, unique_within: LibraryId }"}}));
  const auto plan = plan_migration(shelf.world.model(), to);
  const auto migrated = migrate(shelf.world.model(), to, plan, shelf.world.client(), shelf.clock, shelf.world.random());
  ASSERT_EQ(told(migrated), "ok");
  EXPECT_FALSE(migrated->complete);
  ASSERT_EQ(migrated->unresolved.size(), 1U);
  EXPECT_EQ(migrated->unresolved.front().what, "Title");
}

// Creates, changes and removes books while a migration runs, at every so many of its calls.
class OldProgram {
 public:
  explicit OldProgram(Shelf& shelf)
      : shelf_(shelf),
        library_(only_library(shelf)),
        client_(shelf.world.client(), [this](std::string_view operation, auto) {
          // Changes after the last look at the stream would come too late.
          const bool in_time = operation != "DeleteItem" && operation != "PutItem";
          if (in_time && ++calls_ % 100 == 0) act();
          return FailingClient::Fate::Done;
        }) {}

  client::Client& client() { return client_; }
  std::size_t made() const { return titles_.size(); }
  // The names of the books that the program knows to exist.
  const std::map<std::string, std::string>& titles() const { return titles_; }

 private:
  void act() {
    const auto number = ++actions_;
    const auto title = "T" + std::to_string(number);
    const auto made = shelf_.book(library_, {{"Title", text(title)}});
    titles_[*made.find("ItemId")->as_string()] = title;
    made_.push_back(made);
    // Those that have been moved are not found, as every old program must expect.
    auto changed = made_[number / 2];
    if (shelf_.world.update("BOOK", changed, changes({{"Title", text(title + "b")}}), shelf_.alice).ok()) {
      titles_[*changed.find("ItemId")->as_string()] = title + "b";
    }
    const auto& removed = made_[number / 3];
    if (number % 4 == 0 && shelf_.world.remove("BOOK", removed, shelf_.alice).ok()) {
      titles_.erase(*removed.find("ItemId")->as_string());
    }
  }

  Shelf& shelf_;
  const Item library_;
  FailingClient client_;
  unsigned calls_ = 0;
  unsigned actions_ = 0;
  std::vector<Item> made_;
  std::map<std::string, std::string> titles_;
};

// Migrates while a program of the old model goes on, and tells what is wrong by the new model's rules afterwards.
Strings migrate_beside_old_program(const std::string& yaml, const std::string& sort_prefix) {
  StillShelf shelf;
  fill(shelf);
  for (int i = 0; i < 250; ++i) shelf.book(only_library(shelf), {{"Title", text("Book " + std::to_string(i))}});
  const auto to = model::load_or_fail(yaml);
  OldProgram old(shelf);
  const auto plan = plan_migration(shelf.world.model(), to);
  const auto migrated = migrate(shelf.world.model(), to, plan, old.client(), shelf.clock, shelf.world.random());
  EXPECT_EQ(told(migrated), "ok");
  EXPECT_GT(old.made(), 10U);
  Strings found;
  for (const auto& row : shelf.world.rows()) {
    if (*row.find("EntityType") != text("BOOK")) continue;
    if (!row.find("SK")->as_string()->starts_with(sort_prefix)) found.push_back("a book in its old place");
    const auto expected = old.titles().find(*row.find("ItemId")->as_string());
    if (expected == old.titles().end()) continue;
    EXPECT_EQ(*row.find("Title"), text(expected->second));
  }
  Reconciler reconciler(to, shelf.world.dynamo(), shelf.world.random());
  VerifyOptions options;
  options.report = [&](const RowFinding& finding, FindingState) {
    found.push_back(finding.entity + "." + finding.what);
  };
  EXPECT_EQ(told(verify(reconciler, options)), "ok");
  return found;
}

TEST(Migration, MovesWhatAProgramOfTheOldModelWritesMeanwhile) {
  EXPECT_EQ(migrate_beside_old_program(
                shelf_with({{"SK: \"item#{LibraryId}#{ItemId}\"", "SK: \"book#{LibraryId}#{ItemId}\""}}), "book#"),
            Strings());
}

TEST(Migration, CompletesWhatAProgramOfTheOldModelWritesMeanwhile) {
  EXPECT_EQ(
      migrate_beside_old_program(
          shelf_with({{"Title: { type: string, required: true, min: 1, max: 100 }",
                       "Title: { type: string, required: true, min: 1, max: 100, unique_within: LibraryId }\n      "
                       "Colour: { type: string, default: red }\n      LibraryName: { type: string, copy_of: "
                       "library.Name }"},
                      {"TotalItems: { count: BOOK.library }",
                       "TotalItems: { count: BOOK.library }\n      Books: { count: BOOK.library }"}}),
          "item#"),
      Strings());
}

TEST(Migration, EndsThoughChildrenNeverStandStillWhileTheyAreSummedUp) {
  StillShelf shelf;
  const auto home = shelf.library("Home");
  std::vector<Item> books;
  for (int i = 0; i < 250; ++i) books.push_back(shelf.book(home, {{"Title", text("Book " + std::to_string(i))}}));
  const auto to = model::load_or_fail(shelf_with(
      {{"TotalItems: { count: BOOK.library }",
        "TotalItems: { count: BOOK.library }\n      Leaves: { sum: { of: BOOK.library, attribute: Order } }"}}));
  // Whenever children are collected, and whenever rows are read, one of them changes.
  unsigned writes = 0;
  unsigned queries = 0;
  FailingClient client(shelf.world.client(), [&](std::string_view operation, std::string_view) {
    if (operation == "Query") ++queries;
    if (operation != "Query" && operation != "Scan") return FailingClient::Fate::Done;
    const auto& book = books[++writes % books.size()];
    EXPECT_TRUE(shelf.world.update("BOOK", book, changes({{"Order", number(writes % 1000 + 1)}}), shelf.alice).ok());
    return FailingClient::Fate::Done;
  });
  const auto plan = plan_migration(shelf.world.model(), to);
  const auto migrated = migrate(shelf.world.model(), to, plan, client, shelf.clock, shelf.world.random());
  ASSERT_EQ(told(migrated), "ok");
  EXPECT_TRUE(migrated->complete);
  EXPECT_LT(queries, 120U) << "a parent is counted once after each time of catching up, of which there are few";
  EXPECT_EQ(migrate_to(shelf, to), Strings()) << "when nobody writes any longer";
}

TEST(Migration, LooksAtARowThatNeedsAPersonUntilItIsMended) {
  StillShelf shelf;
  const auto home = shelf.library("Home");
  for (int i = 0; i < 450; ++i) shelf.book(home, {{"Title", text("Book " + std::to_string(i))}, {"Pages", number(i)}});
  // One of the first page that does not fit into its place in the new index.
  auto huge = shelf.row_of("BOOK");
  huge.set("Pages", number(1234567));
  shelf.put(huge);
  const auto from = model::load_or_fail(shelf_with_index("ByPages", "{Pages:08}"));
  EXPECT_EQ(migrate_to(shelf, from), Strings());
  const auto to = model::load_or_fail(shelf_with_index("ByLength", "{Pages:06}"));
  shelf.clock.advance(std::chrono::minutes(5));  // all that was written is older than what the migration follows
  const auto plan = plan_migration(from, to);
  const auto run = [&] { return migrate(from, to, plan, shelf.world.client(), shelf.clock, shelf.world.random()); };
  for (int attempt = 1; attempt <= 4; ++attempt) {
    SCOPED_TRACE(attempt);
    const auto migrated = run();
    ASSERT_EQ(told(migrated), "ok");
    EXPECT_FALSE(migrated->complete);
    ASSERT_EQ(migrated->unresolved.size(), 1U);
  }
  const auto state = shelf.world.dynamo().describe_table("Shelf");
  EXPECT_NE((*state)->table.find_index("ByPages"), nullptr);
  huge.set("Pages", number(123456));
  shelf.put(huge);
  const auto mended = run();
  ASSERT_EQ(told(mended), "ok");
  EXPECT_TRUE(mended->complete);
}

TEST(Migration, GoesOnWhereverItWasKilled) {
  const auto to =
      model::load_or_fail(shelf_with({{"SK: \"item#{LibraryId}#{ItemId}\"", "SK: \"book#{LibraryId}#{ItemId}\""}}));
  bool survived = false;
  for (unsigned k = 0; !survived; k += 3) {
    SCOPED_TRACE("killed at call " + std::to_string(k));
    StillShelf shelf;
    fill(shelf);
    const auto rows = shelf.world.rows().size();
    FailingClient mortal(shelf.world.client(), FailingClient::dies_at(k, FailingClient::Fate::Lost));
    const auto plan = plan_migration(shelf.world.model(), to);
    survived = migrate(shelf.world.model(), to, plan, mortal, shelf.clock, shelf.world.random()).ok();
    // Meanwhile a program of the old model goes on.
    shelf.book(only_library(shelf), {{"Title", text("Persuasion")}});
    ASSERT_EQ(migrate_to(shelf, to), Strings());
    ASSERT_EQ(shelf.world.rows().size(), rows + 1);
  }
}

}  // namespace
}  // namespace stator::runtime
