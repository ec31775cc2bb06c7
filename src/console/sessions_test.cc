#include "stator/console/sessions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace stator::console {
namespace {

using namespace std::chrono_literals;

struct SessionsTest : ::testing::Test {
  SessionsTest() { set_keys({{.id = "KEY", .secret = "secret"}, {.id = "OTHER", .secret = "another"}}); }
  void set_keys(const std::vector<http::AccessKey>& known) { keys.set_keys(known); }
  // A token, or what was said instead.
  std::string sign_in(std::string_view id = "KEY", std::string_view secret = "secret") {
    const auto answer = sessions.sign_in(id, secret);
    if (answer) return *answer;
    return answer.error() == Sessions::Refusal::TooMany ? "too many" : "wrong";
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
  ASSERT_TRUE(sessions.sign_out(token));
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

// Two servers of one database.
struct SharedSessionsTest : ::testing::Test {
  SharedSessionsTest() { set_secret("secret"); }
  void set_secret(const std::string& secret) {
    keys.set_keys(std::vector<http::AccessKey>{{.id = "KEY", .secret = secret}});
  }
  SharedText shared() {
    return {.read = [this]() -> Result<std::optional<std::string>> {
              if (gone) return Error{ErrorCode::Storage, "the database does not answer"};
              const auto read = text;
              if (const auto then = std::exchange(after_read, nullptr)) then();
              return read;
            },
            .change = [this](const SharedText::Change& change) -> Result<void> {
              if (gone) return Error{ErrorCode::Storage, "the database does not answer"};
              text = TRY(change(text));
              if (const auto then = std::exchange(after_change, nullptr)) then();
              return {};
            }};
  }
  std::string sign_in(Sessions& sessions) { return sessions.sign_in("KEY", "secret").value(); }

  ManualClock clock;
  std::optional<std::string> text;
  bool gone = false;
  std::function<void()> after_read, after_change;  // once, before the answer arrives
  http::SignatureVerifier keys{{.service = "dynamodb"}, clock};
  Sessions one{keys, clock, shared()}, other{keys, clock, shared()};
};

TEST_F(SharedSessionsTest, AreGoodAtAllServersAtOnce) {
  const auto token = sign_in(one);
  EXPECT_EQ(other.key_of(token), "KEY");
  EXPECT_EQ(text->find(token), std::string::npos);
  for (const auto& forged : {token + "x", token.substr(1), "9" + token, std::string("a.b.c.d"), std::string("...")}) {
    EXPECT_EQ(other.key_of(forged), std::nullopt) << forged;
  }
  Sessions started_later(keys, clock, shared());
  EXPECT_EQ(started_later.key_of(token), "KEY");
}

TEST_F(SharedSessionsTest, EndAtAllServersWithinASecond) {
  const auto token = sign_in(one), kept = sign_in(one);
  ASSERT_TRUE(one.sign_out(token));
  EXPECT_FALSE(one.key_of(token));
  other.refresh();  // once a second
  EXPECT_FALSE(other.key_of(token));
  EXPECT_TRUE(other.key_of(kept));
}

TEST_F(SharedSessionsTest, StayEndedThoughAnOlderTextArrivesLater) {
  const auto token = sign_in(one);
  after_read = [&] { ASSERT_TRUE(one.sign_out(token)); };
  one.refresh();
  EXPECT_FALSE(one.key_of(token));
  one.refresh();
  EXPECT_FALSE(one.key_of(token));
}

TEST_F(SharedSessionsTest, StayEndedWhenTwoEndAtOnce) {
  const auto first = sign_in(one), second = sign_in(one);
  after_change = [&] { ASSERT_TRUE(one.sign_out(second)); };
  ASSERT_TRUE(one.sign_out(first));
  EXPECT_FALSE(one.key_of(first));
  EXPECT_FALSE(one.key_of(second));
  one.refresh();
  EXPECT_FALSE(one.key_of(first));
  EXPECT_FALSE(one.key_of(second));
}

TEST_F(SharedSessionsTest, EndAtAServerThatDoesNotKnowThemYet) {
  const auto token = sign_in(one);
  gone = true;
  Sessions started_now(keys, clock, shared());
  gone = false;
  ASSERT_TRUE(started_now.sign_out(token));
  started_now.refresh();
  EXPECT_FALSE(started_now.key_of(token));
}

TEST_F(SharedSessionsTest, EndWithTimeAndWithTheirKey) {
  const auto token = sign_in(one);
  clock.advance(Sessions::kLifetime);
  EXPECT_FALSE(other.key_of(token));
  const auto next = sign_in(one);
  set_secret("changed");
  EXPECT_FALSE(other.key_of(next));
}

TEST_F(SharedSessionsTest, EndAllWhenTheListOfEndedOnesIsFull) {
  const auto kept = sign_in(one);
  for (std::size_t i = 0; i <= SignedSessions::kMostEnded; ++i) ASSERT_TRUE(one.sign_out(sign_in(one)));
  EXPECT_LT(text->size(), SignedSessions::kMostBytes);
  EXPECT_FALSE(one.key_of(kept)) << "rather than to bring one back that was ended";
  clock.advance(Sessions::kLifetime);
  ASSERT_TRUE(one.sign_out(sign_in(one)));
  EXPECT_EQ(std::ranges::count(*text, '\n'), 2) << "those that have ended by themselves are not kept";
}

TEST_F(SharedSessionsTest, SayWhenTheDatabaseDoesNotAnswer) {
  const auto token = sign_in(one);
  gone = true;
  EXPECT_FALSE(one.sign_out(token));
  EXPECT_EQ(one.key_of(token), "KEY") << "it is not forgotten by halves";
  Sessions started_now(keys, clock, shared());
  EXPECT_EQ(started_now.sign_in("KEY", "secret").error(), Sessions::Refusal::NoStore);
  gone = false;
  started_now.refresh();
  EXPECT_EQ(started_now.key_of(token), "KEY");
}

}  // namespace
}  // namespace stator::console
