#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "stator/runtime/consistency/consistency_test_support.h"
#include "stator/runtime/migration/migration.h"

// For tests of migrations of the shelf.
namespace stator::runtime {

using Strings = std::vector<std::string>;

// Its repository is a program of the old model that has looked at announcements before the test begins, and looks again
// when the test moves its clock.
class StillShelf : public Shelf {
 public:
  StillShelf() : Shelf(kShelf, World::Time::Stands) {}
};

// kShelf with words replaced.
inline std::string shelf_with(const std::vector<std::pair<std::string, std::string>>& replacements) {
  std::string yaml(kShelf);
  for (const auto& [from, to] : replacements) {
    const auto at = yaml.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) yaml.replace(at, from.size(), to);
  }
  return yaml;
}

// The findings by the rules of that model.
inline Strings findings_by(const model::Model& to, Shelf& shelf) {
  Reconciler reconciler(to, shelf.world.dynamo(), shelf.world.random());
  Strings found;
  VerifyOptions options;
  options.report = [&](const RowFinding& finding, FindingState) {
    found.push_back(finding.entity + "." + finding.what);
  };
  EXPECT_EQ(told(verify(reconciler, options)), "ok");
  return found;
}

// Migrates, and returns the findings by the new model's rules afterwards.
inline Strings migrate_to(Shelf& shelf, const model::Model& to) {
  const auto plan = plan_migration(shelf.world.model(), to);
  const auto migrated = migrate(shelf.world.model(), to, plan, shelf.world.client(), shelf.clock, shelf.world.random());
  EXPECT_EQ(told(migrated), "ok");
  EXPECT_TRUE(migrated->complete);
  return findings_by(to, shelf);
}

inline void fill(Shelf& shelf) {
  const auto home = shelf.library("Home");
  const auto classics = shelf.collection(home, "Classics");
  shelf.book(classics, {{"Title", text("Dune")}, {"Isbn", text("1")}});
  const auto emma = shelf.book(home, {{"Title", text("Emma")}, {"Pages", number(400)}});
  ASSERT_TRUE(shelf.world.perform("lend", Shelf::both(emma, {{"borrower", text("Bob")}}), shelf.alice).ok());
}

inline Item only_library(Shelf& shelf) { return {{"LibraryId", *shelf.row_of("LIBRARY").find("LibraryId")}}; }

// kShelf with another index, of books by their pages.
inline std::string shelf_with_index(const std::string& name, const std::string& pages = "{Pages:06}") {
  return shelf_with(
      {{"projection: all }", "projection: all }\n    " + name + ": { key: [GSI2PK, GSI2SK], projection: keys }"},
       {"      GSI1SK:\n        - ",
        "      GSI2PK: \"owner#{OwnerId}\"\n      GSI2SK: \"" + pages + "\"\n      GSI1SK:\n        - "}});
}

inline void let_programs_notice(Shelf& shelf) { shelf.world.clock().advance(MigrationNotice::kLease * 2); }

inline Result<MigrationReport, Problem> prepare(Shelf& shelf, const model::Model& to) {
  auto plan = plan_migration(shelf.world.model(), to);
  only_prepare(plan);
  return migrate(shelf.world.model(), to, plan, shelf.world.client(), shelf.clock, shelf.world.random());
}

inline Strings values_of(Shelf& shelf, std::string_view type, std::string_view attribute) {
  Strings values;
  for (const auto& row : shelf.world.rows()) {
    if (*row.find("EntityType") == text(type)) values.push_back(shown(row, attribute));
  }
  std::sort(values.begin(), values.end());
  return values;
}

// A model in which books lie elsewhere.
inline std::string moved_books() {
  return shelf_with({{"SK: \"item#{LibraryId}#{ItemId}\"", "SK: \"book#{LibraryId}#{ItemId}\""}});
}

}  // namespace stator::runtime
