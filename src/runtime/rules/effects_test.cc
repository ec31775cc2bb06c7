#include "stator/runtime/rules/effects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "stator/runtime/test_support.h"

namespace stator::runtime {
namespace {

// Of a garden's counters the mean is derived; a bed's counter is plain.
constexpr std::string_view kGarden = R"yaml(
model: garden
table:
  name: Garden
  key: [PK, SK]
  indexes:
    ByLabel: { key: [GSI1PK, GSI1SK], projection: all }
entities:
  GARDEN:
    keys: { PK: "garden#{garden}", SK: "garden" }
    attributes:
      garden: { type: string, required: true }
      plants: { count: PLANT.garden }
      weight: { sum: { of: PLANT.garden, attribute: weight } }
      mean: { type: number, derived: "weight / plants" }
  BED:
    keys: { PK: "bed#{bed}", SK: "bed" }
    attributes:
      bed: { type: string, required: true }
      name: string
      plants: { count: PLANT.bed }
  PLANT:
    soft_delete: { attribute: deleted }
    parents:
      garden: { entity: GARDEN, on_delete: restrict }
      bed: { entity: BED, optional: true, must_exist: false, on_delete: { clear: [bed, bedName, place] } }
    records:
      main: { type: PLANT, keys: { PK: "plant#{plant}", SK: "plant", GSI1PK: "garden#{garden}", GSI1SK: "{label}" } }
      planted:
        type: PLANTED
        keys: { PK: "bed#{bed}", SK: "plant#{plant}" }
        attributes: [plant, bed, name]
        when: "attribute_not_exists(deleted)"
    attributes:
      plant: { type: string, required: true }
      garden: { type: string, required: true }
      bed: string
      bedName: { type: string, copy_of: bed.name }
      place: { type: string, default: shade }
      name: { type: string, unique_within: garden }
      label: { type: string, derived: "concat(name, ' in ', if_not_exists(bedName, 'a pot'))" }
      weight: integer
      secret: { type: string, transient: true }
      hint: { type: string, derived: "lower(secret)" }
      deleted: boolean
)yaml";

class EffectsTest : public ::testing::Test {
 protected:
  using State = std::optional<Item>;

  const model::Entity& entity(std::string_view name) const { return *model_.find_entity(name); }
  const RelationRules& relation(std::string_view name) const {
    const auto& relations = rules_.of(entity("PLANT")).relations;
    return *std::find_if(relations.begin(), relations.end(),
                         [&](const auto& one) { return one.relation->name == name; });
  }

  // A plant in garden g, with these attributes beside its name and what is derived from them.
  State plant(const Item& more = {}) const {
    Item attributes = {{"plant", text("p")}, {"garden", text("g")}, {"name", text("Fern")}};
    for (const auto& [name, content] : more) attributes.set(name, content);
    EXPECT_TRUE(derive_attributes(entity("PLANT"), nullptr, attributes).ok());
    return attributes;
  }
  static EntityState state(const State& attributes) { return {.attributes = attributes ? &*attributes : nullptr}; }

  Effects effects(const State& before, const State& after) const {
    auto found = effects_of(rules_, entity("PLANT"), state(before), state(after));
    EXPECT_TRUE(found.ok());
    return found ? std::move(*found) : Effects();
  }
  // "main plant#p: update name; planted bed#b: put"
  static std::string shown_rows(const Effects& effects) {
    std::vector<std::string> lines;
    for (const auto& row : effects.rows) {
      const auto action = row.action(row.from);
      std::string what = "nothing";
      if (action == RowEffect::Action::Put) what = "put";
      if (action == RowEffect::Action::Remove) what = "remove";
      if (action == RowEffect::Action::Update) {
        what = "update";
        for (const auto& change : differences(*row.from, *row.to)) what += ' ' + change.name;
      }
      lines.push_back(fmt::format("{} {}: {}", row.record != nullptr ? row.record->name : "reservation",
                                  *row.key.find("PK")->as_string(), what));
    }
    return fmt::format("{}", fmt::join(lines, "; "));
  }
  // "garden#g required: plants +1, weight +5; bed#b: plants +1 plain"
  std::string shown_parents(const State& before, const State& after) const {
    const auto found =
        effects_on_parents(rules_, entity("PLANT"), before ? &*before : nullptr, after ? &*after : nullptr);
    if (!found) return "error";
    std::vector<std::string> lines;
    for (const auto& effect : *found) {
      std::vector<std::string> counters;
      for (const auto& [counter, amount, plain] : effect.counters) {
        counters.push_back(fmt::format("{} {}{}", counter->name, amount.to_string(), plain ? " plain" : ""));
      }
      lines.push_back(fmt::format("{}{}: {}", *effect.key.find("PK")->as_string(), effect.required ? " required" : "",
                                  fmt::join(counters, ", ")));
    }
    return fmt::format("{}", fmt::join(lines, "; "));
  }

