#include "stator/console/model_view.h"

#include <gtest/gtest.h>

#include <string>

namespace stator::console {
namespace {

constexpr std::string_view kModel = R"(model: book-shelf
table:
  name: Shelf
  key: [PK, SK]
  indexes:
    GSI1: { key: [GSI1PK, GSI1SK] }
entities:
  SHELF:
    path: /shelves/{shelfId}
    owner: ownerId
    keys:
      PK: "owner#{ownerId}"
      SK: "shelf#{shelfId}"
    attributes:
      ownerId: string
      shelfId: { type: uuid, generated: uuid }
      name: { type: string, required: true, min: 1, max: 50 }
patterns:
  shelves:
    get: /shelves
    query: { PK: "owner#{me}", SK: { begins_with: "shelf#" } }
    returns: [SHELF]
)";

std::string checked(std::string_view yaml) {
  const auto loaded = model::load_model(yaml, "model.yaml");
  std::string out;
  value::JsonWriter json(out);
  json.begin_object();
  write_checked(json, loaded.model ? &*loaded.model : nullptr, all_findings(loaded, {}));
  json.end_object();
  return out;
}

TEST(ModelView, HasAllThatAPageDraws) {
  const auto text = checked(kModel);
  value::JsonParser parser;
  const auto json = parser.parse(text);
  ASSERT_TRUE(json) << text;
  const auto model = (*json)["model"];
  ASSERT_TRUE(model.is_object()) << text;
  EXPECT_EQ(model.object().get<std::string_view>("title"), "Book shelf");
  EXPECT_EQ(model["table"].object().get<std::string_view>("sortKey"), "SK");
  const auto entity = model["entities"].array().at(0);
  EXPECT_EQ(entity["keys"]["SK"].array().at(0).string(), "shelf#{shelfId}");
  EXPECT_EQ(entity["routes"].array().at(0).object().get<std::string_view>("path"), "/shelves");
  EXPECT_EQ(entity["attributes"].array().at(1).object().get<bool>("writable"), false);
  EXPECT_EQ(entity["attributes"].array().at(2).object().get<bool>("required"), true);
  const auto pattern = model["patterns"].array().at(0);
  EXPECT_EQ(pattern.object().get<std::string_view>("condition"), "PK = owner#{me}, SK begins with shelf#");
  EXPECT_NE(pattern.object().get<std::string_view>("cost"), "");
  bool found = false;
  for (const auto finding : (*json)["findings"].array()) {
    found = found || finding.object().get<std::string_view>("rule") == "unused-index";
  }
  EXPECT_TRUE(found) << text;
}

TEST(ModelView, OfAnInvalidTextIsItsFindings) {
  const auto text = checked("model: x\ntable: [\n");
  value::JsonParser parser;
  const auto json = parser.parse(text);
  ASSERT_TRUE(json) << text;
  EXPECT_EQ(json->object().get<bool>("ok"), false);
  EXPECT_TRUE((*json)["model"].is_null());
  EXPECT_GT((*json)["findings"].array().size(), 0U);
  EXPECT_GT((*json)["findings"].array().at(0).object().get<std::int64_t>("line"), 0);
}

}  // namespace
}  // namespace stator::console
