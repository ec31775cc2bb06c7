#include "stator/app/rest/rest_service.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "stator/app/rest/request/file_body.h"
#include "stator/client/client.h"
#include "stator/http/message/content_coding.h"
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
    attributes: { userId: string, guestId: string, notes: { type: list, of: integer } }
actions:
  dance: { post: /dance, native: true, access: public }
  invite: { post: /invitations, native: true, accepts: [text/csv] }
  clean: { post: /clean, native: true, access: "role:janitor", accepts: [text/csv] }
)yaml";

constexpr std::string_view kSecret = "a secret for tests";

std::string request(std::string_view method, std::string_view path) {
  return std::string(method) + " /systems/hall/v1" + std::string(path) +
         " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
}

using Dance = std::function<Result<http::Response, runtime::Problem>()>;

// A hall on a database in memory, served by one event loop and one worker.
class Hall {
 public:
  explicit Hall(Dance dance, bool at_once = false, std::size_t memory = 100 << 20)
      : instance_(std::move(*library::Instance::open({.data_folder = {}, .in_memory = true}))),
        client_(instance_->operations()),
        system_(std::move(*System::open(
            std::make_shared<const model::Model>(model::load_or_fail(kHall)),
            {.client = client_, .clock = clock_, .random = random_, .page_tokens = page_tokens_},
            [&](const ExtensionParts&) {
              const auto count = [](const NativeCall& call) -> Result<http::Response, runtime::Problem> {
                FileBody file(call.call);
                std::size_t bytes = 0;
                while (true) {
                  const auto piece = file.next();
                  if (!piece) return unreadable(piece.error());
                  if (piece->empty()) break;
                  bytes += piece->size();
                }
                return http::Response{.status = 200, .content_type = {}, .headers = {}, .body = std::to_string(bytes)};
              };
              return Additions{.natives = {{"dance", [dance = std::move(dance)](const NativeCall&) { return dance(); }},
                                           {"invite", count},
                                           {"clean", count}}};
            }))),
        memory_(memory),
        service_({system_.get()}, verifier_, clock_, {.workers = 1, .at_once = at_once, .memory = &memory_}),
        server_(std::move(*http::Server::start({.port = 0, .threads = 1}, service_))) {}

  std::uint16_t port() const { return server_->port(); }
  std::string token(std::string subject) const { return make_token({.subject = std::move(subject)}, kSecret, clock_); }

 private:
  std::unique_ptr<library::Instance> instance_;
  client::InProcessClient client_;
  ManualClock clock_;
  Random random_{1};
  PageTokens page_tokens_{"a secret for tests"};
  TokenVerifier verifier_{{.secret = std::string(kSecret)}, {}, clock_};
  std::unique_ptr<System> system_;
  MemoryBudget memory_;
  RestService service_;
  std::unique_ptr<http::Server> server_;
};

