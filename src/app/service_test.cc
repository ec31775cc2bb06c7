#include "stator/app/service.h"

#include <gtest/gtest.h>

#include <future>

#include "stator/client/client.h"
#include "stator/http/test_client.h"
#include "stator/library/instance.h"
#include "stator/model/testing/load_or_fail.h"

namespace stator::app {
namespace {

using http::testing::TestClient;

constexpr std::string_view kHall = R"yaml(
model: hall
table: { name: Hall, key: [PK, SK] }
entities:
  GUEST:
    path: /guests/{guestId}
    owner: userId
    keys: { PK: "USER#{userId}", SK: "GUEST#{guestId}" }
    attributes: { userId: string, guestId: string }
actions:
  dance: { post: /dance, native: true, access: public }
)yaml";

std::string request(std::string_view method, std::string_view path) {
  return std::string(method) + " /systems/hall/v1" + std::string(path) +
         " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
}

TEST(AppService, ALongNativeActionHoldsNobodyUpWhereRequestsAreAnsweredAtOnce) {
  auto instance = std::move(*library::Instance::open({.data_folder = {}, .in_memory = true}));
  client::InProcessClient client(instance->service());
  ManualClock clock;
  Random random(1);
  PageTokens page_tokens("a secret for tests");
  TokenVerifier verifier({.secret = "a secret for tests"}, {}, clock);
  std::promise<void> music_begins, music_ends;
  const auto system =
      System::open(std::make_shared<const model::Model>(model::load_or_fail(kHall)),
                   {.client = client, .clock = clock, .random = random, .page_tokens = page_tokens},
                   [&, until = music_ends.get_future().share()](const ExtensionParts&) {
                     Natives natives;
                     natives["dance"] = [&music_begins, until](const NativeCall&) -> runtime::Outcome<http::Response> {
                       music_begins.set_value();
                       until.wait();
                       return http::Response{.status = 204, .content_type = {}, .headers = {}, .body = {}};
                     };
                     return natives;
                   });
  ASSERT_TRUE(system) << system.error().message;
  Service service({system->get()}, verifier, {.workers = 1, .at_once = true});
  const auto server = http::Server::start({.port = 0, .threads = 1}, service);
  ASSERT_TRUE(server) << server.error().message;

  TestClient dancer((*server)->port());
  TestClient guest((*server)->port());
  ASSERT_TRUE(dancer.send(request("POST", "/dance")));
  music_begins.get_future().wait();
  const auto meanwhile = guest.ask(request("GET", "/guests/x"));
  music_ends.set_value();
  const auto danced = dancer.read();
  ASSERT_TRUE(meanwhile);
  EXPECT_EQ(meanwhile->status, 401);
  ASSERT_TRUE(danced);
  EXPECT_EQ(danced->status, 204);
}

TEST(AppService, TellsNobodyWhereTheDatabaseIs) {
  auto instance = std::move(*library::Instance::open({.data_folder = {}, .in_memory = true}));
  client::InProcessClient client(instance->service());
  ManualClock clock;
  Random random(1);
  PageTokens page_tokens("a secret for tests");
  TokenVerifier verifier({.secret = "a secret for tests"}, {}, clock);
  const auto system = System::open(std::make_shared<const model::Model>(model::load_or_fail(kHall)),
                                   {.client = client, .clock = clock, .random = random, .page_tokens = page_tokens},
                                   [](const ExtensionParts&) {
                                     Natives natives;
                                     natives["dance"] = [](const NativeCall&) -> runtime::Outcome<http::Response> {
                                       return runtime::Problem{.kind = runtime::ProblemKind::Unavailable,
                                                               .code = "NetworkFailure",
                                                               .message = "http://10.1.2.3:8000 does not answer",
                                                               .details = {}};
                                     };
                                     return natives;
                                   });
  ASSERT_TRUE(system) << system.error().message;
  Service service({system->get()}, verifier, {.workers = 1, .at_once = false});
  const auto server = http::Server::start({.port = 0, .threads = 1}, service);
  ASSERT_TRUE(server) << server.error().message;

  TestClient dancer((*server)->port());
  const auto answer = dancer.ask(request("POST", "/dance"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->body.find("10.1.2.3"), std::string::npos) << answer->body;
  EXPECT_NE(answer->body.find("may or may not have been carried out"), std::string::npos) << answer->body;
}

}  // namespace
}  // namespace stator::app
