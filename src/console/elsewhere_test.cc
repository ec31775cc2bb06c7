#include "stator/console/elsewhere.h"

#include <gtest/gtest.h>

#include "stator/http/server.h"

namespace stator::console {
namespace {

// Answers everything with what it was asked.
struct Echo final : http::Handler {
  void handle(const http::Request& request, http::Responder responder) override {
    responder.send({.status = 200,
                    .content_type = "application/x-amz-json-1.0",
                    .headers = {},
                    .body = "{\"target\":\"" + std::string(request.header("X-Amz-Target")) +
                            "\",\"sent\":" + std::string(request.body) + "}"});
  }
};

struct ElsewhereTest : ::testing::Test {
  http::Response post(std::string_view path, const std::string& body, std::string_view method = "POST") {
    const http::Request request{
        .method = method, .target = path, .path = path, .query = {}, .headers = {}, .body = body, .keep_alive = true};
    return elsewhere.read(request);
  }
  Elsewhere elsewhere;
};

TEST_F(ElsewhereTest, PassesAReadOn) {
  Echo echo;
  const auto server = http::Server::start({.host = "127.0.0.1", .port = 0, .threads = 1}, echo);
  ASSERT_TRUE(server);
  const auto answer =
      post("/console/remote/Scan", "{\"endpoint\":\"http://127.0.0.1:" + std::to_string((*server)->port()) +
                                       "\",\"request\":{\"TableName\":\"T\",\"Limit\":3}}");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"target":"DynamoDB_20120810.Scan","sent":{"TableName":"T","Limit":3}})");
}

TEST_F(ElsewhereTest, RefusesWritesAndWhatItCannotRead) {
  const std::string fine = R"({"endpoint":"http://127.0.0.1:1","request":{}})";
  EXPECT_EQ(post("/console/remote/PutItem", fine).status, 400);
  EXPECT_EQ(post("/console/remote", fine).status, 400);
  EXPECT_EQ(post("/console/remote/Scan", fine, "PUT").status, 405);
  for (const auto* body :
       {"", "[]", "{}", R"({"endpoint":"http://127.0.0.1:1"})", R"({"endpoint":"ftp://x","request":{}})",
        R"({"endpoint":5,"request":{}})", R"({"endpoint":"http://127.0.0.1:1","request":[]})"}) {
    EXPECT_EQ(post("/console/remote/Scan", body).status, 400) << body;
  }
}

TEST_F(ElsewhereTest, SaysThatNobodyAnswers) {
  const auto answer = post("/console/remote/ListTables", R"({"endpoint":"http://127.0.0.1:1","request":{}})");
  EXPECT_EQ(answer.status, 502) << answer.body;
}

}  // namespace
}  // namespace stator::console
