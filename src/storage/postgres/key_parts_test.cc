#include "stator/storage/postgres/key_parts.h"

#include <gtest/gtest.h>

#include "stator/base/random.h"

namespace stator::storage::postgres {
namespace {

TEST(KeyParts, OfAShortKeyAreItsHead) {
  const Bytes key(KeyParts::kHeadBytes, 'k');
  const KeyParts parts(key);
  EXPECT_EQ(parts.head, key);
  EXPECT_TRUE(parts.tail.empty());
  EXPECT_TRUE(parts.digest.empty());
}

TEST(KeyParts, OfALongKeyHaveADigestOfTheTail) {
  const KeyParts parts(Bytes(KeyParts::kHeadBytes, 'k') + "abc");
  EXPECT_EQ(parts.digest.size(), 32U);
  EXPECT_EQ(hex(parts.digest).substr(0, 11), "ba 78 16 bf");  // SHA-256 of "abc"
}

TEST(KeyParts, HaveTheOrderOfTheKeys) {
  Random random(1);
  const Bytes common(KeyParts::kHeadBytes - 2, 'k');
  for (int i = 0; i < 2000; ++i) {
    const auto key = [&] {
      auto bytes = common.substr(0, common.size() - random.below(2));
      for (auto more = random.below(6); more > 0; --more) bytes.push_back("\0\x01\xff"[random.below(3)]);
      return bytes;
    };
    const auto a = key(), b = key();
    const KeyParts left(a), right(b);
    EXPECT_EQ(a < b, std::pair(left.head, left.tail) < std::pair(right.head, right.tail));
    EXPECT_EQ(a == b, left.head == right.head && left.digest == right.digest);
  }
}

}  // namespace
}  // namespace stator::storage::postgres
