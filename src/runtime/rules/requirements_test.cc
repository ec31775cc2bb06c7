#include "stator/runtime/rules/requirements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "stator/runtime/test_support.h"

namespace stator::runtime {
namespace {

// A note has a second row on its shelf.  The names of notes are generated, those of drafts can be reused.
constexpr std::string_view kShelves = R"yaml(
model: shelves
table:
  name: Shelves
  key: [PK, SK]
  indexes:
    ByName: { key: [GSI1PK, GSI1SK], projection: all }
entities:
  SHELF:
    keys: { PK: "shelf#{shelf}", SK: "shelf", GSI1PK: "shelves", GSI1SK: "{name}" }
    attributes:
      shelf: { type: string, required: true }
      name: { type: string, required: true }
      color: string
      notes: { count: NOTE.shelf }
  NOTE:
    parents:
      shelf: { entity: SHELF, on_delete: restrict }
    records:
      main: { type: NOTE, keys: { PK: "note#{note}", SK: "note" } }
      shelved: { type: SHELVED, keys: { PK: "shelf#{shelf}", SK: "note#{title}" } }
    attributes:
      note: { type: uuid, generated: uuid }
      shelf: { type: string, required: true }
      title: { type: string, required: true }
      shelfName: { type: string, copy_of: shelf.name }
      shelfColor: { type: string, copy_of: shelf.color }
)yaml";

class RequirementsTest : public ::testing::Test {
 protected:
  const EntityRules& rules(std::string_view name) const { return rules_.of(*model_.find_entity(name)); }
  static std::string shown(const std::vector<Requirement>& requirements) {
    std::vector<std::string> lines;
    for (const auto& one : requirements) {
      const bool zero = one.kind == Requirement::Kind::AtMostZero;
      std::string content;
      if (one.value) value::append_json(content, *one.value);
      lines.push_back(fmt::format("{} {}{}", one.attribute,
                                  zero        ? "is zero"
                                  : one.value ? content
                                              : "is absent",
                                  one.otherwise ? ", else " + one.otherwise->code : std::string()));
    }
    return fmt::format("{}", fmt::join(lines, "; "));
  }

  const model::Model model_ = model::load_or_fail(kShelves);
  const Rules rules_{model_};
};

TEST_F(RequirementsTest, InputsAreAsTheyWere) {
  EXPECT_EQ(shown(requirements_of({"a", "b"}, {{"a", text("x")}, {"c", text("y")}})), R"(a {"S":"x"}; b is absent)");
}

TEST_F(RequirementsTest, AVersionReplacesInputsThatItGuards) {
  const Item note = {{"note", text("n")}, {"title", text("T")}, {"shelfName", text("S")}, {"shelf", text("s")}};
  const Item shelf = {{"shelf", text("s")}, {"name", text("N")}, {"notes", number(0)}};
  struct Case {
    std::string_view why, entity;
    std::set<std::string> inputs;
    bool by_version;
    std::string requirements;
  };
  for (const auto& [why, entity, inputs, by_version, requirements] : {
           Case{"no version", "NOTE", {"title", "shelfName"}, false, R"(shelfName {"S":"S"}; title {"S":"T"})"},
           Case{"a version says nothing of copies", "NOTE", {"title", "shelfName"}, true, R"(shelfName {"S":"S"})"},
           Case{"the name is in the key", "NOTE", {"note", "title"}, false, R"(title {"S":"T"})"},
           Case{"a name that can be reused", "SHELF", {"shelf", "name"}, true, R"(name {"S":"N"})"},
       }) {
    Effects effects;
    effects.inputs = inputs;
    const auto& before = entity == "NOTE" ? note : shelf;
    EXPECT_EQ(shown(requirements_of(rules(entity), effects, before, by_version)), requirements) << why;
  }
}

TEST_F(RequirementsTest, CountersOfARestrictAreZero) {
  Effects effects;
  effects.must_be_zero = {"notes"};
  EXPECT_EQ(shown(requirements_of(rules("SHELF"), effects, {}, true)), "notes is zero, else InUse");
}

TEST_F(RequirementsTest, ARowThatIsWrittenWholeHasCopiesAsTheyWereRead) {
  const Item before = {{"note", text("n")}, {"shelf", text("s")}, {"title", text("T")}, {"shelfName", text("S")}};
  auto after = before;
  after.set("title", text("U"));
  const auto effects = effects_of(rules_, *rules("NOTE").entity, {.attributes = &before}, {.attributes = &after});
  ASSERT_TRUE(effects.ok());
  EXPECT_EQ(shown(requirements_of(rules("NOTE"), *effects, before, true)),
            R"(shelfColor is absent; shelfName {"S":"S"})");
}

TEST_F(RequirementsTest, CopiesDependOnTheirSources) {
  EXPECT_EQ(shown(copy_requirements(rules("NOTE").relations.front(), {{"name", text("N")}, {"notes", number(3)}})),
            R"(name {"S":"N"}; color is absent)");
}

}  // namespace
}  // namespace stator::runtime
