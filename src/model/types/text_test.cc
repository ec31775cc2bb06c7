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
