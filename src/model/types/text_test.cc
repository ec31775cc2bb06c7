#include "stator/model/types/text.h"

#include <gtest/gtest.h>

namespace stator::model {
namespace {

std::string uuid(std::string text) { return normalise_uuid(text) ? text : "no"; }
std::string ulid(std::string text) { return normalise_ulid(text) ? text : "no"; }
std::string email(std::string text) { return normalise_email(text) ? text : "no"; }

TEST(TextKinds, Uuid) {
  EXPECT_EQ(uuid("123E4567-e89b-12d3-a456-426614174000"), "123e4567-e89b-12d3-a456-426614174000");
  for (const std::string text : {"", "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400",
                                 "123e4567-e89b-12d3-a456-4266141740000", "g23e4567-e89b-12d3-a456-426614174000"}) {
    EXPECT_EQ(uuid(text), "no") << text;
  }
}

TEST(TextCharacters, BlankIsWhatNobodyCanSee) {
  for (const std::string_view text : {"", " ", "\t\n", "\u00A0", "\u2003\u3000", "\u200B\u200D\uFEFF", "\u3164",
                                      "\u2800", "\u00AD", "\uFE0F", "\u2028", "\u202E", "\U000E0020"}) {
    EXPECT_TRUE(is_blank(text)) << text;
  }
  for (const std::string_view text : {"a", "  a", "\u00E9", "\u4E2D", "\U0001F600", ".", "\u200Bx"}) {
    EXPECT_FALSE(is_blank(text)) << text;
  }
}

TEST(TextCharacters, FindsAControlCharacterAtEveryPlace) {
  for (std::size_t size = 1; size <= 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (const char c : {'\0', '\x1F', '\x7F'}) {
        std::string text(size, '~');
        text[at] = c;
        EXPECT_EQ(find_control(text, true), static_cast<char32_t>(c)) << size << " " << at;
        text[at] = ' ';
        EXPECT_EQ(find_control(text, false), std::nullopt);
      }
    }
  }
}

TEST(TextCharacters, FindsControlCharacters) {
  using namespace std::string_view_literals;
  EXPECT_EQ(find_control("a\0b"sv, true), U'\0');
  EXPECT_EQ(find_control("a\x1F", true), char32_t{0x1F});
  EXPECT_EQ(find_control("\x7F", true), char32_t{0x7F});
  EXPECT_EQ(find_control("\u0080", true), char32_t{0x80});
  EXPECT_EQ(find_control("a\u009F", false), char32_t{0x9F});
  for (const auto& [text, found] : {std::pair("a\tb", U'\t'), std::pair("a\nb", U'\n'), std::pair("a\rb", U'\r'),
                                    std::pair("a\u2028b", U'\u2028'), std::pair("a\u2029b", U'\u2029')}) {
    EXPECT_EQ(find_control(text, false), found);
    EXPECT_EQ(find_control(text, true), std::nullopt);
  }
  EXPECT_EQ(find_control("\u00A0 \u2027 \u202A \u00E9 \U0001F600", false), std::nullopt);
}

TEST(TextKinds, Ulid) {
  EXPECT_EQ(ulid("01arz3ndektsv4rrffq69g5fav"), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
  EXPECT_EQ(ulid("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
  for (const std::string text :
       {"", "01ARZ3NDEKTSV4RRFFQ69G5FA", "81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAI"}) {
    EXPECT_EQ(ulid(text), "no") << text;
  }
}

TEST(TextKinds, Email) {
  EXPECT_EQ(email("Ann.Lee+x@Example.COM"), "Ann.Lee+x@example.com");
  EXPECT_EQ(email("jörg@münchen.de"), "jörg@münchen.de");
  for (const std::string text :
       {"", "ann", "@example.com", "ann@", "ann@localhost", "a..b@example.com", ".a@example.com", "a b@example.com",
        "a@b@example.com", "a@-example.com", "a@example..com", "a@exa_mple.com", "a@[127.0.0.1]"}) {
    EXPECT_EQ(email(text), "no") << text;
  }
  EXPECT_EQ(email(std::string(65, 'a') + "@example.com"), "no");
  EXPECT_EQ(email("a@" + std::string(63, 'b') + "." + std::string(63, 'b') + "." + std::string(63, 'b') + "." +
                  std::string(63, 'b') + ".com"),
            "no");
}

TEST(TextKinds, Url) {
  for (const std::string_view text : {"http://a", "HTTPS://Example.com:8080/x?y=%20#z", "https://münchen.de/ä",
                                      "http://[::1]:80/", "http://127.0.0.1?x", "https://example.com/(a)'b'"}) {
    EXPECT_TRUE(is_url(text)) << text;
  }
  for (const std::string_view text :
       {"", "example.com", "/x", "//example.com", "ftp://example.com", "javascript://x", "http://", "http:///x",
        "http://a b", "http://a/<x>", "http://user@example.com", "http://a:0", "http://a:65536",
        "http://a:", "http://[::1", "http://[]", "http://a\n", "http://-a"}) {
    EXPECT_FALSE(is_url(text)) << text;
  }
  EXPECT_TRUE(is_url("http://a/" + std::string(2039, 'x')));
  EXPECT_FALSE(is_url("http://a/" + std::string(2040, 'x')));
}

}  // namespace
}  // namespace stator::model
