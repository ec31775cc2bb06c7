#include <gtest/gtest.h>

#include <variant>

#include "stator/client/call.h"
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

constexpr std::string_view kFirstElsewhere = R"yaml(
model: elsewhere
table: { name: Elsewhere, key: [PK, SK], ttl: expiresAt }
entities:
  THING:
    keys: { PK: "{id}", SK: "thing" }
    attributes: { id: string }
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

// Another program that opens the same table is faster at each step that changes something.
class FasterProgram final : public client::Client {
 public:
  explicit FasterProgram(client::Client& client) : client_(client) {}

  void run(api::AnyRequest request, api::AnyReplyCallback reply) override {
    if (const auto* create = std::get_if<api::CreateTableRequest>(&request)) {
      EXPECT_TRUE(client::ask(client_, *create).ok());
    } else if (const auto* enable = std::get_if<api::UpdateTimeToLiveRequest>(&request)) {
      EXPECT_TRUE(client::ask(client_, *enable).ok());
    }
    client_.run(std::move(request), std::move(reply));
  }
  void call(std::string_view operation, std::string_view json, api::ReplyCallback reply) override {
    client_.call(operation, json, std::move(reply));
  }

 private:
  client::Client& client_;
};

TEST(TableSetup, LetsAnotherProgramBeFaster) {
  World world(kSecond);
  FasterProgram client(world.client());
  const auto model = std::make_shared<const model::Model>(model::load_or_fail(kFirstElsewhere));
  Repository repository(model, client, world.clock(), world.random());
  EXPECT_EQ(told(repository.open()), "ok");
  EXPECT_EQ(**world.dynamo().describe_ttl("Elsewhere"), "expiresAt");
}

TEST(TableSetup, SaysWhatDiffers) {
  World world(kFirst);
  const auto other = std::make_shared<const model::Model>(model::load_or_fail(kSecond));
  Repository repository(other, world.client(), world.clock(), world.random());
  EXPECT_EQ(told(repository.open()),
            "409 TableDiffers; ByDate: projection is [title] in the table and all in the model; Other is not in the "
            "table; ttl is "
            "expiresAt in the table and gone in the model");
  EXPECT_NE(repository.open().error().message.find("differs from the model: ByDate: projection is [title]"),
            std::string::npos);
}

}  // namespace
}  // namespace stator::runtime
