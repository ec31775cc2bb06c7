#include "stator/http/signature/sigv4.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "stator/base/random.h"

namespace stator::http {
namespace {

using Kind = SignatureFault::Kind;
using namespace std::chrono_literals;

constexpr auto kNow = std::chrono::sys_days(std::chrono::year(2015) / 8 / 30) + 12h + 36min;
const AccessKey kKey = {.id = "AKIDEXAMPLE", .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
constexpr std::string_view kMismatch =
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "
    "and "
    "signing method. Consult the service documentation for details.";

// A request that owns its text.
struct Message {
  std::string method = "POST", path = "/", query = "", body = "";
  std::vector<std::pair<std::string, std::string>> headers = {};

  SignatureFault check(const SignatureVerifier& verifier) const {
    std::vector<Header> views;
    for (const auto& [name, value] : headers) views.push_back({name, value});
    Request request;
    request.method = method;
    request.path = path;
    request.query = query;
    request.headers = views;
    request.body = body;
    return verifier.check(request).value_or(SignatureFault{.kind = Kind::Invalid, .message = "believed"});
  }
  Message& with(std::string name, std::string value) {
    headers.emplace_back(std::move(name), std::move(value));
    return *this;
  }
};

class SigV4Test : public ::testing::Test {
 protected:
  explicit SigV4Test(std::string service = "service") : verifier_({.service = std::move(service)}, clock_) {
    verifier_.set_keys({&kKey, 1});
  }

  std::string answer(const Message& message) const { return message.check(verifier_).message; }

  ManualClock clock_{kNow};
  SignatureVerifier verifier_;
};

// --- the examples that AWS has published: 20150830T123600Z, us-east-1, service "service"

std::string published_authorization(std::string_view signed_headers, std::string_view signature) {
  return fmt::format(
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders={}, Signature={}",
      signed_headers, signature);
}

TEST_F(SigV4Test, BelievesThePublishedExamples) {
  struct Case {
    std::string_view name, method, path, query, signed_headers, signature;
    std::vector<std::pair<std::string, std::string>> headers = {};
    std::string_view body = {};
  };
  const std::vector<Case> cases = {
      {"get-vanilla", "GET", "/", "", "host;x-amz-date",
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-vanilla-query-order-key-case", "GET", "/", "Param2=value2&Param1=value1", "host;x-amz-date",
       "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"get-utf8", "GET", "/\xE1\x88\xB4", "", "host;x-amz-date",
       "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
      {"get-vanilla-utf8-query", "GET", "/", "\xE1\x88\xB4=bar", "host;x-amz-date",
       "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
      {"normalize-path get-slash-dot-slash", "GET", "/./", "", "host;x-amz-date",
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"normalize-path get-relative-relative", "GET", "/example1/example2/../..", "", "host;x-amz-date",
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"normalize-path get-slashes", "GET", "//example//", "", "host;x-amz-date",
       "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"},
      {"normalize-path get-space", "GET", "/example space/", "", "host;x-amz-date",
       "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
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
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Message message{.method = std::string(c.method),
                    .path = std::string(c.path),
                    .query = std::string(c.query),
                    .body = std::string(c.body),
                    .headers = c.headers};
    message.with("Host", "example.amazonaws.com").with("X-Amz-Date", "20150830T123600Z");
    message.with("Authorization", published_authorization(c.signed_headers, c.signature));
    EXPECT_EQ(answer(message), "believed");
    for (auto& [name, value] : message.headers) {
      if (name == "Authorization") value.back() = value.back() == '0' ? '1' : '0';
    }
    EXPECT_EQ(answer(message), kMismatch);
  }
}

TEST_F(SigV4Test, RefusesASecondAuthorizationHeader) {
  constexpr std::string_view kSignature = "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b";
  const auto header = published_authorization("host;x-amz-date", kSignature);
  Message message;
  message.with("Host", "example.amazonaws.com").with("X-Amz-Date", "20150830T123600Z").with("Authorization", header);
  EXPECT_EQ(answer(message), "believed");
  for (const auto& second : {header, std::string(), std::string("Basic eDp5")}) {
    auto twice = message;
    EXPECT_EQ(answer(twice.with("authorization", second)), "Found more than one 'Authorization' header.");
  }
}

TEST_F(SigV4Test, TellsWhichKeyARefusedRequestNames) {
  Message message;
  message.with("Host", "h").with("X-Amz-Date", "20150830T123600Z");
  EXPECT_EQ(message.check(verifier_).key_id, "");
  message.with("Authorization", published_authorization("host;x-amz-date", "0"));
  EXPECT_EQ(message.check(verifier_).key_id, "AKIDEXAMPLE");
  const Message presigned{.query = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=WHO%0A%2F20150830"};
  EXPECT_EQ(presigned.check(verifier_).key_id, "WHO\\x0A");
}

TEST_F(SigV4Test, KnowsItsKeys) {
  EXPECT_TRUE(verifier_.has_keys());
  EXPECT_EQ(verifier_.secret_digest(kKey.id), sigv4::sha256(kKey.secret));
  EXPECT_EQ(verifier_.secret_digest("somebody"), std::nullopt);
  verifier_.set_keys({});
  EXPECT_FALSE(verifier_.has_keys());
  EXPECT_TRUE(verifier_.required());
}

class SigV4IamTest : public SigV4Test {
 protected:
  SigV4IamTest() : SigV4Test("iam") {}
};

TEST_F(SigV4IamTest, BelievesTheExampleOfTheUserGuide) {
  Message message{.method = "GET", .query = "Action=ListUsers&Version=2010-05-08"};
  message.with("Host", "iam.amazonaws.com")
      .with("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
      .with("X-Amz-Date", "20150830T123600Z")
      .with("Authorization",
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
            "SignedHeaders=content-type;host;x-amz-date, "
            "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
  EXPECT_EQ(answer(message), "believed");
}

// --- a small signer that shares nothing with the verifier

std::string hex_text(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return out;
}

std::string sha256_hex(std::string_view text) {
  std::string digest(32, '\0');
  std::size_t size = 0;
  EVP_Q_digest(nullptr, "SHA256", nullptr, text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()),
               &size);
  return hex_text(digest);
}

std::string hmac_of(std::string_view key, std::string_view text) {
  std::string digest(32, '\0');
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr);
  return digest;
}

struct Signing {
  AccessKey key = kKey;
  std::string date = "20150830T123600Z", region = "eu-central-1", service = "dynamodb";

  std::string scope() const { return fmt::format("{}/{}/{}/aws4_request", date.substr(0, 8), region, service); }
  std::string sign(std::string_view canonical) const {
    std::string secret = "AWS4" + key.secret;
    for (const auto& part : {date.substr(0, 8), region, service, std::string("aws4_request")})
      secret = hmac_of(secret, part);
    return hex_text(hmac_of(secret, fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", date, scope(), sha256_hex(canonical))));
  }
};

// Takes values that are plain already, so that nothing needs encoding; the published examples cover that.
Message signed_message(const Signing& signing, std::string body = "{}",
                       std::map<std::string, std::string> more_headers = {}) {
  more_headers.insert({{"host", "localhost:8000"}, {"x-amz-date", signing.date}, {"x-amz-target", "T.Op"}});
  std::string lines;
  std::string names;
  Message message{.body = std::move(body)};
  for (const auto& [name, value] : more_headers) {
    lines += fmt::format("{}:{}\n", name, value);
    names += (names.empty() ? "" : ";") + name;
    message.with(name, value);
  }
  const auto signature = signing.sign(fmt::format("POST\n/\n\n{}\n{}\n{}", lines, names, sha256_hex(message.body)));
  return message.with("Authorization", fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}",
                                                   signing.key.id, signing.scope(), names, signature));
}

Message presigned_message(const Signing& signing, std::string expires, std::string body = "{}") {
  const auto scope = fmt::format("{}/{}", signing.key.id, signing.scope());
  std::string credential;
  for (const char c : scope) credential += c == '/' ? std::string("%2F") : std::string(1, c);
  const auto query = fmt::format(
      "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={}&X-Amz-Date={}{}&X-Amz-SignedHeaders=host%3Bx-amz-target",
      credential, signing.date, expires.empty() ? "" : "&X-Amz-Expires=" + expires);
  Message message{.body = std::move(body)};
  message.with("Host", "h").with("X-Amz-Target", "T.Op");
  const auto signature = signing.sign(
      fmt::format("POST\n/\n{}\nhost:h\nx-amz-target:T.Op\n\nhost;x-amz-target\n{}", query, sha256_hex(message.body)));
  message.query = query + "&X-Amz-Signature=" + signature;
  return message;
}

class DynamoTest : public ::testing::Test {
 protected:
  DynamoTest() { verifier_.set_keys({&kKey, 1}); }
  SignatureFault check(const Message& message) const { return message.check(verifier_); }
  std::string answer(const Message& message) const { return check(message).message; }

  ManualClock clock_{kNow};
  SignatureVerifier verifier_{{.service = "dynamodb", .signed_headers = {"x-amz-target"}}, clock_};
};

TEST_F(DynamoTest, BelievesASignatureInHeadersOrQueryTwice) {
  for (int i = 0; i < 2; ++i) {  // derived, and remembered
    EXPECT_EQ(answer(signed_message({})), "believed");
    EXPECT_EQ(answer(presigned_message({}, "60")), "believed");
    EXPECT_EQ(answer(presigned_message({}, "")), "believed");
  }
}

TEST_F(DynamoTest, NoticesAnyChangedByte) {
  // Property: what was signed is believed; with one byte changed anywhere that counts, it is not.
  Random random(7);
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE(round);
    std::string body;
    for (auto n = random.below(200); n > 0; --n) body += static_cast<char>(random.below(256));
    std::string value(1 + random.below(20), 'v');
    const Signing signing{.region = fmt::format("region-{}", random.below(2000))};
    auto message = random.below(2) == 0 ? signed_message(signing, body, {{"x-extra", value}})
                                        : presigned_message(signing, "900", body);
    ASSERT_EQ(answer(message), "believed");
    std::vector<std::string*> targets = {&message.method};
    if (!message.body.empty()) targets.push_back(&message.body);
    if (!message.query.empty()) targets.push_back(&message.query);
    for (auto& [name, text] : message.headers) targets.push_back(&text);
    auto& target = *targets[random.below(targets.size())];
    auto& byte = target[random.below(target.size())];
    const char before = byte;
    do {
      byte = static_cast<char>(33 + random.below(90));
    } while (byte == before || (before == ',' && byte == ' ') || (before == ' ' && byte == ','));
    // A space may become a comma between parameters, and that means the same.
    EXPECT_NE(answer(message), "believed") << target << " had " << before << ", has " << byte;
  }
}

TEST_F(DynamoTest, NeedsSomeSignature) {
  for (const auto& message :
       {Message{}, Message{}.with("Authorization", "AWS4"), Message{}.with("Authorization", "Basic x"),
        Message{.query = "X-Amz-Algorith"}, Message{.query = "X-Amz-Credential=a&X-Amz-Date=d"}}) {
    const auto fault = check(message);
    EXPECT_EQ(fault.kind, Kind::MissingToken);
    EXPECT_EQ(fault.message, "Request is missing Authentication Token");
  }
}

TEST_F(DynamoTest, TellsWhatASignatureLacks) {
  struct Case {
    std::string header, message;
  };
  for (const auto& [header, message] : {
           Case{"AWS4-",
                "Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' "
                "parameter. Authorization header requires 'SignedHeaders' parameter. Authorization=AWS4-"},
           Case{
               "AWS4- Signature=b,Credential=a",
               "Authorization header requires 'SignedHeaders' parameter. Authorization=AWS4- Signature=b,Credential=a"},
           Case{"AWS4- Signature=b,    Credential,    SignedHeaders",
                "'Credential' not a valid key=value pair (missing equal-sign) in Authorization header: 'AWS4- "
                "Signature=b,    Credential,    SignedHeaders'."},
           Case{"AWS4-HMAC-SHA512 Signature=b, Credential=a, SignedHeaders=c",
                "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA512'"},
           Case{
               "AWS4-HMAC-SHA256 Signature=b, Credential=a, SignedHeaders=c",
               "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got 'a'"},
       }) {
    const auto fault = check(Message{}.with("X-Amz-Date", "20150830T123600Z").with("Authorization", header));
    EXPECT_EQ(fault.kind, Kind::Incomplete);
    EXPECT_EQ(fault.message, message);
  }
  EXPECT_EQ(answer(Message{}.with("Authorization", "AWS4-X Signature=b Credential=a SignedHeaders=c")),
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
            "Authorization=AWS4-X Signature=b Credential=a SignedHeaders=c");
  EXPECT_EQ(answer(Message{}
                       .with("Date", "yesterday")
                       .with("Authorization", "AWS4-HMAC-SHA256 Signature=b Credential=a SignedHeaders=c")),
            "Date must be in ISO-8601 'basic format'. Got 'yesterday'. See http://en.wikipedia.org/wiki/ISO_8601");
}

TEST_F(DynamoTest, RepeatsBytesThatAreNoTextAsEscapes) {
  EXPECT_EQ(answer(Message{}
                       .with("Date", "\xFF\x80")
                       .with("Authorization", "AWS4-HMAC-SHA256 Signature=b Credential=a SignedHeaders=c")),
            "Date must be in ISO-8601 'basic format'. Got '\\xFF\\x80'. See http://en.wikipedia.org/wiki/ISO_8601");
}

TEST_F(DynamoTest, TellsWhatAPresignedQueryLacks) {
  EXPECT_EQ(
      answer(Message{.query = "X-Amz-Algorithm"}),
      "AWS query-string parameters must include 'X-Amz-Algorithm'. AWS query-string parameters must include "
      "'X-Amz-Credential'. AWS query-string parameters must include 'X-Amz-Signature'. AWS query-string parameters "
      "must include 'X-Amz-SignedHeaders'. AWS query-string parameters must include 'X-Amz-Date'. Re-examine the "
      "query-string parameters.");
  EXPECT_EQ(answer(presigned_message({}, "x")), "X-Amz-Expires should be a number");
  EXPECT_EQ(answer(presigned_message({}, "-1")), "X-Amz-Expires must be non-negative");
  EXPECT_EQ(check(presigned_message({}, "604801")).kind, Kind::Incomplete);
  EXPECT_EQ(answer(signed_message({}).with("X", "")), "believed");
  auto both = signed_message({});
  both.query = "X-Amz-Algorithm=AWS4-HMAC-SHA256";
  EXPECT_EQ(check(both).kind, Kind::Invalid);
  EXPECT_EQ(answer(both), "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.");
}

TEST_F(DynamoTest, NeedsAFreshSignature) {
  const auto message = signed_message({});
  for (const auto ahead : {15min, -15min}) {
    ManualClock clock(kNow + ahead);
    SignatureVerifier verifier({.service = "dynamodb"}, clock);
    verifier.set_keys({&kKey, 1});
    EXPECT_EQ(message.check(verifier).message, "believed");
  }
  clock_.advance(15min + 1s);
  EXPECT_EQ(check(message).kind, Kind::Invalid);
  EXPECT_EQ(answer(message),
            "Signature expired: 20150830T123600Z is now earlier than 20150830T123601Z "
            "(20150830T125101Z - 15 min.)");
  clock_.advance(-2 * (15min + 1s));
  EXPECT_EQ(answer(message),
            "Signature not yet current: 20150830T123600Z is still later than 20150830T123559Z "
            "(20150830T122059Z + 15 min.)");
}

TEST_F(DynamoTest, APresignedUrlLivesAsLongAsItSays) {
  const auto minute = presigned_message({}, "61");
  const auto week = presigned_message({}, "604800");
  clock_.advance(61s);
  EXPECT_EQ(answer(minute), "believed");
  clock_.advance(1s);
  EXPECT_EQ(answer(minute),
            "Signature expired: 20150830T123600Z is now earlier than 20150830T123601Z "
            "(20150830T123702Z - 61 sec.)");
  clock_.advance(std::chrono::weeks(1) - 62s);
  EXPECT_EQ(answer(week), "believed");
  clock_.advance(1s);
  EXPECT_NE(answer(week), "believed");
}

TEST_F(DynamoTest, TheDateHeaderIsAsGood) {
  // Signed with X-Amz-Date's text, sent as an HTTP date that is not signed: the time is part of what is signed anyway.
  auto message = signed_message({});
  const Signing signing;
  const auto signature = signing.sign(
      fmt::format("POST\n/\n\nhost:localhost:8000\nx-amz-target:T.Op\n\nhost;x-amz-target\n{}", sha256_hex("{}")));
  message.headers = {
      {"Host", "localhost:8000"},
      {"X-Amz-Target", "T.Op"},
      {"Date", "Sun, 30 Aug 2015 12:36:00 GMT"},
      {"Authorization", fmt::format("AWS4-HMAC-SHA256 Credential={}/{},SignedHeaders=host;x-amz-target,Signature={}",
                                    kKey.id, signing.scope(), signature)}};
  EXPECT_EQ(answer(message), "believed");
}

TEST_F(DynamoTest, KnowsOnlyItsOwnKeys) {
  const auto unknown = check(signed_message({.key = {"STRANGER", kKey.secret}}));
  EXPECT_EQ(unknown.kind, Kind::UnknownKey);
  EXPECT_EQ(unknown.message, "The security token included in the request is invalid.");
  EXPECT_EQ(check(signed_message({}, "{}", {{"x-amz-security-token", "t"}})).kind, Kind::UnknownKey);
  const auto wrong = check(signed_message({.key = {kKey.id, "wrong"}}));
  EXPECT_EQ(wrong.kind, Kind::Invalid);
  EXPECT_EQ(wrong.message, kMismatch);
}

TEST_F(DynamoTest, ARemovedKeyTakesItsSigningKeysAlong) {
  EXPECT_EQ(answer(signed_message({})), "believed");
  const AccessKey changed{.id = kKey.id, .secret = "another"};
  verifier_.set_keys({&changed, 1});
  EXPECT_EQ(answer(signed_message({})), kMismatch);
  EXPECT_EQ(answer(signed_message({.key = changed})), "believed");
  verifier_.set_keys({});
  EXPECT_TRUE(verifier_.required());
  EXPECT_EQ(check(signed_message({})).kind, Kind::UnknownKey);
}

TEST_F(DynamoTest, KeysThatNobodyConfirmsAreNotBelieved) {
  SignatureVerifier verifier({.service = "dynamodb", .signed_headers = {"x-amz-target"}, .keys_last = 10s}, clock_);
  verifier.set_keys({&kKey, 1});
  const auto kind = [&] { return signed_message({}).check(verifier).kind; };
  const auto believed = [&] { return signed_message({}).check(verifier).message == "believed"; };
  EXPECT_TRUE(believed());
  clock_.advance(9s);
  EXPECT_TRUE(believed());
  EXPECT_TRUE(verifier.secret_digest(kKey.id));
  const auto asked = verifier.steady_now();
  clock_.advance(2s);
  EXPECT_FALSE(believed());
  EXPECT_EQ(kind(), Kind::Unconfirmed);
  EXPECT_FALSE(verifier.secret_digest(kKey.id));
  verifier.confirm_keys(asked);
  EXPECT_TRUE(believed());
  clock_.advance(9s);
  EXPECT_EQ(kind(), Kind::Unconfirmed) << "what counts is when they were asked for";
}

TEST_F(DynamoTest, ASignatureIsForItsServiceAndDay) {
  EXPECT_EQ(answer(signed_message({.service = "s3"})), "Credential should be scoped to correct service: 'dynamodb'.");
  auto message = signed_message({});
  for (auto& [name, value] : message.headers) {
    if (name == "Authorization") value.replace(value.find("20150830"), 8, "20150829");
  }
  EXPECT_EQ(answer(message),
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20150829' != "
            "'20150830', from '20150830T123600Z'.");
}

TEST_F(DynamoTest, WhatDecidesAboutARequestMustBeSigned) {
  const auto authorization = [](std::string_view signed_headers) {
    return fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature=0", kKey.id, Signing().scope(),
                       signed_headers);
  };
  const auto message = Message{}.with("Host", "h").with("X-Amz-Date", "20150830T123600Z").with("X-Amz-Target", "T");
  EXPECT_EQ(answer(Message(message).with("Authorization", authorization("x-amz-date"))),
            "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.");
  EXPECT_EQ(answer(Message(message).with("Authorization", authorization("host;x-amz-date"))),
            "'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization.");
  std::string many = "host";
  for (int i = 0; i < 100; ++i) many += ";h";
  EXPECT_EQ(answer(Message(message).with("Authorization", authorization(many))), "More than 100 signed headers");
}

TEST_F(DynamoTest, KeysMayChangeWhileRequestsAreChecked) {
  const auto message = signed_message({});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) EXPECT_EQ(answer(message), "believed");
    });
  }
  for (int i = 0; i < 300; ++i) verifier_.set_keys({&kKey, 1});
}

TEST(SignatureVerifier, AsksForNothingUntilThereIsAKey) {
  const ManualClock clock;
  SignatureVerifier verifier({.service = "dynamodb"}, clock);
  EXPECT_FALSE(verifier.required());
  verifier.set_keys({});
  EXPECT_FALSE(verifier.required());
  verifier.set_keys({&kKey, 1});
  EXPECT_TRUE(verifier.required());
}

}  // namespace
}  // namespace stator::http
