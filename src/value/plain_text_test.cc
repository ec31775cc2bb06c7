#include "stator/value/plain_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace stator::value {
namespace {

TEST(PlainText, EndsAtWhatJsonEscapesWhereverItIs) {
  for (const char special : {'"', '\\', '\n', '\0', '\x1F'}) {
    for (std::size_t size = 0; size < 70; ++size) {
      for (std::size_t at = 0; at < size; ++at) {
        std::string text(size, 'x');
        text[at] = special;
        EXPECT_EQ(plain_length(text), at) << "byte " << int{special} << " of " << size;
      }
    }
  }
  for (int byte = 0x20; byte < 0x100; ++byte) {
    if (byte == '"' || byte == '\\') continue;
    for (std::size_t size = 0; size < 70; ++size) {
      EXPECT_EQ(plain_length(std::string(size, static_cast<char>(byte))), size) << "byte " << byte;
    }
  }
  EXPECT_EQ(plain_length(""), 0U);
}

TEST(PlainText, KnowsAsciiWhereverSomethingElseIs) {
  for (std::size_t size = 0; size < 70; ++size) {
    EXPECT_TRUE(is_ascii(std::string(size, '\x7F'))) << size;
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'x');
      text[at] = '\x80';
      EXPECT_FALSE(is_ascii(text)) << at << " of " << size;
    }
  }
}

TEST(PlainText, CountsBytes) {
  for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 100U, 4079U, 4080U, 4081U, 10'000U}) {
    const std::string all(size, ',');
    EXPECT_EQ(count_bytes(all, ','), size);
    EXPECT_EQ(count_bytes(all, ':'), 0U);
    std::string some(size, 'x');
    for (std::size_t i = 0; i < size; i += 3) some[i] = ':';
    EXPECT_EQ(count_bytes(some, ':'), (size + 2) / 3);
  }
}

TEST(PlainText, CountsCodePointsHoweverLongTheyAre) {
  EXPECT_EQ(count_code_points("naïve😀"), 6U);
  EXPECT_EQ(count_code_points(""), 0U);
  for (const std::string one : {"x", "ï", "€", "😀"}) {
    std::string text;
    for (std::size_t count = 0; count < 50; ++count, text += one) EXPECT_EQ(count_code_points(text), count) << one;
  }
}

}  // namespace
}  // namespace stator::value
