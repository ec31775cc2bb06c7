#include "stator/http/message/content_coding.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/base/random.h"

namespace stator::http {
namespace {

constexpr std::size_t kLimit = 1 << 20;

TEST(AcceptedCoding, IsTheOneTheServiceWouldChoose) {
  struct Case {
    std::string_view header, chosen;
  };
  for (const auto& [header, chosen] : {
           Case{"", ""},
           Case{"identity", ""},
           Case{"br", ""},
           Case{"x-gzip", ""},
           Case{"gzip", "gzip"},
           Case{"deflate", "deflate"},
           Case{"GZIP, identity", "gzip"},
           Case{"br, identity, deflate, gzip", "deflate"},
           Case{"dog, gzip ,, cat", "gzip"},
           Case{"gzip;q=0.8, deflate;q=0.5", "gzip"},
           Case{"br, gzip;q=0, deflate; q = 0.5 , identity;q=0", "deflate"},
           Case{"*", "gzip"},
           Case{"*, deflate", "deflate"},
           Case{"*, deflate;q=0.5", "gzip"},
           Case{"*, gzip;q=0.5", "deflate"},
           Case{"*;q=0", ""},
           Case{"*;q=0.5,identity", "gzip"},
           Case{"gzip ;q=0", ""},
           Case{"\"gzip\"", ""},
           Case{"gzip br", ""},
           Case{"gzip:q=1", ""},
           Case{"gzip;q=31,deflate;q=51", "gzip"},
           Case{"deflate;q=0.5, gzip;q=1;q=0.2", "gzip"},
           Case{"deflate;q=0.5,gzip;q=0.", "deflate"},
           Case{"deflate;q=0.5,gzip;q=0.x", "gzip"},
           Case{"deflate;q=0.5,gzip;q=0. x", "gzip"},
           Case{"deflate;q=-0.5,gzip;q=0.2", "gzip"},
           Case{"gzip;q= 0;q=1", ""},
           Case{"gzip;q =0;q=1", "gzip"},
           Case{"gzip;nq=0;q=1", ""},
           Case{"gzip;q=0, gzip;q=1, gzip;q=0", "gzip"},
           Case{"br,identity;q=0.5,gzip;q=0.0001", "gzip"},
       }) {
    EXPECT_EQ(name_of(accepted_coding(header)), chosen) << header;
  }
}

TEST(ContentCoding, GivesBackWhatItWasGiven) {
  auto random = Random(1);
  for (const std::size_t size : {0u, 1u, 4096u, 300'000u}) {
    std::string text(size, 'x');
    for (auto& c : text) c = static_cast<char>('a' + random.next() % 20);
    for (const auto coding : {ContentCoding::Gzip, ContentCoding::Deflate}) {
      SCOPED_TRACE(fmt::format("{} bytes, {}", size, name_of(coding)));
      const auto decoded = decode_content(name_of(coding), encode_content(coding, text), kLimit);
      ASSERT_TRUE(decoded);
      EXPECT_EQ(*decoded, text);
    }
  }
  EXPECT_EQ(decode_content("identity", "text", kLimit).value(), "text");
}

TEST(ContentCoding, TakesSeveralGzipMembersInARow) {
  const auto two = encode_content(ContentCoding::Gzip, "one ") + encode_content(ContentCoding::Gzip, "two");
  EXPECT_EQ(decode_content("gzip", two, kLimit).value(), "one two");
}

TEST(ContentCoding, HoldsTheResultToTheLimit) {
  for (const auto coding : {ContentCoding::Gzip, ContentCoding::Deflate}) {
    SCOPED_TRACE(name_of(coding));
    EXPECT_TRUE(decode_content(name_of(coding), encode_content(coding, std::string(1000, ' ')), 1000));
    for (const std::size_t size : {1001u, 50'000'000u}) {
      const auto decoded = decode_content(name_of(coding), encode_content(coding, std::string(size, ' ')), 1000);
      ASSERT_FALSE(decoded);
      EXPECT_EQ(decoded.error().code, ErrorCode::LimitExceeded);
    }
  }
}

TEST(ContentCoding, SaysWhetherABodyIsTooLargeAsSentOrOnceInflated) {
  const auto inflated = decode_content("gzip", encode_content(ContentCoding::Gzip, std::string(11, ' ')), 10);
  EXPECT_EQ(inflated.error().message, "the request's body is larger than 10 bytes once inflated");
  const auto sent = decode_content("", std::string(11, ' '), 10);
  EXPECT_EQ(sent.error().message, "the request's body is larger than 10 bytes");
}

TEST(ContentCoding, TakesNoMoreMemoryThanThereIs) {
  constexpr std::size_t kBody = 300'000;
  const auto encoded = encode_content(ContentCoding::Gzip, std::string(kBody, ' '));
  for (const std::size_t limit : {100'000u, 400'000u, 10'000'000u}) {
    SCOPED_TRACE(limit);
    MemoryBudget budget(limit);
    MemoryClaim claim(&budget, MemoryPart::Bodies);
    const auto decoded = decode_content("gzip", encoded, kLimit, &claim);
    EXPECT_LE(budget.used(), limit);
    if (limit > 10 * kBody) {
      ASSERT_TRUE(decoded);
      EXPECT_GE(claim.bytes(), kBody);
    } else {
      ASSERT_FALSE(decoded);
      EXPECT_EQ(decoded.error().code, ErrorCode::Busy);
    }
  }
}

TEST(Compress, EncodesLargeAnswersForThoseWhoAcceptIt) {
  struct Case {
    std::size_t bytes;
    std::string_view accept_encoding, headers;
  };
  for (const auto& [bytes, accept_encoding, headers] :
       {Case{1001, "gzip", "A: b\r\nContent-Encoding: gzip\r\n"}, Case{1000, "gzip", "A: b\r\n"},
        Case{1001, "", "A: b\r\n"}, Case{1001, "br", "A: b\r\n"},
        Case{1001, "gzip;q=0, deflate", "A: b\r\nContent-Encoding: deflate\r\n"}}) {
    SCOPED_TRACE(fmt::format("{} bytes, {}", bytes, accept_encoding));
    const std::string body(bytes, 'x');
    Response response{.status = 200, .content_type = {}, .headers = "A: b\r\n", .body = body};
    const bool compressed = compress(response, accept_encoding, 1000);
    EXPECT_EQ(response.headers, headers);
    EXPECT_EQ(compressed, response.body != body);
    const auto coding = name_of(compressed ? accepted_coding(accept_encoding) : ContentCoding::Identity);
    EXPECT_EQ(decode_content(coding, response.body, kLimit).value(), body);
  }
}

TEST(ContentCoding, RefusesWhatIsDamaged) {
  const auto good = encode_content(ContentCoding::Gzip, "{}");
  const auto deflated = encode_content(ContentCoding::Deflate, "{}");
  struct Case {
    std::string_view coding;
    std::string body;
  };
  for (const auto& [coding, body] :
       {Case{"gzip", ""}, Case{"gzip", "{}"}, Case{"gzip", good + "junk"},
        Case{"gzip", good.substr(0, good.size() - 1)}, Case{"deflate", ""}, Case{"deflate", "{}"},
        Case{"deflate", deflated + deflated}, Case{"garbage", "{}"}}) {
    const auto decoded = decode_content(coding, body, kLimit);
    ASSERT_FALSE(decoded) << coding << " " << body;
    EXPECT_EQ(decoded.error().code, ErrorCode::Internal);
  }
}

}  // namespace
}  // namespace stator::http
