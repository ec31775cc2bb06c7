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

using Replacements = std::vector<std::pair<std::string, std::string>>;

// kCats with words replaced.
std::string cats_but(const Replacements& replacements) {
  std::string yaml(kCats);
  for (const auto& [from, to] : replacements) {
    const auto at = yaml.find(from);
    if (at == std::string::npos) throw std::runtime_error("not in the model: " + from);
    yaml.replace(at, from.size(), to);
  }
  return yaml;
}

// "code subject: message".
Lines together(std::string_view first, std::string_view second) {
  Lines lines;
  for (const auto& d : check_shared(load_or_fail(first), load_or_fail(second))) {
    lines.push_back(fmt::format("{} {}: {}", d.code, d.subject, d.message));
  }
  return lines;
}

Lines beside_cats(const Replacements& replacements) { return together(kCats, cats_but(replacements)); }

// A model of dogs, which has nothing to do with the cats.
Replacements dogs(const Replacements& but = {}) {
  Replacements all = {
      {"model: cats", "model: dogs"}, {"  CAT:", "  DOG:"}, {"\"CAT#", "\"DOG#"}, {"\"CATS#", "\"DOGS#"}};
  all.insert(all.end(), but.begin(), but.end());
  return all;
}

TEST(SharedTable, SuitsModelsThatAreToldApart) { EXPECT_EQ(beside_cats(dogs()), Lines{}); }

TEST(SharedTable, IsNotTakenForProvedWithoutSteps) {
  const auto findings = check_shared(load_or_fail(kCats), load_or_fail(cats_but(dogs())), {.steps = 100});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().code, "too-large-to-prove");
  EXPECT_TRUE(findings.front().message.ends_with("that it can share the table Pets with cats is not proved"));
}

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
  EXPECT_EQ(
      together(
          cats_but(dogs({{"\"DOG#{id}", "\"unique#{id}"}, {"\"X\"", "\"unique\""}, {", unique_within: table", ""}})),
          kCats),
      Lines{"key-collision DOG: DOG of dogs, which shares the table, can have the primary key of a reservation, which "
            "keeps a unique value"});
}

TEST(SharedTable, IsNotForged) {
  const auto raw = [](std::string_view sort) {
    return cats_but(dogs({{"\"DOG#{id}\"", "\"{name|raw}\""},
                          {"\"X\"", std::string(sort)},
                          {"GSI1PK: \"DOGS#{id}\"", "GSI1PK: \"DOGS#{name}\""},
                          {", unique_within: table", ""}}));
  };
  EXPECT_EQ(together(kCats, raw("\"X\"")),
            Lines{"forged-key DOG.name: name is in the key of DOG as it is: a value that contains a separator can give "
                  "a DOG the key of a CAT of cats, which shares the table"});
  EXPECT_EQ(together(raw("\"X\""), kCats),
            Lines{"forged-key DOG.name: name is in the key of DOG of dogs, which shares the table, as it is: a value "
                  "that contains a separator can give a DOG the key of a CAT"});
  EXPECT_EQ(together(kCats, raw("\"unique\"")),
            Lines{"forged-key DOG.name: name is in the key of DOG as it is: a value that contains a separator can give "
                  "a DOG the key of a reservation of CAT of cats, which shares the table"});
  EXPECT_EQ(together(kCats, raw("\"Y\"")), Lines{});
}

TEST(SharedTable, HasTheTypeInIndexesThatReadRowsOfBoth) {
  const auto herd = [](std::string_view projection, std::string_view prefix, const Replacements& but) {
    auto yaml = cats_but(but);
    const auto replace = [&](std::string_view from, std::string_view to) {
      yaml.replace(yaml.find(from), from.size(), to);
    };
    replace("key: [GSI1PK]", fmt::format("key: [GSI1PK], projection: {}", projection));
    replace("S#{id}\"", "S\"");
    if (!prefix.empty()) yaml.replace(yaml.find("GSI1PK: \"") + 9, 4, prefix);
    const auto name = but.empty() ? std::string("CAT") : std::string("DOG");
    return yaml + fmt::format("patterns: {{ all: {{ query: {{ index: GSI1, GSI1PK: \"{}\" }}, returns: {} }} }}\n",
                              prefix.empty() ? name + "S" : std::string(prefix), name);
  };
  const auto beside = [&](std::string_view projection, std::string_view of_cats, std::string_view of_dogs) {
    return together(herd(projection, of_cats, {}), herd(projection, of_dogs, dogs()));
  };
  EXPECT_EQ(beside("[id, name]", "PETS", "PETS"),
            (Lines{"shared-index all: all reads GSI1, which does not hold EntityType, and there it also finds CAT of "
                   "cats, which shares the table: the rows of the models could not be told apart",
                   "shared-index all: all of cats, which shares the table, reads GSI1, which does not hold EntityType, "
                   "and there it also finds DOG: the rows of the models could not be told apart"}));
  EXPECT_EQ(beside("keys", "PETS", "DOGS"), Lines{});
  EXPECT_EQ(beside("[id, name, EntityType]", "PETS", "PETS"), Lines{});
  EXPECT_EQ(beside("all", "PETS", "PETS"), Lines{});
}

TEST(SharedTable, HasEachModelOnce) {
  EXPECT_EQ(beside_cats(dogs({{"model: dogs", "model: cats"}})),
            Lines{"shared-name cats: model.yaml is also called cats, and shares the table Pets: neither could tell its "
                  "reservations and its progress from the other's"});
}

}  // namespace
}  // namespace stator::model
