#include "stator/model/check/check_shared.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/model/testing/load_or_fail.h"

namespace stator::model {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kCats = R"yaml(
model: cats
table: { name: Pets, key: [PK, SK], ttl: gone, indexes: { GSI1: { key: [GSI1PK] } } }
entities:
  CAT:
    keys: { PK: "CAT#{id}", SK: "X", GSI1PK: "CATS#{id}" }
    attributes: { id: uuid, name: { type: string, unique_within: table } }
)yaml";

// kCats with words replaced: "code subject: message".
Lines beside_cats(const std::vector<std::pair<std::string, std::string>>& replacements) {
  std::string yaml(kCats);
  for (const auto& [from, to] : replacements) {
    const auto at = yaml.find(from);
    if (at == std::string::npos) throw std::runtime_error("not in the model: " + from);
    yaml.replace(at, from.size(), to);
  }
  Lines lines;
  for (const auto& d : check_shared(load_or_fail(kCats), load_or_fail(yaml))) {
    lines.push_back(fmt::format("{} {}: {}", d.code, d.subject, d.message));
  }
  return lines;
}

// A model of dogs, which has nothing to do with the cats.
std::vector<std::pair<std::string, std::string>> dogs(std::vector<std::pair<std::string, std::string>> but = {}) {
  std::vector<std::pair<std::string, std::string>> all = {
      {"model: cats", "model: dogs"}, {"  CAT:", "  DOG:"}, {"\"CAT#", "\"DOG#"}, {"\"CATS#", "\"DOGS#"}};
  all.insert(all.end(), but.begin(), but.end());
  return all;
}

TEST(SharedTable, SuitsModelsThatAreToldApart) { EXPECT_EQ(beside_cats(dogs()), Lines{}); }

TEST(SharedTable, IsNoneWhenTheNamesDiffer) {
  EXPECT_EQ(beside_cats({{"name: Pets", "name: Others"}, {"ttl: gone", "ttl: expires"}}), Lines{});
}

TEST(SharedTable, HasOneDefinition) {
  EXPECT_EQ(beside_cats(dogs({{"ttl: gone", "ttl: expires"}, {"GSI1: { key: [GSI1PK] }", "GSI2: { key: [GSI1PK] }"}})),
            (Lines{"shared-table Pets: ttl is expires here and gone in cats, which shares the table",
                   "shared-table Pets: index GSI2 is global [GSI1PK:S], [], projection all here and absent in cats, "
                   "which shares the table",
                   "shared-table Pets: index GSI1 is absent here and global [GSI1PK:S], [], projection all in cats, "
                   "which shares the table"}));
  EXPECT_EQ(
      beside_cats(dogs({{"SK]", "SK:N]"}, {"SK: \"X\"", "SK: \"{n}\""}, {"id: uuid", "id: uuid, n: integer"}})).front(),
      "shared-table Pets: the key is [PK:S, SK:N] here and [PK:S, SK:S] in cats, which shares the table");
}

TEST(SharedTable, HasEachTypeOnce) {
  EXPECT_EQ(beside_cats(dogs({{"  DOG:", "  DOG:\n    type: CAT"}})),
            Lines{"shared-type DOG: rows of DOG have the type CAT, and so have rows of CAT in cats, which shares the "
                  "table: each model would take the other's for its own"});
}

TEST(SharedTable, HasEachKeyOnce) {
  EXPECT_EQ(beside_cats(dogs({{"\"DOG#", "\"CAT#"}})),
            Lines{"key-collision DOG: DOG and CAT of cats, which shares the table, can have the same primary key, and "
                  "then one takes the place of the other"});
  EXPECT_EQ(
      beside_cats(dogs({{"\"DOG#{id}", "\"unique#{id}"}, {"\"X\"", "\"unique\""}, {", unique_within: table", ""}})),
      Lines{"key-collision DOG: DOG and a reservation of cats, which shares the table, can have the same primary "
            "key, and then one takes the place of the other"});
}

TEST(SharedTable, HasEachModelOnce) {
  EXPECT_EQ(beside_cats(dogs({{"model: dogs", "model: cats"}})),
            Lines{"shared-name cats: model.yaml is also called cats, and shares the table Pets: neither could tell its "
                  "reservations and its progress from the other's"});
}

}  // namespace
}  // namespace stator::model
