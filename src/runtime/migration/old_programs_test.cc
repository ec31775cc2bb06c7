#include "stator/runtime/migration/old_programs.h"

#include <gtest/gtest.h>

#include "stator/runtime/migration/migration_test_support.h"
#include "stator/runtime/write/transaction.h"

// Programs of both models, while a migration runs and after it.
namespace stator::runtime {
namespace {

Strings blind_texts(const std::string& yaml, std::string_view from = kShelf) {
  Strings texts;
  for (const auto& blind : plan_migration(model::load_or_fail(from), model::load_or_fail(yaml)).blind) {
    texts.push_back(blind.name + " | " + blind.text);
  }
  return texts;
}

TEST(OldPrograms, NamesThePatternsThatGoBlind) {
  EXPECT_EQ(blind_texts(std::string(kShelf)), Strings());
  EXPECT_EQ(blind_texts(shelf_with({{"GSI1SK: \"library#{Name", "GSI1SK: \"lib#{Name"},
                                    {"GSI1SK: { begins_with: \"library#\" }", "GSI1SK: { begins_with: \"lib#\" }"}})),
            Strings{"libraries | libraries: this pattern of the old model does not find LIBRARY in index ByName any "
                    "longer: GSI1SK changes from \"library#{Name|sortable}#{LibraryId}\" to "
                    "\"lib#{Name|sortable}#{LibraryId}\""});
  EXPECT_EQ(
      blind_texts(shelf_with({{"SK: \"event#{LibraryId}", "SK: \"ev#{LibraryId}"},
                              {"begins_with: \"event#{LibraryId}", "begins_with: \"ev#{LibraryId}"}})),
      (Strings{"EVENT | EVENT: programs of the old model do not find a row that has moved, and their writes of "
               "EVENT are refused (503) from the beginning of the move on",
               "events | events: this pattern of the old model does not find EVENT in the table any longer: SK "
               "changes from \"event#{LibraryId}#{ItemId}#{EventId}\" to \"ev#{LibraryId}#{ItemId}#{EventId}\""}));
  // A key that could be missing in rows that had one.
  const auto sparse =
      blind_texts(shelf_with({{"GSI1SK: \"library#{Name|sortable}", "GSI1SK: \"library#{Description}"}}));
  EXPECT_EQ(sparse.size(), 1U);
}

TEST(OldPrograms, AreNamedWhereTheyDoNotFindChildrenAnyLonger) {
  const std::pair<std::string, std::string> apart = {"PK: \"owner#{OwnerId}\"\n      SK: \"item#{LibraryId}",
                                                     "PK: \"item#{ItemId}\"\n      SK: \"item#{LibraryId}"};
  const std::string partition = "GSI1PK: \"owner#{OwnerId}#library#{LibraryId}\"\n      GSI1SK:\n";
  const auto blind = blind_texts(shelf_with({apart, {partition, "GSI1PK: \"lib#{LibraryId}\"\n      GSI1SK:\n"}}),
                                 shelf_with({apart}));
  ASSERT_FALSE(blind.empty());
  EXPECT_EQ(
      blind.back(),
      "BOOK.collection | BOOK.collection: programs of the old model do not find the BOOK of a COLLECTION in index "
      "ByName any longer, to copy to them or to remove them: GSI1PK changes");
}

TEST(OldPrograms, TellsThatAListHasAnotherOrder) {
  const auto plan =
      plan_migration(model::load_or_fail(kShelf),
                     model::load_or_fail(
                         shelf_with({{"GSI1SK: \"library#{Name|sortable}", "GSI1SK: \"library#{Name|alphabetical}"}})));
  EXPECT_TRUE(plan.blind.empty());
  ASSERT_EQ(plan.remarks.size(), 1U);
  EXPECT_TRUE(
      plan.remarks.front().starts_with("libraries: this pattern of the old model finds LIBRARY in another order"));
}

TEST(OldPrograms, OffersANewIndexOrToKeepTheOldOne) {
  const auto advice_for = [](const std::string& from, const std::string& to) {
    return plan_migration(model::load_or_fail(from), model::load_or_fail(to)).advice;
  };
  const auto changed =
      advice_for(std::string(kShelf), shelf_with({{"GSI1PK: \"owner#{OwnerId}\"", "GSI1PK: \"by#{OwnerId}\""},
                                                  {"GSI1PK: \"owner#{me}\"", "GSI1PK: \"by#{me}\""}}));
  EXPECT_NE(changed.find("    ByName2: { key: [GSI2PK, GSI2SK], projection: all }"), std::string::npos) << changed;
  EXPECT_NE(changed.find("      GSI1PK: \"owner#{OwnerId}\"\n      GSI1SK: \"library#{Name|sortable}#{LibraryId}\"\n"
                         "      GSI2PK: \"by#{OwnerId}\"\n"),
            std::string::npos)
      << changed;
  EXPECT_NE(changed.find("#   contents: index ByName2, with GSI2PK for GSI1PK and GSI2SK for GSI1SK\n"),
            std::string::npos)
      << changed;
  // An index that the new model does not have any longer: it stays until the old programs are gone.
  const auto with_pattern = [](std::string yaml) {
    return yaml.replace(
        yaml.find("patterns:\n"), 10,
        "patterns:\n  long:\n    query: { index: ByPages, GSI2PK: \"owner#{me}\" }\n    returns: BOOK\n");
  };
  const auto dropped = advice_for(with_pattern(shelf_with_index("ByPages")), std::string(kShelf));
  EXPECT_EQ(dropped,
            "table:\n  indexes:\n    ByPages: { key: [GSI2PK, GSI2SK], projection: keys }  # as it was\nentities:\n"
            "  BOOK:\n    keys:\n      GSI2PK: \"owner#{OwnerId}\"\n      GSI2SK: \"{Pages:06}\"\n"
            "accept:\n  - { finding: unused-index, on: ByPages, because: \"programs of the old model read it\" }\n");
}

// Books by the name of their collection, which is copied, and by their pages.
std::string shelf_by_collection() { return shelf_with_index("ByPages", "{CollectionName|sortable}#{Pages:06}"); }

TEST(OldPrograms, LetsProgramsOfTheOldModelWriteTheKeysOfANewIndex) {
  StillShelf shelf;
  const auto home = shelf.library("Home");
  const auto classics = shelf.collection(home, "Classics");
  const auto dune = shelf.book(classics, {{"Title", text("Dune")}, {"Pages", number(600)}});
  shelf.propagate_all();
  const auto to = model::load_or_fail(shelf_by_collection());
  ASSERT_EQ(told(prepare(shelf, to)), "ok");
  let_programs_notice(shelf);

  shelf.book(classics, {{"Title", text("Emma")}, {"Pages", number(400)}});
  EXPECT_EQ(values_of(shelf, "BOOK", "GSI2SK"), (Strings{"\"classics#000400\"", "\"classics#000600\""}));
  ASSERT_TRUE(shelf.world.update("BOOK", dune, changes({{"Pages", number(7)}}), shelf.alice).ok());
  EXPECT_EQ(values_of(shelf, "BOOK", "GSI2SK"), (Strings{"\"classics#000007\"", "\"classics#000400\""}));
  EXPECT_EQ(findings_by(to, shelf), Strings());

  // A copy that the manager writes is in the key as well.
  ASSERT_TRUE(shelf.world.update("COLLECTION", classics, changes({{"Name", text("Old ones")}}), shelf.alice).ok());
  shelf.let_leases_run_out();
  shelf.propagate_all();
  EXPECT_EQ(values_of(shelf, "BOOK", "GSI2SK"), (Strings{"\"old%20ones#000007\"", "\"old%20ones#000400\""}));
  EXPECT_EQ(findings_by(to, shelf), Strings());
  ASSERT_TRUE(shelf.world.update("BOOK", dune, changes({}, {"CollectionId"}), shelf.alice).ok());
  EXPECT_EQ(values_of(shelf, "BOOK", "GSI2SK"), (Strings{"\"old%20ones#000400\"", "-"}));

  EXPECT_EQ(migrate_to(shelf, to), Strings()) << "the old programs are gone";
  let_programs_notice(shelf);
  shelf.book(classics, {{"Title", text("Persuasion")}, {"Pages", number(1)}});
  EXPECT_EQ(values_of(shelf, "BOOK", "GSI2SK").size(), 3U);
  EXPECT_EQ(findings_by(to, shelf).empty(), false) << "nobody asks it for these keys any longer";
}

TEST(OldPrograms, ComputesWhatTheNewKeysAreMadeOf) {
  StillShelf shelf;
  fill(shelf);
  const auto yaml = [](std::string_view attributes) {
    auto text = shelf_with_index("ByPages", "{Size}#{Colour}#{Pages:06}");
    text.replace(text.find("      LentTo:"), 0, attributes);
    return text;
  };
  const auto to =
      model::load_or_fail(yaml("      Size: { type: string, derived: \"if(Pages > 500, 'L', 'S')\" }\n"
                               "      Colour: { type: string, default: red }\n"));
  EXPECT_TRUE(plan_migration(shelf.world.model(), to).blind.empty());
  ASSERT_EQ(told(prepare(shelf, to)), "ok");
  let_programs_notice(shelf);
  const auto book = shelf.book(only_library(shelf), {{"Title", text("Thick")}, {"Pages", number(501)}});
  ASSERT_TRUE(shelf.world.update("BOOK", book, changes({{"Pages", number(499)}}), shelf.alice).ok());
  EXPECT_EQ(values_of(shelf, "BOOK", "GSI2SK"), (Strings{"\"S#red#000000\"", "\"S#red#000400\"", "\"S#red#000499\""}));
}

TEST(OldPrograms, NamesNewPatternsWhoseKeysOldProgramsCannotWrite) {
  auto yaml = shelf_with_index("ByPages", "{Place}");
  yaml.replace(yaml.find("      LentTo:"), 0, "      Place: { type: string, copy_of: library.Shelf }\n");
  yaml.replace(yaml.find("patterns:\n"), 10,
               "patterns:\n  places:\n    query: { index: ByPages, GSI2PK: \"owner#{me}\" }\n    returns: BOOK\n");
  EXPECT_EQ(blind_texts(yaml),
            Strings{"places | places: this pattern of the new model does not find BOOK that programs of the old model "
                    "write, until the migration is finished: GSI2SK is made of Place, which programs of the old model "
                    "do not keep"});
}

TEST(OldPrograms, RemovesTheKeysOfIndexesThatAreGoneInTheEnd) {
  StillShelf shelf;
  fill(shelf);
  const auto both = model::load_or_fail(shelf_with_index("ByPages"));
  EXPECT_EQ(migrate_to(shelf, both), Strings());
  auto plan = plan_migration(both, shelf.world.model());
  only_prepare(plan);
  const auto go = [&] {
    return told(migrate(both, shelf.world.model(), plan, shelf.world.client(), shelf.clock, shelf.world.random()));
  };
  ASSERT_EQ(go(), "ok");
  EXPECT_EQ(shown(shelf.row_of("BOOK"), "GSI2PK"), "\"owner#alice\"") << "others may still read it";
  plan = plan_migration(both, shelf.world.model());
  ASSERT_EQ(go(), "ok");
  EXPECT_EQ(values_of(shelf, "BOOK", "GSI2PK"), (Strings{"-", "-"}));
  EXPECT_EQ(shelf.findings(), Strings());
}

// A program of another model, on the same table.
class Program {
 public:
  Program(Shelf& shelf, const std::string& yaml)
      : model_(std::make_shared<const model::Model>(model::load_or_fail(yaml))),
        repository_(model_, shelf.world.client(), shelf.world.clock(), shelf.world.random()) {}

