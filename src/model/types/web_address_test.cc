#include "stator/model/types/web_address.h"

#include <gtest/gtest.h>

namespace stator::model {
namespace {

struct Case {
  std::string_view given, expected;
};

TEST(NormalDomain, HasOneSpelling) {
  for (const auto& [given, expected] :
       {Case{"example.com", "example.com"}, Case{"HTTPS://www.Example.COM:443/a?b#c", "example.com"},
        Case{"user:secret@shop.example.com", "shop.example.com"}, Case{"Müller.de", "xn--mller-kva.de"},
        Case{"example.com.", "example.com"}, Case{"www.com", "www.com"},
        Case{"my_Shop.example.com", "my_shop.example.com"}, Case{"_a_.Müller.de", "_a_.xn--mller-kva.de"}}) {
    const auto domain = normal_domain(given);
    ASSERT_TRUE(domain) << given << ": " << domain.error().message;
    EXPECT_EQ(*domain, expected) << given;
  }
}

TEST(NormalDomain, RefusesWhatIsNone) {
  for (const auto* given : {"", "https://", "a b.com", "-a.com", "a..com", "a$b.com", "#x"})
    EXPECT_FALSE(normal_domain(given)) << given;
}

TEST(CanonicalUrl, HasOneSpelling) {
  for (const auto& [given, expected] :
       {Case{"https://example.com/products/item-123", "https://example.com/products/item-123"},
        Case{"HTTP://EXAMPLE.com:80", "http://example.com/"},
        Case{"https://example.com:8443/a", "https://example.com:8443/a"},
        Case{"https://example.com:08443/a", "https://example.com:8443/a"},
        Case{"https://example.com:000443/a", "https://example.com/a"},
        Case{"https://example.com:/a", "https://example.com/a"},
        Case{"https://example.com:80/a", "https://example.com:80/a"},
        Case{"https://example.com:65535/", "https://example.com:65535/"},
        Case{"https://example.com/a/./b/../c/", "https://example.com/a/c/"},
        Case{"https://example.com/..", "https://example.com/"},
        Case{"https://example.com/%7euser/%c3%a9", "https://example.com/~user/%C3%A9"},
        Case{"https://example.com/é b", "https://example.com/%C3%A9%20b"},
        Case{"https://u:p@example.com/?b=2&a=1#top", "https://example.com/?b=2&a=1"},
        Case{"https://example.com/?", "https://example.com/"},
        Case{"https://img_1.example.com/a", "https://img_1.example.com/a"}}) {
    const auto url = canonical_url(given);
    ASSERT_TRUE(url) << given << ": " << url.error().message;
    EXPECT_EQ(url->url, expected) << given;
    EXPECT_EQ(canonical_url(url->url)->url, expected) << "twice: " << given;
  }
}

TEST(CanonicalUrl, RefusesWhatIsNone) {
  for (const auto* given : {"", "example.com", "ftp://example.com", "https://", "https://exa mple.com",
                            "https://example.com:port/", "https://example.com:65536/", "https://example.com:99999/",
                            "https://example.com:4294967739/", "https://example.com:-1/", "https://example.com:+80/"}) {
    EXPECT_FALSE(canonical_url(given)) << given;
  }
}

TEST(CanonicalUrl, HasALongestSpelling) {
  const std::string start = "https://example.com/";
  EXPECT_TRUE(canonical_url(start + std::string(8000 - start.size(), 'x')));
  EXPECT_FALSE(canonical_url(start + std::string(8001 - start.size(), 'x')));
  EXPECT_FALSE(canonical_url(start + std::string(3000, ' '))) << "a space becomes %20";
}

TEST(BelongsTo, KnowsAShopsOwnNames) {
  EXPECT_TRUE(belongs_to("example.com", "example.com"));
  EXPECT_TRUE(belongs_to("www.example.com", "example.com"));
  EXPECT_FALSE(belongs_to("notexample.com", "example.com"));
  EXPECT_FALSE(belongs_to("example.com.evil.org", "example.com"));
}

}  // namespace
}  // namespace stator::model
