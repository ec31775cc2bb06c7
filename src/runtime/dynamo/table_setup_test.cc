#include <gtest/gtest.h>

#include "stator/runtime/test_support.h"

namespace stator::runtime {
namespace {

constexpr std::string_view kFirst = R"yaml(
model: first
table:
  name: Shared
  key: [PK, SK]
  ttl: expiresAt
  indexes:
    ByDate: { key: [[tenant, region], [year:N, month:N]], projection: [title] }
    BySize: { local: size:N, projection: keys }
entities:
  THING:
    access: { read: public, write: public }
    keys: { PK: "{id}", SK: "thing" }
    attributes: { id: string, tenant: string, region: string, year: integer, month: integer, size: integer, title: string }
)yaml";

// A second model on the same table, which wants to know nothing of the local index.
constexpr std::string_view kSecond = R"yaml(
model: second
table:
  name: Shared
  key: [PK, SK]
  ttl: gone
  indexes:
    ByDate: { key: [[tenant, region], [year:N, month:N]], projection: all }
    Other: { key: [GSI1PK], projection: all }
entities:
  OTHER:
    access: { read: public, write: public }
    keys: { PK: "other#{id}", SK: "other", GSI1PK: "x#{id}" }
    attributes: { id: string, tenant: string, region: string, year: integer, month: integer }
)yaml";

TEST(TableSetup, MakesTheTableAndKnowsItAgain) {
  World world(kFirst);
  EXPECT_EQ(told(world.repository().open()), "ok");
  const auto state = world.dynamo().describe_table("Shared");
  ASSERT_TRUE(state.ok() && state->has_value());
  EXPECT_EQ((*state)->table.stream, model::StreamView::NewAndOldImages);
  EXPECT_EQ(**world.dynamo().describe_ttl("Shared"), "expiresAt");
}

TEST(TableSetup, SaysWhatDiffers) {
  World world(kFirst);
  const auto other = std::make_shared<const model::Model>(model::load_or_fail(kSecond));
  Repository repository(other, world.client(), world.clock(), world.random());
  EXPECT_EQ(told(repository.open()),
            "409 TableDiffers; ByDate: projection is [title] in the table and all in the model; Other is not in the "
            "table; ttl is "
            "expiresAt in the table and gone in the model");
  EXPECT_NE(repository.open().error().message.find("model describes: ByDate: projection is [title]"),
            std::string::npos);
}

}  // namespace
}  // namespace stator::runtime