  const model::Model model_ = model::load_or_fail(kGarden);
  const Rules rules_{model_};
};

TEST_F(EffectsTest, RowsFollowFromBeforeAndAfter) {
  const auto in_bed = [](std::string_view bed) { return Item{{"bed", text(bed)}}; };
  struct Case {
    std::string_view why;
    State before, after;
    std::string rows;
  };
  const std::string fern = "reservation unique#garden#PLANT.name@garden#g#Fern";
  const std::string moss = "reservation unique#garden#PLANT.name@garden#g#Moss";
  for (const auto& [why, before, after, rows] : {
           Case{"created", {}, plant(), "main plant#p: put; " + fern + ": put"},
           Case{"created in a bed", {}, plant(in_bed("b")), "main plant#p: put; planted bed#b: put; " + fern + ": put"},
           Case{"unchanged", plant(in_bed("b")), plant(in_bed("b")),
                "main plant#p: nothing; planted bed#b: nothing; " + fern + ": nothing"},
           Case{"renamed", plant(in_bed("b")), plant({{"bed", text("b")}, {"name", text("Moss")}}),
                "main plant#p: update GSI1SK label name; planted bed#b: update name; " + moss + ": put; " + fern +
                    ": remove"},
           Case{"moved to another bed", plant(in_bed("b")), plant(in_bed("c")),
                "main plant#p: update bed; planted bed#c: put; planted bed#b: remove; " + fern + ": nothing"},
           Case{"taken out of its bed", plant(in_bed("b")), plant(),
                "main plant#p: update bed; planted bed#b: remove; " + fern + ": nothing"},
           Case{"deleted softly", plant(in_bed("b")), plant({{"bed", text("b")}, {"deleted", boolean(true)}}),
                "main plant#p: update deleted; planted bed#b: remove; " + fern + ": nothing"},
           Case{"removed", plant(in_bed("b")), {}, "main plant#p: remove; planted bed#b: remove; " + fern + ": remove"},
       }) {
    EXPECT_EQ(shown_rows(effects(before, after)), rows) << why;
  }
}

TEST_F(EffectsTest, ChangesDependOnWhatTheyWereComputedFrom) {
  struct Case {
    std::string_view why;
    State before, after;
    std::string inputs;
  };
  for (const auto& [why, before, after, inputs] : {
           Case{"nothing from before", {}, plant(), ""},
           Case{"unchanged", plant(), plant(), ""},
           Case{"no computation reads it", plant(), plant({{"place", text("sun")}}), ""},
           Case{"the label, a key and the unique value", plant(), plant({{"name", text("Moss")}}),
                "bedName garden name"},
           Case{"what the garden sums up", plant(), plant({{"weight", number(5)}}), "deleted garden weight"},
           Case{"everything", plant(), {}, "bed bedName deleted garden name plant weight"},
       }) {
    EXPECT_EQ(fmt::format("{}", fmt::join(effects(before, after).inputs, " ")), inputs) << why;
  }
}

TEST_F(EffectsTest, ARestrictingCounterMustBeZeroBeforeARemoval) {
  const Item garden = {{"garden", text("g")}, {"plants", number(2)}};
  auto larger = garden;
  larger.set("plants", number(3));
  const EntityState before{.attributes = &garden};
  EXPECT_EQ(effects_of(rules_, entity("GARDEN"), before, {})->must_be_zero, std::set<std::string>{"plants"});
  EXPECT_TRUE(effects_of(rules_, entity("GARDEN"), before, {.attributes = &larger})->must_be_zero.empty());
}

TEST_F(EffectsTest, AKeyThatCannotBeMadeIsAnError) {
  const State unnamed = Item{{"garden", text("g")}};
  EXPECT_FALSE(effects_of(rules_, entity("PLANT"), {}, state(unnamed)).ok());
  const auto wide = plant({{"bed", text(std::string(3000, 'x'))}});
  EXPECT_FALSE(effects_of(rules_, entity("PLANT"), {}, state(wide)).ok());
}

TEST_F(EffectsTest, WhatIsWrittenDependsOnTheRowThatIsFound) {
  using Action = RowEffect::Action;
  const State none;
  const State old_row = Item{{"type", text("PLANTED")}, {"name", text("Fern")}};
  const State new_row = Item{{"type", text("PLANTED")}, {"name", text("Moss")}};
  const State foreign = Item{{"type", text("BED")}};
  struct Case {
    std::string_view why;
    State from, to, found;
    Action action;
  };
  for (const auto& [why, from, to, found, action] : {
           Case{"a new row", none, new_row, none, Action::Put},
           Case{"a row that was lost", old_row, new_row, none, Action::Put},
           Case{"as before", old_row, new_row, old_row, Action::Update},
           Case{"a new row that is there already, in another state", none, new_row, old_row, Action::Update},
           Case{"right already", old_row, new_row, new_row, Action::None},
           Case{"another entity's row is in its place", old_row, new_row, foreign, Action::Blocked},
           Case{"removed", old_row, none, old_row, Action::Remove},
           Case{"removed in another state", old_row, none, new_row, Action::Remove},
           Case{"gone already", old_row, none, none, Action::None},
           Case{"another entity's row stays", old_row, none, foreign, Action::None},
       }) {
    const RowEffect row{.record = nullptr, .unique = nullptr, .key = {}, .from = from, .to = to, .mark = "type"};
    EXPECT_EQ(row.action(found), action) << why;
  }
}

TEST_F(EffectsTest, ParentsAreRequiredAndCount) {
  const auto heavy = [&](std::int64_t weight) { return plant({{"weight", number(weight)}}); };
  const auto in_bed = [&](std::string_view bed) { return plant({{"bed", text(bed)}}); };
  const auto deleted = plant({{"weight", number(5)}, {"deleted", boolean(true)}});
  const auto wide = plant({{"garden", text(std::string(3000, 'x'))}});
  struct Case {
    std::string_view why;
    State before, after;
    std::string parents;
  };
  for (const auto& [why, before, after, parents] : {
           Case{"created", {}, heavy(5), "garden#g required: plants 1, weight 5"},
           Case{"a sum of nothing does not change", {}, plant(), "garden#g required: plants 1"},
           Case{"a parent that need not exist", {}, in_bed("b"), "garden#g required: plants 1; bed#b: plants 1 plain"},
           Case{"unchanged", heavy(5), heavy(5), ""},
           Case{"a sum changes", heavy(5), heavy(3), "garden#g: weight -2"},
           Case{"moved", in_bed("b"), in_bed("c"), "bed#c: plants 1 plain; bed#b: plants -1 plain"},
           Case{"moved to another garden", heavy(5), plant({{"garden", text("h")}, {"weight", number(7)}}),
                "garden#h required: plants 1, weight 7; garden#g: plants -1, weight -5"},
           Case{"deleted softly", heavy(5), deleted, "garden#g: plants -1, weight -5"},
           Case{"restored", deleted, heavy(5), "garden#g required: plants 1, weight 5"},
           Case{"removed", heavy(5), {}, "garden#g: plants -1, weight -5"},
           Case{"removed after a soft deletion", deleted, {}, ""},
           Case{"a key that is too long", {}, wide, "error"},
           Case{"a key that was too long was never counted", wide, plant(), "garden#g required: plants 1"},
           Case{"and stays", wide, wide, ""},
       }) {
    EXPECT_EQ(shown_parents(before, after), parents) << why;
  }
}

TEST_F(EffectsTest, CountersAreAddedToAndAbsentOnesAreZero) {
  const auto& garden = entity("GARDEN");
  Item attributes = {{"plants", number(2)}};
  ASSERT_TRUE(add_to_counters({{.counter = garden.find_attribute("plants"), .amount = value::Number::from_int(-1)},
                               {.counter = garden.find_attribute("weight"), .amount = value::Number::from_int(5)}},
                              attributes)
                  .ok());
  EXPECT_EQ(attributes, (Item{{"plants", number(1)}, {"weight", number(5)}}));
}

TEST_F(EffectsTest, OnlyCountersAreAddedTo) {
  struct Case {
    std::string_view why, name;
    std::optional<value::AttributeValue> from, to;
    std::string addition;  // empty: it is set
  };
  for (const auto& [why, name, from, to, addition] : {
           Case{"a count", "plants", number(2), number(5), "3"},
           Case{"a sum that goes down", "weight", number(2), number(-1), "-3"},
           Case{"its first value", "plants", {}, number(5), "5"},
           Case{"no number was there", "plants", text("two"), number(5), ""},
           Case{"a derived number", "mean", number(2), number(5), ""},
           Case{"an unknown attribute", "color", number(2), number(5), ""},
       }) {
    const AttributeChange change{.name = std::string(name), .from = from ? &*from : nullptr, .to = to ? &*to : nullptr};
    const auto amount = change.addition(entity("GARDEN"));
    EXPECT_EQ(amount ? amount->to_string() : "", addition) << why;
  }
}

TEST_F(EffectsTest, ADerivedAttributeWithATransientInputKeepsItsValue) {
  struct Case {
    std::string_view why;
    State before;
    Item given;
    std::string hint;
  };
  for (const auto& [why, before, given, hint] : {
           Case{"given at the start", {}, {{"secret", text("ROSE")}}, "\"rose\""},
           Case{"not given", {}, {}, "-"},
           Case{"not given again", Item{{"hint", text("rose")}}, {}, "\"rose\""},
           Case{"given again", Item{{"hint", text("rose")}}, {{"secret", text("LILY")}}, "\"lily\""},
           Case{"never given", Item{}, {}, "-"},
       }) {
    auto after = given;
    ASSERT_TRUE(derive_attributes(entity("PLANT"), before ? &*before : nullptr, after).ok());
    EXPECT_EQ(shown(after, "hint"), hint) << why;
  }
}

TEST_F(EffectsTest, CopiesAreWhatTheParentHas) {
  const Item named = {{"bed", text("b")}, {"name", text("South")}};
  const Item unnamed = {{"bed", text("b")}};
  for (const auto& [parent, copy] : {std::pair(&named, "\"South\""), {&unnamed, "-"}, {nullptr, "-"}}) {
    auto child = *plant({{"bedName", text("North")}});
    copy_attributes(relation("bed"), parent, child);
    EXPECT_EQ(shown(child, "bedName"), copy);
  }
}

TEST_F(EffectsTest, ClearedAttributesGetTheirDefault) {
  auto child = *plant({{"bed", text("b")}, {"bedName", text("North")}, {"place", text("sun")}});
  EXPECT_TRUE(clear_attributes(*relation("bed").relation, child));
  EXPECT_EQ(shown(child, "bed") + shown(child, "bedName") + shown(child, "place"), "--\"shade\"");
  EXPECT_FALSE(clear_attributes(*relation("bed").relation, child));
}

TEST_F(EffectsTest, DifferencesAreInTheOrderOfNames) {
  const Item from = {{"c", number(1)}, {"a", number(1)}, {"same", number(1)}};
  const Item to = {{"same", number(1)}, {"b", number(2)}, {"a", number(2)}};
  std::string names;
  for (const auto& change : differences(from, to)) {
    names += change.name + (change.from == nullptr ? "+" : change.to == nullptr ? "-" : "") + ' ';
  }
  EXPECT_EQ(names, "a b+ c- ");
}

}  // namespace
}  // namespace stator::runtime
