#include "stator/value/utf8_source.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stator/base/test_pieces.h"

namespace stator::value {
namespace {

using stator::testing::Pieces;

// "it is not UTF-8", or all of it with a | behind each piece.
std::string read(std::string_view text, std::size_t size) {
  Pieces pieces(text, size);
  Utf8Source source(pieces);
  std::string all;
  while (true) {
    const auto piece = source.next();
    if (!piece) return piece.error().message;
    if (piece->empty()) return all;
    all += std::string(*piece) + "|";
  }
}

TEST(Utf8Source, KeepsCharactersWhole) {
  EXPECT_EQ(read("aé€😀", 100), "aé€😀|");
  EXPECT_EQ(read("aé€😀", 1), "a|é|€|😀|");
  EXPECT_EQ(read("aé€😀", 2), "a|é|€|😀|");
  EXPECT_EQ(read("", 1), "");
}

TEST(Utf8Source, LeavesOutAByteOrderMarkInFront) {
  EXPECT_EQ(read("\xEF\xBB\xBFid", 100), "id|");
  EXPECT_EQ(read("\xEF\xBB\xBFid", 1), "i|d|");
  EXPECT_EQ(read("i\xEF\xBB\xBF", 100), "i\xEF\xBB\xBF|");
}

TEST(Utf8Source, RefusesWhatIsNotUtf8) {
  for (const std::string_view bytes :
       {"\xff", "a\x80", "\xc3", "a\xe2\x82", "\xf0\x9f\x98", "\xc0\xaf", "\xed\xa0\x80"}) {
    for (const std::size_t size : {1UL, 2UL, 100UL}) EXPECT_EQ(read(bytes, size), "it is not UTF-8") << size;
  }
}

}  // namespace
}  // namespace stator::value
