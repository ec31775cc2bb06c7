// Children that are there while their parent is not, and what becomes of them when there is one of that name again.
#include <gtest/gtest.h>

#include "stator/runtime/consistency/consistency_test_support.h"

namespace stator::runtime {
namespace {

using Strings = std::vector<std::string>;
using Fate = FailingClient::Fate;

constexpr std::string_view kTags = R"yaml(
model: tags
table: { name: Tags, key: [PK, SK] }
entities:
  TAG:
    keys: { PK: "tag#{tag}", SK: "tag" }
    access: { read: public, write: public }
    attributes:
      tag: string
      colour: { type: string, max: 10 }
      uses: { count: USE.tag }
      total: { sum: { of: USE.tag, attribute: n } }
  USE:
    keys: { PK: "tag#{tag}", SK: "use#{use}" }
    access: { read: public, write: public }
    parents: { tag: { entity: TAG, RULE } }
    attributes:
      tag: { type: string, required: true }
      use: string
      n: { type: integer, default: 1 }
      colour: { type: string, copy_of: tag.colour }
)yaml";

std::string tags(std::string_view rule) {
  std::string yaml(kTags);
  yaml.replace(yaml.find("RULE"), 4, rule);
  return yaml;
}

class Tagged : public Shelf {
 public:
  explicit Tagged(std::string_view rule = "on_delete: nothing") : Shelf(tags(rule)) { propagate_all(); }

  void tag(std::string_view colour) { world.made("TAG", {{"tag", text("a")}, {"colour", text(colour)}}, alice); }
  void use(std::string_view name, int n) {
    world.made("USE", {{"tag", text("a")}, {"use", text(name)}, {"n", number(n)}}, alice);
  }
  void untag() { EXPECT_EQ(told(world.remove("TAG", kTag, alice)), "ok"); }
  void unuse(std::string_view name) { EXPECT_EQ(told(world.remove("USE", use_key(name), alice)), "ok"); }

  // "2 uses, 5 in all".
  std::string counted() { return now("TAG", kTag, "uses") + " uses, " + now("TAG", kTag, "total") + " in all"; }
  std::string colour_of(std::string_view name) { return now("USE", use_key(name), "colour"); }

  static Item use_key(std::string_view name) { return {{"tag", text("a")}, {"use", text(name)}}; }

 private:
  const Item kTag = {{"tag", text("a")}};
};

TEST(Outliving, IsCountedAndCopiedToByTheNextParentOfThatName) {
  Tagged world;
  world.tag("red");
  world.use("1", 2);
  world.use("2", 3);
  world.untag();
  world.propagate_all();
  EXPECT_EQ(world.colour_of("1"), "\"red\"") << "it stays as it is";
  world.tag("blue");
  world.propagate_all();
  EXPECT_EQ(world.counted(), "2 uses, 5 in all");
  EXPECT_EQ(world.colour_of("1"), "\"blue\"");
  EXPECT_EQ(world.findings(), Strings());
}

TEST(Outliving, IsCountedRightWhateverHappensBeforeThat) {
  Tagged world;
  world.tag("red");
  world.use("1", 2);
  world.use("2", 3);
  world.untag();
  world.unuse("1");
  world.tag("blue");
  world.unuse("2");
  world.use("3", 4);
  world.propagate_all();
  EXPECT_EQ(world.counted(), "1 uses, 4 in all");
  EXPECT_EQ(world.findings(), Strings());
}

TEST(Outliving, DoesNotGoWithoutBeingTakenFromAParentThatHasJustCountedIt) {
  Tagged world;
  world.tag("red");
  world.use("1", 2);
  world.untag();
  bool came = false;
  FailingClient slow(world.world.client(), [&](std::string_view operation, std::string_view) {
    const bool writes = operation == "DeleteItem" || operation == "TransactWriteItems";
    if (writes && !std::exchange(came, true)) {
      world.tag("blue");
      world.propagate_all();
      EXPECT_EQ(world.counted(), "1 uses, 2 in all");
    }
    return Fate::Done;
  });
  const std::shared_ptr<const model::Model> model(&world.world.model(), [](const model::Model*) {});
  Repository repository(model, slow, world.clock, world.world.random());
  EXPECT_EQ(told(repository.remove(world.world.entity("USE"), Tagged::use_key("1"), world.alice, {})), "ok");
  EXPECT_TRUE(came);
  EXPECT_EQ(world.counted(), "0 uses, 0 in all");
}

TEST(Outliving, IsCountedWhereItsParentComesAgainWhileItIsBeingCleared) {
  Tagged world("on_delete: { clear: [n] }");
  world.tag("red");
  world.use("1", 2);
  world.untag();
  bool came = false;
  FailingClient slow(world.world.client(), [&](std::string_view operation, std::string_view json) {
    const bool clears = operation == "TransactWriteItems" && json.find("use#1") != std::string_view::npos;
    if (clears && !std::exchange(came, true)) world.tag("blue");
    return Fate::Done;
  });
  EXPECT_EQ(told(world.manager(slow)->catch_up()), "ok");
  EXPECT_TRUE(came);
  EXPECT_EQ(world.counted(), "1 uses, 2 in all");
  EXPECT_EQ(world.colour_of("1"), "\"blue\"");
  EXPECT_EQ(world.findings(), Strings());
}

}  // namespace
}  // namespace stator::runtime