  Result<Object, Problem> book(const Item& where, std::string_view title, const Caller& caller) {
    return repository_.create(*model_->find_entity("BOOK"), Shelf::both(where, {{"Title", text(title)}}), caller);
  }
  Result<Object, Problem> change(const Item& book, std::string_view title, const Caller& caller) {
    return repository_.update(*model_->find_entity("BOOK"), book, changes({{"Title", text(title)}}), caller);
  }

 private:
  std::shared_ptr<const model::Model> model_;
  Repository repository_;
};

TEST(OldPrograms, LetsNobodyWriteWhatIsOnItsWay) {
  StillShelf shelf;
  const auto home = shelf.library("Home");
  const auto book = shelf.book(home, {{"Title", text("Dune")}});
  shelf.propagate_all();
  Program program(shelf, moved_books());
  const auto to = model::load_or_fail(moved_books());
  Strings meanwhile;
  FailingClient watched(shelf.world.client(), [&](std::string_view operation, std::string_view) {
    if (operation != "Scan" || !meanwhile.empty()) return FailingClient::Fate::Done;
    let_programs_notice(shelf);
    const auto create = shelf.world.create("BOOK", Shelf::both(home, {{"Title", text("Emma")}}), shelf.alice);
    meanwhile = {told(create),
                 told(shelf.world.update("BOOK", book, changes({{"Title", text("Dune 2")}}), shelf.alice)),
                 told(shelf.world.remove("BOOK", book, shelf.alice)),
                 told(shelf.world.perform("lend", Shelf::both(book, {{"borrower", text("Bob")}}), shelf.alice)),
                 told(program.book(home, "Emma", shelf.alice)),
                 told(program.change(book, "Dune 2", shelf.alice)),
                 told(shelf.world.update("LIBRARY", home, changes({{"Name", text("House")}}), shelf.alice))};
    return FailingClient::Fate::Done;
  });
  auto plan = plan_migration(shelf.world.model(), to);
  only_prepare(plan);
  ASSERT_EQ(told(migrate(shelf.world.model(), to, plan, watched, shelf.clock, shelf.world.random())), "ok");
  EXPECT_EQ(meanwhile,
            (Strings{"503 Moving", "503 Moving", "503 Moving", "503 Moving", "503 Moving", "503 Moving", "ok"}));

  let_programs_notice(shelf);
  EXPECT_EQ(told(program.change(book, "Dune 2", shelf.alice)), "ok");
  EXPECT_EQ(told(program.book(home, "Emma", shelf.alice)), "ok");
  EXPECT_EQ(told(shelf.world.update("BOOK", book, changes({{"Title", text("Dune 3")}}), shelf.alice)), "503 Moved");
  EXPECT_EQ(told(shelf.world.get("BOOK", book, shelf.alice)), "404 NotFound");
  EXPECT_EQ(migrate_to(shelf, to), Strings());
}

TEST(OldPrograms, LetsNobodyWriteWhatIsHalfMovedUntilItGoesOn) {
  StillShelf shelf;
  const auto home = shelf.library("Home");
  shelf.book(home, {{"Title", text("Dune")}});
  shelf.propagate_all();
  Program program(shelf, moved_books());
  const auto to = model::load_or_fail(moved_books());
  FailingClient mortal(shelf.world.client(), [](std::string_view operation, std::string_view) {
    return operation == "TransactWriteItems" ? FailingClient::Fate::Refused : FailingClient::Fate::Done;
  });
  const auto plan = plan_migration(shelf.world.model(), to);
  ASSERT_FALSE(migrate(shelf.world.model(), to, plan, mortal, shelf.clock, shelf.world.random()).ok());
  let_programs_notice(shelf);
  EXPECT_EQ(told(program.book(home, "Emma", shelf.alice)), "503 Moving");
  // Taken back.
  const auto back = plan_migration(to, shelf.world.model());
  ASSERT_EQ(told(migrate(to, shelf.world.model(), back, shelf.world.client(), shelf.clock, shelf.world.random())),
            "ok");
  let_programs_notice(shelf);
  EXPECT_EQ(told(program.book(home, "Emma", shelf.alice)), "503 Moved");
  shelf.book(home, {{"Title", text("Emma")}});
  EXPECT_EQ(shelf.findings(), Strings());
}

TEST(OldPrograms, WritesNothingThatWasPlannedBeforeTheAnnouncement) {
  StillShelf shelf;
  const auto home = shelf.library("Home");
  const auto to = model::load_or_fail(moved_books());
  // Announced while a request is being built.
  unsigned built = 0;
  const auto written = shelf.world.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
    if (built++ == 0) {
      EXPECT_EQ(told(prepare(shelf, to)), "ok");
      let_programs_notice(shelf);
    }
    TRY(transaction.create(shelf.world.entity("BOOK"),
                           Shelf::both(home, {{"OwnerId", text("alice")}, {"Title", text("Emma")}}),
                           ValueSource::Model));
    return {};
  });
  EXPECT_EQ(told(written), "503 Moved");
  EXPECT_EQ(built, 2U);
  EXPECT_EQ(shelf.row_of("BOOK"), Item());
}

}  // namespace
}  // namespace stator::runtime
