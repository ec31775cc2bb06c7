#include "stator/app/rest/idempotency.h"

#include <gtest/gtest.h>

#include "stator/library/instance.h"

namespace stator::app {
namespace {

using namespace std::chrono_literals;

struct IdempotencyTest : ::testing::Test {
  std::unique_ptr<library::Instance> instance =
      std::move(*library::Instance::open({.data_folder = {}, .in_memory = true}));
  client::InProcessClient client{instance->operations()};
  ManualClock clock{SystemClock().now()};
  Random random = Random::from_system();
  IdempotencyStore store{"Things.idempotency", client, clock, random};
  const std::optional<std::string> ann = "ann";

  auto claim(std::string_view body = "{}") {
    return store.claim({.key = "k", .subject = ann, .method = "POST", .target = "/things", .body = body});
  }
  // "claimed", the answer that was kept, or the problem's code.
  std::string said(std::string_view body = "{}") {
    const auto outcome = claim(body);
    if (!outcome) return outcome.error().code;
    const auto* answer = std::get_if<http::Response>(&*outcome);
    return answer != nullptr ? answer->body : "claimed";
  }
};

TEST_F(IdempotencyTest, GivesTheAnswerThatWasGiven) {
  const auto claimed = std::get<IdempotencyStore::Claimed>(*claim());
  EXPECT_EQ(said(), "InProgress");
  ASSERT_TRUE(
      store.complete(claimed, {.status = 201, .content_type = {}, .headers = {}, .body = "made", .close = false}));
  EXPECT_EQ(said(), "made");
  EXPECT_EQ(said("{1}"), "IdempotencyKeyReused");
  clock.advance(23h);
  EXPECT_EQ(said(), "made");
  clock.advance(2h);
  EXPECT_EQ(said(), "claimed");
}

TEST_F(IdempotencyTest, SaysThatNobodyKnowsWhatBecameOfARequestThatDied) {
  ASSERT_EQ(said(), "claimed");  // and then the process dies
  clock.advance(IdempotencyStore::kClaim - 1s);
  EXPECT_EQ(said(), "InProgress");
  clock.advance(1s);
  EXPECT_EQ(said(), "OutcomeUnknown");
  EXPECT_EQ(said("{1}"), "IdempotencyKeyReused");
  clock.advance(IdempotencyStore::kKeep);
  EXPECT_EQ(said(), "claimed");
}

TEST_F(IdempotencyTest, SaysSoAtOnceOfARequestThatIsKnownToHaveEndedSo) {
  ASSERT_TRUE(store.abandon(std::get<IdempotencyStore::Claimed>(*claim())));
  EXPECT_EQ(said(), "OutcomeUnknown");
  EXPECT_EQ(said("{1}"), "IdempotencyKeyReused");
  clock.advance(IdempotencyStore::kKeep);
  EXPECT_EQ(said(), "claimed");
}

TEST_F(IdempotencyTest, KeepsTheAnswerOfARequestThatTookLong) {
  const auto claimed = std::get<IdempotencyStore::Claimed>(*claim());
  clock.advance(IdempotencyStore::kClaim + 1s);
  ASSERT_TRUE(
      store.complete(claimed, {.status = 201, .content_type = {}, .headers = {}, .body = "made", .close = false}));
  EXPECT_EQ(said(), "made");
}

TEST_F(IdempotencyTest, RemembersThatARequestWasCarriedOutWhoseAnswerIsTooLargeToKeep) {
  const auto complete = [&](std::string body) {
    const auto claimed = std::get<IdempotencyStore::Claimed>(*claim());
    return store.complete(claimed,
                          {.status = 200, .content_type = {}, .headers = {}, .body = std::move(body), .close = false});
  };
  const std::string largest(IdempotencyStore::kMaxAnswerBytes, 'x');
  ASSERT_TRUE(complete(largest));
  EXPECT_EQ(said(), largest);
  clock.advance(25h);
  ASSERT_TRUE(complete(largest + "x"));
  EXPECT_EQ(said(), "AnswerNotKept");
  EXPECT_EQ(said("{1}"), "IdempotencyKeyReused");
  clock.advance(IdempotencyStore::kClaim + 1s);
  EXPECT_EQ(said(), "AnswerNotKept") << "it is known what became of it";
}

TEST_F(IdempotencyTest, FreesTheKeyOfARequestThatWasRefused) {
  ASSERT_TRUE(store.release(std::get<IdempotencyStore::Claimed>(*claim())));
  EXPECT_EQ(said(), "claimed");
}

}  // namespace
}  // namespace stator::app
