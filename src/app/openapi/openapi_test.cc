#include "stator/app/openapi/openapi.h"

#include <gtest/gtest.h>

#include <string>

#include "stator/model/testing/load_or_fail.h"
#include "stator/value/json.h"

namespace stator::app {
namespace {

constexpr std::string_view kOrchard = R"yaml(
model: orchard
table: { name: Orchard, key: [PK, SK], indexes: { ByKind: { key: [GPK, GSK], projection: all }, Kinds: { key: [GPK], projection: [kind] } } }
entities:
  TREE:
    path: /trees/{treeId}
    owner: userId
    keys: { PK: "USER#{userId}", SK: "TREE#{treeId}", GPK: "KIND#{userId}#{kind}", GSK: "TREE#{treeId}" }
    attributes:
      userId: string
      treeId: { type: uuid, generated: uuid }
      kind: { type: enum, values: [APPLE, PEAR], required: true }
      note: { type: string, max: 10 }
      branches: { type: integer, internal: true }
  BASKET:
    path: /baskets/{basketId}
    operations: [create, get]
    owner: userId
    keys: { PK: "USER#{userId}", SK: "BASKET#{basketId}" }
    attributes:
      userId: string
      basketId: { type: uuid, generated: uuid }
      size: { type: integer, default: 3 }
  FRUIT:
    owner: userId
    parents:
      tree: { entity: TREE, by: { userId: userId, treeId: treeId } }
      basket: { entity: BASKET, by: { userId: userId, basketId: basketId }, optional: true }
    keys: { PK: "USER#{userId}", SK: "TREE#{treeId}#FRUIT#{fruitId}" }
    attributes: { userId: string, treeId: uuid, basketId: uuid, fruitId: { type: uuid, generated: uuid } }
  STUMP:
    keys: { PK: "USER#{userId}", SK: "STUMP" }
    attributes: { userId: string }
  CRATE:
    path: /crate
    operations: [put, get]
    owner: userId
    keys: { PK: "USER#{userId}", SK: "CRATE" }
    attributes: { userId: string, colour: { type: string, max: 10 } }
  LABEL:
    path: /trees/{treeId}/labels/{word}
    operations: [create, update]
    owner: userId
    parents: { tree: { entity: TREE } }
    keys: { PK: "USER#{userId}", SK: "LABEL#{treeId}#{word}" }
    attributes:
      userId: { type: string, description: Who wrote it. }
      treeId: uuid
      word: { type: string, max: 10 }
      colour: { type: string, max: 10, required: true }
      size: { type: integer, required: true, default: 3 }
      tree: { copy_of: tree.kind }
      secret: { type: string, hidden: true }
patterns:
  fruits:
    get: /fruits
    query: { PK: "USER#{me}", SK: { begins_with: "TREE#" } }
    returns: FRUIT
    join: { relation: basket, as: in, attributes: [size] }
  kinds: { get: "/kinds/{kind}", query: { index: Kinds, GPK: "KIND#{me}#{kind}" }, returns: TREE, page: { default: 5, max: 10 } }
  trees: { description: All of them., get: /trees, query: { PK: "USER#{me}", SK: { begins_with: "TREE#" } }, returns: TREE, page: { default: 5, max: 10 } }
  trees_by_kind: { get: "/trees?of={kind}", query: { index: ByKind, GPK: "KIND#{me}#{kind}" }, returns: TREE, order: { asked: ascending }, page: { default: 5, max: 10 } }
  apples: { get: "/trees?view=apples", query: { index: ByKind, GPK: "KIND#{me}#APPLE" }, returns: TREE, page: { default: 5, max: 10 } }
  harvest:
    get: /harvest
    query: { PK: "USER#{me}", SK: { begins_with: "TREE#" } }
    returns: [TREE, FRUIT]
    nest: { parent: TREE, children: [FRUIT], relation: tree, as: fruits }
    join: { relation: basket, as: lies_in }
actions:
  fell:
    delete: /trees/{id}/wood
    input: { id: { type: uuid, required: true } }
    steps:
      - { read: TREE, as: tree, key: { treeId: ":id" } }
      - { delete: tree }
  prune:
    post: /trees/{treeId}/wood
    input: { branches: { type: integer, default: 1 } }
    steps:
      - { read: TREE, as: tree, key: { treeId: ":treeId" } }
      - { update: tree, set: { branches: ":branches" } }
    result: tree
  mark:
    put: /trees/{treeId}/mark
    input: { text: { type: string, required: true, max: 10 } }
    steps:
      - { read: TREE, as: tree, key: { treeId: ":treeId" } }
      - { update: tree, set: { note: ":text" } }
    result: tree
  water:
    post: /trees/{treeId}/water
    input: { much: { type: boolean, default: false } }
    steps:
      - { read: TREE, as: tree, when: ":much = true", key: { treeId: ":treeId" } }
    result: tree
)yaml";

struct OpenApiTest : ::testing::Test {
  OpenApiTest() {
    const auto router = Router::make(model);
    root = parser.parse(openapi_document(model, *router, "/systems/orchard/v1")).value();
  }
  // The JSON at a JSON pointer; empty: nothing.
  std::string at(std::string_view pointer) const {
    value::JsonElement found = root;
    while (!pointer.empty()) {
      pointer.remove_prefix(1);
      std::string name(pointer.substr(0, pointer.find('/')));
      pointer.remove_prefix(name.size());
      for (auto slash = name.find("~1"); slash != std::string::npos; slash = name.find("~1"))
        name.replace(slash, 2, "/");
      found = found.is_array() ? found.array().at(std::stoul(name)) : found[name];
    }
    return found ? value::json_text(found) : std::string();
  }
  // The same of the parameter of an operation.
  std::string parameter(const std::string& operation, std::string_view name, const std::string& member) const {
    for (int i = 0;; ++i) {
      const auto place = operation + "/parameters/" + std::to_string(i);
      const auto found = at(place + "/name");
      if (found.empty()) return {};
      if (found == "\"" + std::string(name) + "\"") return at(place + member);
    }
  }

