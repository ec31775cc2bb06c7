#include "stator/app/auth/crypto.h"

#include <gtest/gtest.h>

#include "stator/base/bytes.h"
#include "stator/base/constant_time.h"

namespace stator::app {
namespace {

TEST(Sha256, IsTheSameInParts) {
  const std::string_view parts[] = {"a", "", "bc"};
  EXPECT_EQ(sha256(parts), sha256("abc"));
  EXPECT_EQ(sha256(std::span<const std::string_view>()), sha256(""));
}

TEST(Base64Url, IsRfc4648WithoutPadding) {
  EXPECT_EQ(base64url(""), "");
  EXPECT_EQ(base64url("f"), "Zg");
  EXPECT_EQ(base64url("fo"), "Zm8");
  EXPECT_EQ(base64url("foo"), "Zm9v");
  EXPECT_EQ(base64url("\xff\xef\xfe"), "_-_-");
}

TEST(Base64Url, ReadsBackWhatItWrote) {
  for (std::size_t length = 0; length < 70; ++length) {
    const auto bytes = random_bytes(length);
    EXPECT_EQ(decode_base64url(base64url(bytes)), bytes);
  }
}

TEST(Base64Url, RefusesEveryOtherSpelling) {
  for (const auto* text : {"Zg==", "Z", "Zh", "Zm9", "Zm 8", "Zm+8", "Zm/8"})
    EXPECT_FALSE(decode_base64url(text)) << text;
}

TEST(Hmac, IsRfc4231) {
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")).substr(0, 23), "5b dc c1 46 bf 60 75 4e");
}

TEST(Aes, CounterModeIsItsOwnInverse) {
  const auto key = random_bytes(32);
  const auto initial = random_bytes(16);
  const auto hidden = aes256_ctr(key, initial, "the end of a page");
  EXPECT_NE(hidden, "the end of a page");
  EXPECT_EQ(aes256_ctr(key, initial, hidden), "the end of a page");
}

TEST(ConstantTime, ComparesBytes) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
}

}  // namespace
}  // namespace stator::app
