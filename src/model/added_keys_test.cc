#include "stator/model/added_keys.h"

#include <gtest/gtest.h>

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Item;

AttributeValue text(std::string_view content) { return AttributeValue::string(content); }

AddedKeys by_size() {
  AddedKeys added;
  added.defaults = {{"Colour", text("red")}};
  added.derived.emplace_back("Size", *Expression::parse("if(Pages > 500, 'L', 'S')"));
  AddedKeys::OfRecord record{.name = "main", .designs = {}, .rules = {}};
  record.designs = {{.key = {.name = "IPK", .type = value::Type::S, .position = {}}, .part = KeyPart::Partition},
                    {.key = {.name = "Rank", .type = value::Type::N, .position = {}}, .part = KeyPart::Sort}};
  KeyRule rule;
  rule.attribute = "IPK";
  rule.alternatives.push_back({.text = *Template::parse("{Size}#{Colour}"),
                               .when = *Expression::parse("attribute_exists(Title)"),
                               .position = {}});
  record.rules.keys.push_back(rule);
  added.records.push_back(record);
  return added;
}

Item keys_of(const AddedKeys& added, const Item& attributes) {
  const Record main{.name = "main",
                    .description = {},
                    .type = "BOOK",
                    .keys = {},
                    .attributes = {},
                    .when = {},
                    .expires = {},
                    .position = {}};
  TableDesign table;
  table.partition.name = "PK";
  std::vector<Row> rows;
  rows.push_back({.record = &main, .key = {{"PK", text("b1")}}, .item = {{"PK", text("b1")}, {"IPK", text("stale")}}});
  const auto set = added.set_in(table, attributes, rows.front().key, rows);
  EXPECT_TRUE(set.ok());
  return rows.front().item;
}

TEST(AddedKeys, AreComputedAsTheOtherModelComputesThem) {
  const auto rank = AttributeValue::number(7);
  EXPECT_EQ(keys_of(by_size(), {{"Title", text("Dune")}, {"Pages", AttributeValue::number(600)}, {"Rank", rank}}),
            (Item{{"PK", text("b1")}, {"IPK", text("L#red")}, {"Rank", rank}}));
  EXPECT_EQ(
      keys_of(by_size(), {{"Title", text("Emma")}, {"Pages", AttributeValue::number(4)}, {"Colour", text("blue")}}),
      (Item{{"PK", text("b1")}, {"IPK", text("S#blue")}}));
  EXPECT_EQ(keys_of(by_size(), {{"Pages", AttributeValue::number(4)}}), (Item{{"PK", text("b1")}}));
}

TEST(AddedKeys, AreMadeOfWhatIsNotDerived) {
  const std::vector<std::vector<std::string>> expected = {{"Pages", "Colour", "Title"}, {"Rank"}};
  EXPECT_EQ(by_size().inputs(), expected);
}

TEST(AddedKeys, CanBeKeptInARow) {
  const auto read = AddedKeys::from_item(by_size().to_item());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->to_item(), by_size().to_item());
  const auto keys = keys_of(*read, {{"Title", text("Dune")}, {"Pages", AttributeValue::number(600)}});
  EXPECT_EQ(keys.text("IPK"), "L#red");
}

TEST(AddedKeys, OfANewerVersionAreRefused) {
  EXPECT_FALSE(AddedKeys::from_item({}).ok());
  auto item = by_size().to_item();
  item.set("Keys", AttributeValue(value::List{AttributeValue(Item{{"Attribute", text("IPK")}})}));
  EXPECT_FALSE(AddedKeys::from_item(item).ok());
  item = by_size().to_item();
  item.set("Derived", AttributeValue(value::List{AttributeValue(Item{{"Name", text("A")}, {"Text", text("f(")}})}));
  EXPECT_FALSE(AddedKeys::from_item(item).ok());
}

}  // namespace
}  // namespace stator::model
