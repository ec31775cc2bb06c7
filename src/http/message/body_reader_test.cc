#include "stator/http/message/body_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace stator::http {
namespace {

constexpr std::size_t kLimit = 1 << 20;

// All pieces together, and how large the largest was.
struct Read {
  std::string text;
  std::size_t largest = 0;
};

Result<Read> read_all(BodyReader reader) {
  Read all;
  while (true) {
    const auto piece = TRY(reader.next());
    if (piece.empty()) return all;
    all.text += piece;
    all.largest = std::max(all.largest, piece.size());
  }
}

TEST(BodyReader, GivesABodyInPieces) {
  for (const std::size_t size : {0UL, 1UL, BodyReader::kPieceBytes, BodyReader::kPieceBytes + 1, kLimit}) {
    std::string text;
    while (text.size() < size) text += std::to_string(text.size());
    text.resize(size);
    const auto plain = read_all(BodyReader("", text, kLimit));
    ASSERT_TRUE(plain) << size;
    EXPECT_EQ(plain->text, text);
    EXPECT_LE(plain->largest, BodyReader::kPieceBytes);
    for (const auto coding : {ContentCoding::Gzip, ContentCoding::Deflate}) {
      const auto encoded = encode_content(coding, text);
      const auto inflated = read_all(BodyReader(name_of(coding), encoded, kLimit));
      ASSERT_TRUE(inflated) << size << name_of(coding);
      EXPECT_EQ(inflated->text, text);
      EXPECT_LE(inflated->largest, BodyReader::kPieceBytes);
    }
  }
}

TEST(BodyReader, StopsAtTheLimitAndAtWhatIsNotOfTheCoding) {
  const auto large = encode_content(ContentCoding::Gzip, std::string(kLimit + 1, ' '));
  EXPECT_EQ(read_all(BodyReader("gzip", large, kLimit)).error().code, ErrorCode::LimitExceeded);
  const std::string plain(kLimit + 1, ' ');
  EXPECT_EQ(read_all(BodyReader("", plain, kLimit)).error().code, ErrorCode::LimitExceeded);
  EXPECT_EQ(read_all(BodyReader("gzip", "{}", kLimit)).error().code, ErrorCode::Internal);
  const auto cut_off = encode_content(ContentCoding::Gzip, "{}");
  EXPECT_EQ(read_all(BodyReader("gzip", std::string_view(cut_off).substr(0, cut_off.size() - 1), kLimit)).error().code,
            ErrorCode::Internal);
  EXPECT_EQ(read_all(BodyReader("br", "{}", kLimit)).error().code, ErrorCode::Internal);
}

}  // namespace
}  // namespace stator::http
