#include "stator/runtime/migration/resolve.h"

#include <gtest/gtest.h>

#include "stator/runtime/migration/migration_test_support.h"

namespace stator::runtime {
namespace {

// Writes of a program that knows of no migration: a book in its old place, and one of the same name in its new place.
struct Twins {
  explicit Twins(Shelf& shelf) : home(shelf.library("Home")) {
    const auto book = shelf.book(home, {{"Title", text("Old")}, {"Isbn", text("1")}});
    EXPECT_TRUE(shelf.world.perform("lend", Shelf::both(book, {{"borrower", text("Bob")}}), shelf.alice).ok());
    auto row = shelf.row_of("BOOK");
    old_key = model::primary_key_of(shelf.world.model().table, row);
    auto place = *row.find("SK")->as_string();
    row.set("SK", text(place.replace(0, 4, "book")));
    row.set("Title", text("New"));
    row.set("Isbn", text("2"));
    row.set("Version", number(row.integer("Version") + 1));
    shelf.put(row);
    new_key = model::primary_key_of(shelf.world.model().table, row);
    auto reservation = shelf.row_of("unique");
    for (const auto& other : shelf.world.rows()) {
      if (other.find("Of") != nullptr && *other.find("Of") == text(key_text(old_key))) reservation = other;
    }
    auto name = *reservation.find("PK")->as_string();
    reservation.set("PK", text(name.substr(0, name.size() - 1) + "2"));
    reservation.set("Of", text(key_text(new_key)));
    shelf.put(reservation);
  }
  Item home, old_key, new_key;
};

TEST(Resolve, DecidesWhichOfTwoRowsStays) {
  for (const auto keep : {Kept::Old, Kept::New, Kept::Newest}) {
    StillShelf shelf;
    const Twins twins(shelf);
    const auto to = model::load_or_fail(moved_books());
    const auto plan = plan_migration(shelf.world.model(), to);
    const auto left = migrate(shelf.world.model(), to, plan, shelf.world.client(), shelf.clock, shelf.world.random());
    ASSERT_EQ(told(left), "ok");
    EXPECT_FALSE(left->complete);
    const auto rows = shelf.world.rows();

    ResolveOptions options;
    options.keep = keep;
    Strings told_of;
    options.report = [&](const Double& pair) {
      told_of.push_back(pair.entity + (pair.kept == Kept::Old ? " old" : " new") + (pair.done ? " done" : ""));
    };
    const auto resolve = [&] {
      return resolve_doubles(shelf.world.model(), to, options, shelf.world.client(), shelf.clock, shelf.world.random());
    };
    const std::string side = keep == Kept::Old ? "BOOK old" : "BOOK new";
    ASSERT_EQ(told(resolve()), "ok");
    EXPECT_EQ(shelf.world.rows(), rows) << "it was only asked";
    options.write = true;
    ASSERT_EQ(told(resolve()), "ok");
    EXPECT_EQ(told_of, (Strings{side, side + " done"}));
    EXPECT_EQ(migrate_to(shelf, to), Strings());
    EXPECT_EQ(values_of(shelf, "BOOK", "Title"), Strings{keep == Kept::Old ? "\"Old\"" : "\"New\""});
    EXPECT_EQ(model::primary_key_of(to.table, shelf.row_of("BOOK")), twins.new_key);
    EXPECT_EQ(shown(shelf.row_of("LIBRARY"), "TotalItems"), "1");
  }
}

TEST(Resolve, LeavesDoublesThatNobodyHasDecided) {
  StillShelf shelf;
  const Twins twins(shelf);
  const auto to = model::load_or_fail(moved_books());
  auto twin = shelf.row_of("BOOK");
  for (const auto& row : shelf.world.rows()) {
    if (model::primary_key_of(to.table, row) == twins.new_key) twin = row;
  }
  twin.set("Version", number(1));
  shelf.put(twin);
  auto old_row = *shelf.world.row(twins.old_key.text("PK"), twins.old_key.text("SK"));
  old_row.set("Version", number(1));
  shelf.put(old_row);
  ResolveOptions options{.keep = Kept::Newest, .rows = {}, .write = true, .report = {}, .progress = {}};
  Strings why;
  options.report = [&](const Double& pair) { why.push_back(pair.why); };
  const auto resolve = [&] {
    const auto result =
        resolve_doubles(shelf.world.model(), to, options, shelf.world.client(), shelf.clock, shelf.world.random());
    EXPECT_EQ(told(result), "ok");
    return result->resolved;
  };
  EXPECT_EQ(resolve(), 0U);
  options.keep = Kept::Old;
  options.rows = {"another"};
  EXPECT_EQ(resolve(), 0U);
  EXPECT_EQ(why, (Strings{"the rows do not tell which of them is newer", "nothing was chosen for it"}));
  options.rows = {key_text(twins.old_key)};
  EXPECT_EQ(resolve(), 1U);
}

}  // namespace
}  // namespace stator::runtime
