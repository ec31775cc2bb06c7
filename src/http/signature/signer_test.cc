#include "stator/http/signature/signer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stator/base/random.h"
#include "stator/http/client/client.h"

namespace stator::http {
namespace {

using namespace std::chrono_literals;

constexpr auto kNow = std::chrono::sys_days(std::chrono::year(2015) / 8 / 30) + 12h + 36min;
const AccessKey kKey = {.id = "AKIDEXAMPLE", .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};

SignerOptions options(std::string service, std::string token = {}) {
  return {.key = kKey, .session_token = std::move(token), .region = "us-east-1", .service = std::move(service)};
}

std::string authorization(const OwnedHeaders& headers) {
  for (const auto& [name, value] : headers) {
    if (name == "Authorization") return value;
  }
  return "none";
}

// --- the examples that AWS has published, with every header signed

TEST(Signer, SignsThePublishedExamplesAsPublished) {
  struct Case {
    std::string_view name, method, path, query, signed_headers, signature;
    std::vector<Header> headers = {};
    std::string_view body = {};
  };
  const std::vector<Case> cases = {
      {"get-vanilla", "GET", "/", "", "host;x-amz-date",
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-vanilla-query-order-key-case", "GET", "/", "Param2=value2&Param1=value1", "host;x-amz-date",
       "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"get-utf8", "GET", "/\xE1\x88\xB4", "", "host;x-amz-date",
       "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
      {"post-vanilla", "POST", "/", "", "host;x-amz-date",
       "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
      {"get-header-key-duplicate",
       "GET",
       "/",
       "",
       "host;my-header1;x-amz-date",
       "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
       {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}}},
      {"get-header-value-trim",
       "GET",
       "/",
       "",
       "host;my-header1;my-header2;x-amz-date",
       "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
       {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}}},
      {"post-x-www-form-urlencoded",
       "POST",
       "/",
       "",
       "content-type;host;x-amz-date",
       "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
       {{"Content-Type", "application/x-www-form-urlencoded"}},
       "Param1=value1"},
  };
  const Signer signer(options("service"));
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    auto headers = c.headers;
    headers.push_back({"Host", "example.amazonaws.com"});
    Request request;
    request.method = c.method;
    request.path = c.path;
    request.query = c.query;
    request.headers = headers;
    request.body = c.body;
    EXPECT_EQ(authorization(signer.sign(request, kNow)),
              fmt::format("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                          "SignedHeaders={}, Signature={}",
                          c.signed_headers, c.signature));
  }
}

TEST(Signer, SignsTheExampleOfTheUserGuide) {
  const std::vector<Header> headers = {{"Host", "iam.amazonaws.com"},
                                       {"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}};
  Request request;
  request.method = "GET";
  request.path = "/";
  request.query = "Action=ListUsers&Version=2010-05-08";
  request.headers = headers;
  EXPECT_TRUE(authorization(Signer(options("iam")).sign(request, kNow))
                  .ends_with("Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"));
}

TEST(Signer, SignsTheRequestOfAClient) {
  ClientRequest request{.method = "GET",
                        .target = "/?Action=ListUsers&Version=2010-05-08",
                        .headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}}};
  Signer(options("iam")).sign(request, "iam.amazonaws.com", kNow);
  EXPECT_EQ(request.headers.size(), 3U) << "Content-Type, X-Amz-Date, Authorization";
  EXPECT_TRUE(authorization(request.headers)
                  .ends_with("Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"));
}

// --- our own other side

class SignedRequests : public ::testing::Test {
 protected:
  SignedRequests() { verifier_.set_keys({&kKey, 1}); }

  // The verifier's fault for a request that was signed `ago`, or "believed".
  std::string verdict(const Signer& signer, const std::string& body, std::chrono::seconds ago = 0s) {
    std::vector<Header> headers = {{"Host", "localhost:8000"}, {"X-Amz-Target", "DynamoDB_20120810.GetItem"}};
    Request request;
    request.method = "POST";
    request.path = "/";
    request.headers = headers;
    request.body = body;
    const auto added = signer.sign(request, clock_.now() - ago);
    for (const auto& [name, value] : added) headers.push_back({name, value});
    request.headers = headers;
    const auto fault = verifier_.check(request);
    return fault ? fault->message : "believed";
  }

  ManualClock clock_{kNow};
  SignatureVerifier verifier_{{.service = "dynamodb", .signed_headers = {"x-amz-target"}}, clock_};
};

TEST_F(SignedRequests, AreBelieved) {
  const Signer signer(options("dynamodb"));
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    std::string body;
    for (auto n = random.below(500); n > 0; --n) body += static_cast<char>(random.below(256));
    EXPECT_EQ(verdict(signer, body), "believed");
  }
}

TEST_F(SignedRequests, AreSignedWithTheKeyOfTheDay) {
  const Signer signer(options("dynamodb"));
  for (int day = 0; day < 3; ++day) {
    EXPECT_EQ(verdict(signer, "x"), "believed");
    clock_.advance(24h);
  }
  EXPECT_TRUE(verdict(signer, "x", 1h).starts_with("Signature expired"));
}

TEST_F(SignedRequests, CarryTheTokenOfASession) {
  EXPECT_EQ(verdict(Signer(options("dynamodb", "token")), "x"),
            "The security token included in the request is invalid.");
}

}  // namespace
}  // namespace stator::http