TEST(AppService, ALongNativeActionHoldsNobodyUpWhereRequestsAreAnsweredAtOnce) {
  std::promise<void> music_begins, music_ends;
  const Hall hall(
      [&]() -> Result<http::Response, runtime::Problem> {
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
      []() -> Result<http::Response, runtime::Problem> {
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

Dance no_dance() {
  return []() -> Result<http::Response, runtime::Problem> {
    return http::Response{.status = 204, .content_type = {}, .headers = {}, .body = {}};
  };
}

// The head of a request that announces a body of a megabyte, or what `length` says.
struct Head {
  std::string_view method, path;
  std::string token = {};
  std::string_view type = "application/json";
  std::string_view encoding = {};
  std::string_view length = "Content-Length: 1000000";

  std::string text() const {
    std::string head = std::string(method) + " /systems/hall/v1" + std::string(path) + " HTTP/1.1\r\nHost: x\r\n";
    if (!token.empty()) head += "Authorization: Bearer " + token + "\r\n";
    if (!type.empty()) head += "Content-Type: " + std::string(type) + "\r\n";
    if (!encoding.empty()) head += "Content-Encoding: " + std::string(encoding) + "\r\n";
    return head + std::string(length) + "\r\n\r\n";
  }
};

// "401 Unauthenticated"
std::string shown(const std::optional<http::testing::Answer>& answer) {
  if (!answer) return "no answer";
  const auto code = answer->body.find("\"code\":\"");
  if (code == std::string::npos) return std::to_string(answer->status) + " " + answer->body;
  const auto begin = code + 8;
  return std::to_string(answer->status) + " " + answer->body.substr(begin, answer->body.find('"', begin) - begin);
}

TEST(AppService, RefusesByTheHeadWhatTheBodyCannotChange) {
  const Hall hall(no_dance());
  const auto ann = hall.token("ann");
  struct Case {
    Head head;
    std::string_view answer;
  };
  for (const auto& [head, answer] : {
           Case{{"POST", "/guests"}, "401 Unauthenticated"},
           Case{{"PATCH", "/guests/x"}, "401 Unauthenticated"},
           Case{{"POST", "/invitations", "", "text/csv"}, "401 Unauthenticated"},
           Case{{"POST", "/guests", "nonsense"}, "401 InvalidToken"},
           Case{{"POST", "/dance", "nonsense"}, "401 InvalidToken"},
           Case{{"POST", "/clean", ann, "text/csv"}, "403 Forbidden"},
           Case{{"POST", "/cellar", ann}, "404 NotFound"},
           Case{{"POST", "/guests?a=1&a=2", ann}, "400 Invalid"},
           Case{{"DELETE", "/guests", ann}, "405 MethodNotAllowed"},
           Case{{"POST", "/guests", ann, "text/csv"}, "415 UnsupportedMediaType"},
           Case{{"POST", "/guests", ann, ""}, "415 UnsupportedMediaType"},
           Case{{"POST", "/invitations", ann}, "415 UnsupportedMediaType"},
           Case{{"POST", "/guests", ann, "application/json", "br"}, "400 InvalidEncoding"},
           Case{{"POST", "/guests", ann, "application/json", "", "Content-Length: 1048577"}, "413 BodyTooLarge"},
           Case{{"POST", "/invitations", ann, "text/csv", "", "Content-Length: 16777217"}, "413 BodyTooLarge"},
           Case{{"POST", "/guests", "", "application/json", "", "Transfer-Encoding: chunked"}, "401 Unauthenticated"},
       }) {
    EXPECT_EQ(shown(TestClient(hall.port()).ask(head.text())), answer) << head.text();
  }
}

TEST(AppService, RefusesTheSameWhenTheBodyIsThereAlready) {
  const Hall hall(no_dance());
  const auto ann = hall.token("ann");
  const auto ask = [&](Head head, std::string_view body) {
    const auto length = "Content-Length: " + std::to_string(body.size());
    head.length = length;
    return shown(TestClient(hall.port()).ask(head.text() + std::string(body)));
  };
  EXPECT_EQ(ask({"POST", "/guests"}, "{"), "401 Unauthenticated");
  EXPECT_EQ(ask({"POST", "/guests", "nonsense"}, "{"), "401 InvalidToken");
  EXPECT_EQ(ask({"POST", "/clean", ann, "text/csv"}, "{"), "403 Forbidden");
  EXPECT_EQ(ask({"POST", "/guests", ann, "text/csv"}, "{"), "415 UnsupportedMediaType");
  EXPECT_EQ(ask({"POST", "/guests", ann, "application/json", "br"}, "{"), "400 InvalidEncoding");
  EXPECT_EQ(ask({"POST", "/guests", "", "application/json", "gzip"}, "{"), "401 Unauthenticated");
  EXPECT_EQ(ask({"POST", "/guests", ann}, R"({"guestId":"g"})").substr(0, 3), "201");
}

TEST(AppService, HoldsBodiesToTheLimitOfTheirRouteAlsoDecompressed) {
  const Hall hall(no_dance());
  const auto ann = hall.token("ann");
  const auto ask = [&](std::string_view path, std::string_view type, std::size_t size) {
    const auto body = http::encode_content(http::ContentCoding::Gzip, std::string(size, ' '));
    const auto length = "Content-Length: " + std::to_string(body.size());
    return shown(TestClient(hall.port()).ask(Head{"POST", path, ann, type, "gzip", length}.text() + body));
  };
  EXPECT_EQ(ask("/guests", "application/json", 1 << 20), "400 InvalidJson");
  EXPECT_EQ(ask("/guests", "application/json", (1 << 20) + 1), "413 BodyTooLarge");
  EXPECT_EQ(ask("/invitations", "text/csv", 16 << 20), "200 16777216");
  EXPECT_EQ(ask("/invitations", "text/csv", (16 << 20) + 1), "413 BodyTooLarge");
}

TEST(AppService, AnswersOverloadedWhenTheMemoryForValuesIsNotThere) {
  const Hall hall(no_dance(), false, 1 << 20);
  std::string body = R"({"guestId":"g","notes":[1)";
  for (int i = 0; i < 10'000; ++i) body += ",1";
  body += "]}";
  const auto length = "Content-Length: " + std::to_string(body.size());
  const Head head{"POST", "/guests", hall.token("ann"), "application/json", "", length};
  const auto refused = TestClient(hall.port()).ask(head.text() + body);
  EXPECT_EQ(shown(refused), "503 Overloaded");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->headers.at("Retry-After"), "1");
  const Hall larger(no_dance());
  EXPECT_EQ(shown(TestClient(larger.port()).ask(head.text() + body)).substr(0, 3), "201");
}

}  // namespace
}  // namespace stator::app