  model::Model model = model::load_or_fail(kOrchard);
  value::JsonParser parser;
  value::JsonElement root;
};

TEST_F(OpenApiTest, RoutesThatTheirQueryTellsApartAreOneOperation) {
  const std::string trees = "/paths/~1trees/get";
  EXPECT_EQ(at(trees + "/operationId"), R"("trees")");
  const auto description = at(trees + "/description");
  for (const auto* choice : {"`?of={of}`: trees_by_kind", "`?view=apples`: apples", "otherwise: trees. All of them."}) {
    EXPECT_NE(description.find(choice), std::string::npos) << choice << " in " << description;
  }
  EXPECT_EQ(parameter(trees, "of", "/schema"), R"({"type":"string","enum":["APPLE","PEAR"]})");
  EXPECT_EQ(parameter(trees, "of", "/description"), R"("Only for trees_by_kind")");
  EXPECT_EQ(parameter(trees, "of", "/required"), "");
  EXPECT_EQ(parameter(trees, "view", "/schema"), R"({"type":"string","enum":["apples"]})");
  EXPECT_EQ(parameter(trees, "limit", "/schema"), R"({"type":"integer","minimum":1,"maximum":10})");
  EXPECT_EQ(parameter(trees, "limit", "/description"), "");
  EXPECT_EQ(parameter(trees, "kind", "/in"), "") << "it is called `of`";
}

TEST_F(OpenApiTest, WhatIsNestedAndJoinedIsInTheAnswer) {
  const std::string items =
      "/paths/~1harvest/get/responses/200/content/application~1json/schema/properties/items/items/anyOf";
  EXPECT_EQ(at(items + "/0/allOf/0/$ref"), R"("#/components/schemas/TREE")");
  const auto fruits = items + "/0/allOf/1/properties/fruits/items/allOf";
  EXPECT_EQ(at(items + "/0/allOf/1/required"), R"(["fruits"])");
  EXPECT_EQ(at(fruits + "/0/$ref"), R"("#/components/schemas/FRUIT")");
  EXPECT_EQ(at(fruits + "/1/properties/lies_in/$ref"), R"("#/components/schemas/BASKET")");
  EXPECT_EQ(at(items + "/1/allOf/1/properties/lies_in/$ref"), R"("#/components/schemas/BASKET")");
}

TEST_F(OpenApiTest, PathsThatDifferInTheirNamesAreOnePath) {
  EXPECT_EQ(at("/paths/~1trees~1{treeId}~1wood"), "") << "of the two names, the first is taken";
  EXPECT_EQ(at("/paths/~1trees~1{id}~1wood/delete/parameters/0/name"), R"("id")");
  EXPECT_EQ(at("/paths/~1trees~1{id}~1wood/post/parameters/0/name"), R"("id")");
}

TEST_F(OpenApiTest, ABodyIsRequiredWhereSomethingInItIs) {
  EXPECT_EQ(at("/paths/~1trees/post/requestBody/required"), "true");
  EXPECT_EQ(at("/paths/~1trees~1{treeId}/patch/requestBody/required"), "false");
  EXPECT_EQ(at("/paths/~1baskets/post/requestBody/required"), "false");
  EXPECT_EQ(at("/paths/~1crate/put/requestBody/required"), "false");
  EXPECT_EQ(at("/paths/~1trees~1{treeId}~1mark/put/requestBody/required"), "true");
  EXPECT_EQ(at("/paths/~1trees~1{id}~1wood/post/requestBody/required"), "false");
  EXPECT_EQ(at("/paths/~1trees~1{id}~1wood/delete/requestBody"), "");
}

TEST_F(OpenApiTest, AnEntityRequiresWhatIsAlwaysThere) {
  EXPECT_EQ(at("/components/schemas/TREE/required"), R"(["userId","treeId","kind","EntityType","Version"])");
  EXPECT_EQ(at("/components/schemas/LABEL/required"),
            R"(["userId","treeId","word","colour","size","tree","EntityType","Version"])");
  EXPECT_EQ(at("/components/schemas/FRUIT/required"), R"(["userId","treeId","fruitId","EntityType","Version"])");
  EXPECT_EQ(at("/components/schemas/LABEL/properties/secret"), "");
}

TEST_F(OpenApiTest, AnIndexThatLacksAttributesRequiresNone) {
  const std::string item =
      "/paths/~1kinds~1{kind}/get/responses/200/content/application~1json/schema/properties/items/items";
  EXPECT_EQ(at(item + "/required"), R"(["EntityType"])");
  EXPECT_NE(at(item + "/properties/note"), "");
}

TEST_F(OpenApiTest, ACreateRequiresWhatNamesTheEntityAndTakesItsOwner) {
  const std::string body = "/paths/~1trees~1{treeId}~1labels/post/requestBody/content/application~1json/schema";
  EXPECT_EQ(at(body + "/required"), R"(["word","colour"])");
  EXPECT_EQ(at(body + "/properties/userId"), R"({"type":"string","description":"Who wrote it."})");
  EXPECT_EQ(at("/paths/~1trees/post/requestBody/content/application~1json/schema/properties/userId/description"),
            R"("The caller, if it is not given")");
  EXPECT_EQ(at(body + "/properties/treeId"), "") << "the path has it";
  EXPECT_EQ(at(body + "/properties/tree"), "") << "it is a copy";
}

TEST_F(OpenApiTest, APatchCannotClearWhatIsRequired) {
  const std::string body =
      "/paths/~1trees~1{treeId}~1labels~1{word}/patch/requestBody/content/application~1json/schema";
  EXPECT_EQ(at(body + "/properties/colour"), R"({"type":"string","maxLength":10})");
  EXPECT_EQ(at(body + "/properties/size/anyOf/1"), R"({"type":"null"})") << "null gives it its default";
  EXPECT_EQ(at(body + "/properties/word"), "");
  EXPECT_EQ(at(body + "/properties/userId"), "");
  EXPECT_EQ(at(body + "/required"), "");
}

TEST_F(OpenApiTest, AJoinShowsTheChosenAttributes) {
  const std::string joined =
      "/paths/~1fruits/get/responses/200/content/application~1json/schema/properties/items/items/allOf/1/properties/in";
  EXPECT_EQ(at(joined + "/properties"),
            R"({"size":{"type":"integer"},"EntityType":{"const":"BASKET"},"Version":{"type":"integer"}})");
  EXPECT_EQ(at(joined + "/required"), R"(["size","EntityType","Version"])");
}

TEST_F(OpenApiTest, AResultThatCanBeSkippedMayBeNothing) {
  EXPECT_NE(at("/paths/~1trees~1{treeId}~1water/post/responses/200"), "");
  EXPECT_NE(at("/paths/~1trees~1{treeId}~1water/post/responses/204"), "");
  EXPECT_EQ(at("/paths/~1trees~1{id}~1wood/post/responses/204"), "");
}

TEST_F(OpenApiTest, EveryComponentIsUsed) {
  EXPECT_NE(at("/components/schemas/FRUIT"), "");
  EXPECT_EQ(at("/components/schemas/STUMP"), "");
}

TEST_F(OpenApiTest, AnActionOnSomethingWithAVersionTakesIfMatch) {
  EXPECT_EQ(parameter("/paths/~1trees~1{treeId}~1mark/put", "If-Match", "/in"), R"("header")");
  EXPECT_NE(at("/paths/~1trees~1{treeId}~1mark/put/responses/412"), "");
  EXPECT_EQ(parameter("/paths/~1trees/post", "If-Match", "/in"), "");
}

}  // namespace
}  // namespace stator::app
