#include "stator/systems/media-library/item_table.h"

#include <gtest/gtest.h>

#include "stator/model/testing/load_or_fail.h"
#include "stator/systems/media-library/native_support.h"

namespace stator::systems::media_library {
namespace {

using Fields = std::vector<std::string>;

model::Model small_model() {
  return model::load_or_fail(R"yaml(
model: small
table: { name: Small, key: [PK, SK] }
entities:
  BOOK:
    keys: { PK: "book", SK: "{ItemId}" }
    attributes:
      ItemId: { type: uuid, generated: uuid }
      Title: string
      Authors: { type: list, of: string }
      Order: integer
      CollectionName: { type: string, internal: true }
  VIDEO:
    keys: { PK: "video", SK: "{ItemId}" }
    attributes:
      ItemId: { type: uuid, generated: uuid }
      Title: string
      Cast: { type: list, of: string }
      ReleaseYear: integer
)yaml");
}

// Attributes that have a problem, in their order.
Fields blamed(const std::vector<model::ValueProblem>& problems) {
  Fields names;
  for (const auto& problem : problems) names.push_back(problem.attribute);
  return names;
}

TEST(ItemTable, ReadsLinesAsItemsOfTheirKind) {
  const auto model = small_model();
  std::vector<model::ValueProblem> problems;
  const ItemTable table(model, {"Type", "Title", " Authors ", "ReleaseYear", "Collection"}, problems);
  const auto book = table.read({"", "Dune", "Frank Herbert; Somebody", "", "Sand"}, problems);
  EXPECT_EQ(book.entity->name, "BOOK");
  EXPECT_EQ(book.collection, "Sand");
  EXPECT_EQ(book.attributes.find("Authors")->as_list()->size(), 2U);
  EXPECT_EQ(book.attributes.find("ReleaseYear"), nullptr);
  const auto video = table.read({"VIDEO", "Stalker", "", "1979"}, problems);
  EXPECT_EQ(video.entity->name, "VIDEO");
  EXPECT_EQ(video.attributes.find("ReleaseYear")->as_number()->to_string(), "1979");
  EXPECT_EQ(blamed(problems), Fields{});
}

TEST(ItemTable, TakesNamesOfColumnsAndTypesInAnyCase) {
  const auto model = small_model();
  std::vector<model::ValueProblem> problems;
  const ItemTable table(model, {"type", "TITLE", "release year", "COLLECTION", "cast"}, problems);
  const auto video = table.read({"video", "Stalker", " 1979 ", "Sand", "A"}, problems);
  EXPECT_EQ(video.entity->name, "VIDEO");
  EXPECT_EQ(video.attributes.find("ReleaseYear")->as_number()->to_string(), "1979");
  EXPECT_EQ(video.collection, "Sand");
  EXPECT_EQ(table.read({"Book", "Dune"}, problems).entity->name, "BOOK");
  EXPECT_EQ(blamed(problems), Fields{});
  ItemTable(model, {"Title", "title"}, problems);
  EXPECT_EQ(blamed(problems), Fields{"Title"}) << "it is there twice";
}

TEST(ItemTable, BlamesNothingButTheTypeIfThatIsWrong) {
  const auto model = small_model();
  std::vector<model::ValueProblem> problems;
  const ItemTable table(model, {"Type", "Title", "ReleaseYear"}, problems);
  EXPECT_EQ(table.read({"CD", "x", "1979"}, problems).entity, nullptr);
  EXPECT_EQ(blamed(problems), Fields{"Type"});
}

TEST(ItemTable, TellsWhichColumnsAreWrong) {
  const auto model = small_model();
  std::vector<model::ValueProblem> problems;
  ItemTable(model, {"Isbn", "Isbn", "Colour"}, problems);
  EXPECT_EQ(blamed(problems), (Fields{"Isbn", "Colour", "Title"}));
}

TEST(ItemTable, TellsWhatCannotBeUnderstoodInALine) {
  const auto model = small_model();
  std::vector<model::ValueProblem> problems;
  const ItemTable table(model, {"Type", "Title", "Authors", "ReleaseYear"}, problems);
  table.read({"CD", "x"}, problems);
  table.read({"VIDEO", "x", "Somebody", "MCM"}, problems);
  table.read({"BOOK", "x", "", "", "", "more"}, problems);
  EXPECT_EQ(blamed(problems), (Fields{"Type", "Authors", "ReleaseYear", ""}));
}

TEST(ItemTable, WritesTheColumnsInTheirOrder) {
  const auto model = small_model();
  runtime::Object book;
  book.entity = model.find_entity("BOOK");
  book.attributes.set("Title", value::AttributeValue::string("Dune"));
  book.attributes.set("Order", value::AttributeValue::number(7));
  book.attributes.set("CollectionName", value::AttributeValue::string("Sand"));
  EXPECT_EQ(ItemTable::fields_of(book), (Fields{"BOOK", "Dune", "", "", "", "", "", "", "", "Sand", "7", "", ""}));
}

TEST(ItemTable, ListsInACellReadBackAsTheyWere) {
  for (const Fields& names :
       {Fields{}, Fields{"one"}, Fields{"a; b", "c\\d", "e\\; f"}, Fields{" I ", " ", "  two  ", " \\ "}}) {
    value::List members;
    for (const auto& name : names) members.push_back(value::AttributeValue::string(name));
    EXPECT_EQ(split_list(join_list(members)), members);
  }
  EXPECT_EQ(split_list(" ; a ;; b;\\").size(), 3U);
}

}  // namespace
}  // namespace stator::systems::media_library
