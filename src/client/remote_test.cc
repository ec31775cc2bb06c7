#include "stator/client/remote.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "stator/http/client/client.h"
#include "stator/http/signature/sigv4.h"

namespace stator::client {
namespace {

using namespace std::chrono_literals;
using http::ClientFailure;
using http::ClientResponse;
using http::Exchange;

// A network that gives the answers it was told to, at once, and lets no time pass while something waits.
class ScriptedNetwork final : public http::Transport {
 public:
  struct Sent {
    http::Origin origin;
    http::ClientRequest request;

    std::string header(std::string_view name) const {
      for (const auto& [key, value] : request.headers) {
        if (key == name) return value;
      }
      return {};
    }
  };

  void send(const http::Origin& origin, http::ClientRequest request, http::ExchangeCallback done) override {
    sent.push_back({origin, std::move(request)});
    auto answer = answers.empty() ? Exchange(ClientResponse{.status = 200, .body = "{}"}) : std::move(answers.front());
    if (!answers.empty()) answers.pop_front();
    done(std::move(answer));
  }
  void after(std::chrono::milliseconds delay, UniqueFunction<void()> then) override {
    delays.push_back(delay);
    then();
  }

  std::deque<Exchange> answers;
  std::vector<Sent> sent;
  std::vector<std::chrono::milliseconds> delays;
};

Exchange answer(int status, std::string body) { return ClientResponse{.status = status, .body = std::move(body)}; }
Exchange fault(int status, std::string_view name) {
  return answer(status, fmt::format(R"({{"__type":"com.amazonaws.dynamodb.v20120810#{}","message":"m"}})", name));
}
Exchange failure(ClientFailure::Kind kind, bool maybe_handled) {
  return ClientFailure{.kind = kind, .message = "why", .maybe_handled = maybe_handled};
}
const Exchange kThrottled = fault(400, "ProvisionedThroughputExceededException");
const Exchange kFailed = fault(500, "InternalServerError");
const Exchange kRefused = failure(ClientFailure::Kind::Unreachable, false);
const Exchange kBroken = failure(ClientFailure::Kind::Broken, true);

class RemoteTest : public ::testing::Test {
 protected:
  RemoteTest() { open("http://127.0.0.1:8000"); }

  void open(std::string endpoint, std::string token = {}, std::uint64_t seed = 1) {
    auto network = std::make_unique<ScriptedNetwork>();
    network_ = network.get();
    client_ =
        RemoteClient::open(
            {.endpoint = std::move(endpoint),
             .region = "eu-central-1",
             .credentials = {.access_key_id = "id", .secret_access_key = "secret", .session_token = std::move(token)}},
            std::move(network), clock_, Random(seed))
            .value();
  }

  api::Reply call(std::string_view operation, std::string_view json = "{}") {
    api::Reply result;
    client_->call(operation, json, [&](api::Reply reply) { result = std::move(reply); });
    return result;
  }
  // The body of a success, or "name: message" of a fault.
  std::string told(std::string_view operation, std::string_view json = "{}") {
    const auto reply = call(operation, json);
    if (reply.ok()) return *reply.outcome;
    const auto& wrong = reply.outcome.error();
    return fmt::format("{}: {}", wrong.name(), wrong.message);
  }
  // How often it was sent until there was a reply, when these are the answers.
  std::size_t attempts(std::string_view operation, std::string_view json, std::vector<Exchange> answers) {
    network_->sent.clear();
    network_->answers.assign(std::make_move_iterator(answers.begin()), std::make_move_iterator(answers.end()));
    call(operation, json);
    network_->answers.clear();
    return network_->sent.size();
  }

  ManualClock clock_;
  ScriptedNetwork* network_ = nullptr;
  std::unique_ptr<RemoteClient> client_;
};

// --- requests

TEST_F(RemoteTest, SendsWhatAnSdkWouldSend) {
  network_->answers.push_back(answer(200, R"({"Item":{}})"));
  EXPECT_EQ(told("GetItem", R"({"TableName":"T"})"), R"({"Item":{}})");
  ASSERT_EQ(network_->sent.size(), 1U);
  const auto& sent = network_->sent[0];
  EXPECT_EQ(sent.origin.url(), "http://127.0.0.1:8000");
  EXPECT_EQ(sent.request.method + " " + sent.request.target, "POST /");
  EXPECT_EQ(sent.request.body, R"({"TableName":"T"})");
  EXPECT_EQ(sent.header("Content-Type"), "application/x-amz-json-1.0");
  EXPECT_EQ(sent.header("X-Amz-Target"), "DynamoDB_20120810.GetItem");
}

TEST_F(RemoteTest, SignsEveryAttemptForItself) {
  const http::AccessKey key{.id = "id", .secret = "secret"};
  http::SignatureVerifier verifier({.service = "dynamodb", .signed_headers = {"x-amz-target"}}, clock_);
  verifier.set_keys({&key, 1});
  network_->answers.push_back(kThrottled);
  call("PutItem", R"({"TableName":"T"})");
  ASSERT_EQ(network_->sent.size(), 2U);
  for (const auto& sent : network_->sent) {
    std::vector<http::Header> headers = {{"Host", "127.0.0.1:8000"}};
    for (const auto& [name, value] : sent.request.headers) headers.push_back({name, value});
    http::Request request;
    request.method = sent.request.method;
    request.path = sent.request.target;
    request.headers = headers;
    request.body = sent.request.body;
    const auto wrong = verifier.check(request);
    EXPECT_FALSE(wrong) << wrong->message;
  }
}

TEST_F(RemoteTest, SendsTheTokenOfASession) {
  open("http://127.0.0.1:8000", "the token");
  call("ListTables");
  EXPECT_EQ(network_->sent[0].header("X-Amz-Security-Token"), "the token");
}

TEST_F(RemoteTest, SendsStreamsOperationsToTheStreamsService) {
  call("GetRecords");
  EXPECT_EQ(network_->sent[0].header("X-Amz-Target"), "DynamoDBStreams_20120810.GetRecords");
  EXPECT_EQ(network_->sent[0].origin.url(), "http://127.0.0.1:8000");
  struct Case {
    std::string_view endpoint, streams;
  };
  for (const auto& [endpoint, streams] :
       {Case{"https://dynamodb.eu-central-1.amazonaws.com", "https://streams.dynamodb.eu-central-1.amazonaws.com"},
        Case{"https://dynamodb.cn-north-1.amazonaws.com.cn", "https://streams.dynamodb.cn-north-1.amazonaws.com.cn"},
        Case{"https://dynamodb.eu-central-1.api.aws", "https://streams-dynamodb.eu-central-1.api.aws"},
        Case{"https://dynamodb.example.org", "https://dynamodb.example.org"}}) {
    open(std::string(endpoint));
    call("ListTables");
    call("ListStreams");
    EXPECT_EQ(network_->sent[0].origin.url(), endpoint);
    EXPECT_EQ(network_->sent[1].origin.url(), streams);
  }
}

TEST_F(RemoteTest, GivesATransactionATokenThatStaysTheSame) {
  network_->answers = {kBroken, kFailed};
  call("TransactWriteItems", R"( {"TransactItems":[]})");
  ASSERT_EQ(network_->sent.size(), 3U);
  const auto& body = network_->sent[0].request.body;
  EXPECT_TRUE(body.starts_with(R"( {"ClientRequestToken":")")) << body;
  EXPECT_TRUE(body.ends_with(R"(","TransactItems":[]})")) << body;
  EXPECT_EQ(network_->sent[1].request.body, body);
  EXPECT_EQ(network_->sent[2].request.body, body);
  call("TransactWriteItems", "{}");
  EXPECT_EQ(network_->sent[3].request.body.size(), std::string_view(R"({"ClientRequestToken":""})").size() + 36);
  const auto* own = R"({"ClientRequestToken":"mine"})";
  call("ExecuteTransaction", own);
  EXPECT_EQ(network_->sent[4].request.body, own);
}

// --- answers

TEST_F(RemoteTest, TellsAFaultAsTheEndpointDoes) {
  network_->answers.push_back(
      answer(400,
             R"({"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException", "Message" : "because",
          "CancellationReasons": [ {"Code":"ConditionalCheckFailed","Item":{"n":{"N":"1"}}}, {"Code":"None"} ]})"));
  const auto reply = call("TransactWriteItems");
  ASSERT_FALSE(reply.ok());
  const auto& wrong = reply.outcome.error();
  EXPECT_EQ(wrong.name(), "TransactionCanceledException");
  EXPECT_EQ(wrong.message, "because");
  EXPECT_FALSE(wrong.server_side);
  EXPECT_EQ(wrong.body(),
            R"({"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"because",)"
            R"("CancellationReasons":[{"Code":"ConditionalCheckFailed","Item":{"n":{"N":"1"}}},{"Code":"None"}]})");
}

TEST_F(RemoteTest, TellsFaultsThatStatorDoesNotHave) {
  network_->answers = {
      answer(400, R"({"__type":"com.amazon.coral.service#UnrecognizedClientException","message":"no"})"),
      answer(400, R"({"__type":"AccessDeniedException","Message":"not you"})"),
      answer(404, "<UnknownOperationException/>\n")};
  EXPECT_EQ(told("ListTables"), "UnrecognizedClientException: no");
  EXPECT_EQ(told("ListTables"), "AccessDeniedException: not you");
  EXPECT_EQ(told("ListTables"), "UnknownOperationException: ");
  EXPECT_EQ(network_->sent.size(), 3U);
}

TEST_F(RemoteTest, TakesAnEmptyAnswerOfDynamoDbForOneWithoutMembers) {
  network_->answers = {ClientResponse{.status = 200, .headers = {{"x-amzn-RequestId", "1"}}, .body = ""},
                       answer(200, "")};
  EXPECT_EQ(told("TagResource"), "{}");
  EXPECT_EQ(told("TagResource"),
            "UnexpectedAnswer: http://127.0.0.1:8000 answers with HTTP status 200 and no DynamoDB: ");
}

TEST_F(RemoteTest, SaysWhenItIsNotDynamoDb) {
  network_->answers = {answer(200, "<html>\nhello"), answer(403, "go away"), answer(404, R"({"error":"not found"})")};
  EXPECT_EQ(told("ListTables"),
            "UnexpectedAnswer: http://127.0.0.1:8000 answers with HTTP status 200 and no DynamoDB: <html> hello");
  EXPECT_EQ(told("ListTables"),
            "UnexpectedAnswer: http://127.0.0.1:8000 answers with HTTP status 403 and no DynamoDB: go away");
  EXPECT_EQ(told("ListTables"),
            "UnexpectedAnswer: http://127.0.0.1:8000 answers with HTTP status 404 and no DynamoDB: "
            "{\"error\":\"not found\"}");
}

TEST_F(RemoteTest, ChecksTheChecksum) {
  const std::string body = R"({"TableNames":[]})";
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  const auto with = [&](std::string value) {
    return ClientResponse{.status = 200, .headers = {{"X-Amz-Crc32", std::move(value)}}, .body = body};
  };
  network_->answers = {with(std::to_string(crc)), with(std::to_string(crc + 1)), with("x"), with(std::to_string(crc))};
  EXPECT_EQ(told("ListTables"), body);
  EXPECT_EQ(network_->sent.size(), 1U);
  EXPECT_EQ(told("ListTables"), body) << "at the third attempt";
  EXPECT_EQ(network_->sent.size(), 4U);
}

// --- attempts

TEST_F(RemoteTest, TriesAgainWhatWasThrottledOrNotSent) {
  EXPECT_EQ(attempts("UpdateItem", "{}", {kThrottled, kRefused, kThrottled}), 4U);
  for (const auto* name : {"ThrottlingException", "RequestLimitExceeded", "TransactionInProgressException"}) {
    EXPECT_EQ(attempts("UpdateItem", "{}", {fault(400, name)}), 2U) << name;
  }
  EXPECT_EQ(attempts("UpdateItem", "{}", {answer(429, "slow down")}), 2U);
}

TEST_F(RemoteTest, GivesUpInTheEnd) {
  network_->answers = {kRefused, kRefused, kRefused, kRefused, kRefused};
  EXPECT_EQ(told("GetItem"), "NetworkFailure: why");
  EXPECT_EQ(network_->sent.size(), 4U);
}

TEST_F(RemoteTest, TriesNothingAgainThatWouldOnlyFailAgain) {
  for (const auto* name : {"ValidationException", "ConditionalCheckFailedException", "ResourceNotFoundException",
                           "TransactionCanceledException", "LimitExceededException"}) {
    EXPECT_EQ(attempts("GetItem", "{}", {fault(400, name)}), 1U) << name;
  }
  EXPECT_EQ(attempts("GetItem", "{}", {failure(ClientFailure::Kind::Untrusted, false)}), 1U);
  EXPECT_EQ(attempts("GetItem", "{}", {failure(ClientFailure::Kind::Malformed, true)}), 1U);
  EXPECT_EQ(attempts("GetItem", "{}", {failure(ClientFailure::Kind::Stopped, true)}), 1U);
}

TEST_F(RemoteTest, RepeatsWhatMayHaveHappenedOnlyIfThatDoesNoHarm) {
  struct Case {
    std::string_view operation, json;
  };
  for (const auto& [operation, json] :
       {Case{"GetItem", "{}"}, Case{"Query", "{}"}, Case{"TransactGetItems", "{}"}, Case{"DescribeTable", "{}"},
        Case{"GetRecords", "{}"}, Case{"BatchWriteItem", "{}"}, Case{"TransactWriteItems", "{}"},
        Case{"PutItem", R"({"Item":{}})"}, Case{"DeleteItem", R"({"Key":{},"ReturnValues":"NONE"})"}}) {
    EXPECT_EQ(attempts(operation, json, {kBroken, kFailed}), 3U) << operation;
    EXPECT_TRUE(network_->sent[0].request.idempotent);
  }
  for (const auto& [operation, json] :
       {Case{"UpdateItem", "{}"}, Case{"ExecuteStatement", "{}"}, Case{"CreateTable", "{}"},
        Case{"PutItem", "not JSON"}, Case{"PutItem", R"({"ConditionExpression":"c"})"},
        Case{"DeleteItem", R"({"ReturnValues":"ALL_OLD"})"}, Case{"PutItem", R"({"Expected":{}})"}}) {
    EXPECT_EQ(attempts(operation, json, {kBroken}), 1U) << operation;
    EXPECT_FALSE(network_->sent[0].request.idempotent);
    EXPECT_EQ(attempts(operation, json, {kFailed}), 1U) << operation;
  }
}

TEST_F(RemoteTest, SaysThatAWriteMayHaveHappened) {
  network_->answers = {kBroken};
  EXPECT_EQ(told("UpdateItem"), "NetworkFailure: why; the request may have been carried out");
  network_->answers = {kBroken, kThrottled, kThrottled, kRefused};
  EXPECT_EQ(told("TransactWriteItems"), "NetworkFailure: why; the request may have been carried out")
      << "although the last attempts were not";
  network_->answers = {kBroken, kRefused, kThrottled, kRefused};
  EXPECT_EQ(told("GetItem"), "NetworkFailure: why") << "nobody minds whether it was read";
}

TEST_F(RemoteTest, WaitsForARandomTimeThatMayBeLongerEachTime) {
  // Of many throws of the dice.
  const auto longest = [&](const Exchange& answer) {
    std::vector<std::chrono::milliseconds> most(3);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      open("http://127.0.0.1:8000", {}, seed);
      network_->answers = {answer, answer, answer};
      call("GetItem");
      EXPECT_EQ(network_->delays.size(), most.size());
      for (std::size_t n = 0; n < most.size(); ++n) most[n] = std::max(most[n], network_->delays[n]);
    }
    return most;
  };
  const auto near = [](std::chrono::milliseconds value, std::chrono::milliseconds bound) {
    return value <= bound && value >= bound * 9 / 10;
  };
  const auto transient = longest(kRefused);
  EXPECT_TRUE(near(transient[0], 25ms) && near(transient[1], 50ms) && near(transient[2], 100ms))
      << transient[0].count() << " " << transient[1].count() << " " << transient[2].count();
  const auto throttled = longest(kThrottled);
  EXPECT_TRUE(near(throttled[0], 1s) && near(throttled[1], 2s) && near(throttled[2], 4s))
      << throttled[0].count() << " " << throttled[1].count() << " " << throttled[2].count();
}

TEST_F(RemoteTest, StopsRetryingWhenMostCallsFail) {
  std::size_t sent = 0;
  for (int i = 0; i < 100; ++i) sent += attempts("GetItem", "{}", {kRefused, kRefused, kRefused, kRefused});
  EXPECT_EQ(sent, 100U + 500 / 14);
  for (int i = 0; i < 30; ++i) call("GetItem");
  EXPECT_EQ(attempts("GetItem", "{}", {kRefused}), 2U) << "successes allow for retries again";
}

TEST_F(RemoteTest, SaysWhatIsWrongWithAnEndpoint) {
  const auto opened = RemoteClient::open({.endpoint = "localhost:8000", .region = "r", .credentials = {}});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Usage);
}

}  // namespace
}  // namespace stator::client
