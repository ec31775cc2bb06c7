#include "stator/app/rest/routes/page_token.h"

#include <gtest/gtest.h>

#include "stator/app/auth/crypto.h"

namespace stator::app {
namespace {

using value::AttributeValue;

const value::Item kShelf{{"status", AttributeValue::string("READING")}};
const std::optional<std::string> kAnn = "ann";
const std::optional<std::string> kBob = "bob";
const std::optional<std::string> kNobody;
const PageBinding kBinding{.system = "books", .pattern = "by_status", .parameters = kShelf, .subject = kAnn};

runtime::PageEnd two_shards() {
  return {.keys = {{{"PK", AttributeValue::string("USER#ann")}, {"SK", AttributeValue::number(7)}}, {}},
          .done = {false, true}};
}

TEST(PageToken, GivesBackTheEndOfThePage) {
  const PageTokens tokens("secret");
  const auto end = tokens.open(tokens.seal(two_shards(), kBinding), kBinding);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->keys, two_shards().keys);
  EXPECT_EQ(end->done, two_shards().done);
}

TEST(PageToken, ShowsNothingOfTheKeys) {
  const auto bytes = decode_base64url(PageTokens("secret").seal(two_shards(), kBinding));
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->find("USER"), std::string::npos);
}

TEST(PageToken, IsOfOneListOfOneUser) {
  const PageTokens tokens("secret");
  const auto token = tokens.seal(two_shards(), kBinding);
  const value::Item other_shelf{{"status", AttributeValue::string("READ")}};
  const PageBinding others[] = {
      {.system = "films", .pattern = "by_status", .parameters = kShelf, .subject = kAnn},
      {.system = "books", .pattern = "by_title", .parameters = kShelf, .subject = kAnn},
      {.system = "books", .pattern = "by_status", .parameters = other_shelf, .subject = kAnn},
      {.system = "books", .pattern = "by_status", .parameters = kShelf, .subject = kBob},
      {.system = "books", .pattern = "by_status", .parameters = kShelf, .subject = kNobody},
  };
  for (const auto& other : others) EXPECT_FALSE(tokens.open(token, other));
  EXPECT_FALSE(PageTokens("another secret").open(token, kBinding));
}

TEST(PageToken, IsRefusedWhenAnyBitOfItWasChanged) {
  const PageTokens tokens("secret");
  const auto bytes = *decode_base64url(tokens.seal(two_shards(), kBinding));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(tokens.open(base64url(changed), kBinding)) << i;
  }
  for (const auto* text : {"", "x", "AAAA", "not base64!"}) EXPECT_FALSE(tokens.open(text, kBinding));
}

}  // namespace
}  // namespace stator::app
