#include "stator/console/sessions.h"

#include <gtest/gtest.h>

#include <set>

namespace stator::console {
namespace {

using namespace std::chrono_literals;

struct SessionsTest : ::testing::Test {
  SessionsTest() { set_keys({{.id = "KEY", .secret = "secret"}, {.id = "OTHER", .secret = "another"}}); }
  void set_keys(const std::vector<http::AccessKey>& known) { keys.set_keys(known); }
  // A token, or what was said instead.
  std::string sign_in(std::string_view id = "KEY", std::string_view secret = "secret") {
    const auto answer = sessions.sign_in(id, secret);
    if (const auto* token = std::get_if<std::string>(&answer)) return *token;
    return std::get<Sessions::Refusal>(answer) == Sessions::Refusal::TooMany ? "too many" : "wrong";
  }

  ManualClock clock;
  http::SignatureVerifier keys{{.service = "dynamodb"}, clock};
  Sessions sessions{keys, clock};
};

TEST_F(SessionsTest, AreOpenedWithAKeyAndClosed) {
  EXPECT_TRUE(sessions.required());
  const auto token = sign_in();
  EXPECT_EQ(token.size(), 64U);
  EXPECT_EQ(sessions.key_of(token), "KEY");
  EXPECT_EQ(sessions.key_of(""), std::nullopt);
  EXPECT_EQ(sessions.key_of(token + "0"), std::nullopt);
  EXPECT_NE(sign_in(), token);
  sessions.sign_out(token);
  EXPECT_EQ(sessions.key_of(token), std::nullopt);
}

TEST_F(SessionsTest, AreNotNeededWhereThereWasNeverAKey) {
  const http::SignatureVerifier none({.service = "dynamodb"}, clock);
  EXPECT_FALSE(Sessions(none, clock).required());
}

TEST_F(SessionsTest, RefuseAWrongKeyAndTooManyOfThem) {
  for (const auto& [id, secret] : {std::pair("KEY", "another"), std::pair("KEY", ""), std::pair("key", "secret"),
                                   std::pair("", ""), std::pair("NONE", "secret")}) {
    EXPECT_EQ(sign_in(id, secret), "wrong");
  }
  for (int i = 5; i < Sessions::kFailuresPerSecond; ++i) EXPECT_EQ(sign_in("KEY", "guess"), "wrong");
  EXPECT_EQ(sign_in("KEY", "guess"), "too many");
  EXPECT_EQ(sign_in().size(), 64U) << "whoever knows a secret is not kept out by those who guess";
  clock.advance(1s);
  EXPECT_EQ(sign_in("KEY", "guess"), "wrong");
}

TEST_F(SessionsTest, EndWithTime) {
  const auto token = sign_in();
  clock.advance(Sessions::kLifetime - 1s);
  EXPECT_TRUE(sessions.key_of(token));
  clock.advance(1s);
  EXPECT_FALSE(sessions.key_of(token));
}

TEST_F(SessionsTest, EndWithTheirKey) {
  const auto token = sign_in();
  const auto other = sign_in("OTHER", "another");
  set_keys({{.id = "OTHER", .secret = "another"}});
  EXPECT_FALSE(sessions.key_of(token));
  EXPECT_TRUE(sessions.key_of(other));
  set_keys({{.id = "KEY", .secret = "secret"}, {.id = "OTHER", .secret = "changed"}});
  EXPECT_FALSE(sessions.key_of(token)) << "a session does not come back";
  EXPECT_FALSE(sessions.key_of(other)) << "another secret is another key";
}

TEST_F(SessionsTest, AreBounded) {
  const auto first = sign_in();
  clock.advance(1s);
  const auto second = sign_in();
  for (std::size_t i = 2; i < Sessions::kMost; ++i) sign_in();
  EXPECT_TRUE(sessions.key_of(first));
  sign_in();
  EXPECT_FALSE(sessions.key_of(first)) << "the oldest gives way";
  EXPECT_TRUE(sessions.key_of(second));
}

}  // namespace
}  // namespace stator::console
