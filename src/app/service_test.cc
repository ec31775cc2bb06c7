#include "stator/app/service.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <utility>

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

using Dance = std::function<runtime::Outcome<http::Response>()>;

// A hall on a database in memory, served by one event loop and one worker.
class Hall {
 public:
  Hall(Dance dance, bool at_once)
      : instance_(std::move(*library::Instance::open({.data_folder = {}, .in_memory = true}))),
        client_(instance_->service()),
        system_(std::move(*System::open(
            std::make_shared<const model::Model>(model::load_or_fail(kHall)),
            {.client = client_, .clock = clock_, .random = random_, .page_tokens = page_tokens_},
            [&](const ExtensionParts&) {
              return Natives{{"dance", [dance = std::move(dance)](const NativeCall&) { return dance(); }}};
            }))),
        service_({system_.get()}, verifier_, {.workers = 1, .at_once = at_once}),
        server_(std::move(*http::Server::start({.port = 0, .threads = 1}, service_))) {}

  std::uint16_t port() const { return server_->port(); }

 private:
  std::unique_ptr<library::Instance> instance_;
  client::InProcessClient client_;
  ManualClock clock_;
  Random random_{1};
  PageTokens page_tokens_{"a secret for tests"};
  TokenVerifier verifier_{{.secret = "a secret for tests"}, {}, clock_};
  std::unique_ptr<System> system_;
  Service service_;
  std::unique_ptr<http::Server> server_;
};

TEST(AppService, ALongNativeActionHoldsNobodyUpWhereRequestsAreAnsweredAtOnce) {
  std::promise<void> music_begins, music_ends;
  const Hall hall(
      [&]() -> runtime::Outcome<http::Response> {
        music_begins.set_value();
        music_ends.get_future().wait();
        return http::Response{.status = 204, .content_type = {}, .headers = {}, .body = {}};
      },
      true);

  TestClient dancer(hall.port());
  TestClient guest(hall.port());
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
  const Hall hall(
      []() -> runtime::Outcome<http::Response> {
        return runtime::Problem{.kind = runtime::ProblemKind::Unavailable,
                                .code = "NetworkFailure",
                                .message = "http://10.1.2.3:8000 does not answer",
                                .details = {}};
      },
      false);

  const auto answer = TestClient(hall.port()).ask(request("POST", "/dance"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->body.find("10.1.2.3"), std::string::npos) << answer->body;
  EXPECT_NE(answer->body.find("may or may not have been carried out"), std::string::npos) << answer->body;
}

}  // namespace
}  // namespace stator::app
