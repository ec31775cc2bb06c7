#include "stator/http/origin.h"

#include <gtest/gtest.h>

namespace stator::http {
namespace {

TEST(Origin, IsReadFromAUrlAndPrintedAsOne) {
  struct Case {
    std::string_view url, host;
    std::uint16_t port;
    std::string_view authority, printed;
  };
  for (const auto& c : {
           Case{"http://127.0.0.1:8000", "127.0.0.1", 8000, "127.0.0.1:8000", "http://127.0.0.1:8000"},
           Case{"https://dynamodb.eu-central-1.amazonaws.com/", "dynamodb.eu-central-1.amazonaws.com", 443,
                "dynamodb.eu-central-1.amazonaws.com", "https://dynamodb.eu-central-1.amazonaws.com"},
           Case{"HTTP://localhost", "localhost", 80, "localhost", "http://localhost"},
           Case{"https://host:80", "host", 80, "host:80", "https://host:80"},
           Case{"http://[::1]:8000/", "::1", 8000, "[::1]:8000", "http://[::1]:8000"},
           Case{"https://[fe80::1]", "fe80::1", 443, "[fe80::1]", "https://[fe80::1]"},
       }) {
    SCOPED_TRACE(c.url);
    const auto origin = Origin::parse(c.url);
    ASSERT_TRUE(origin) << origin.error().message;
    EXPECT_EQ(origin->host, c.host);
    EXPECT_EQ(origin->port, c.port);
    EXPECT_EQ(origin->authority(), c.authority);
    EXPECT_EQ(origin->url(), c.printed);
  }
}

TEST(Origin, RefusesWhatItCannotKeep) {
  for (const auto* url :
       {"", "localhost:8000", "ftp://host", "http://", "http://:8000", "http://host:", "http://host:0",
        "http://host:65536", "http://host:8000x", "http://host/path", "http://host/?a=b", "http://user:secret@host",
        "http://[::1", "http://[x]", "http://[::1]8000", "http://::1", "http://ho st"}) {
    EXPECT_FALSE(Origin::parse(url)) << url;
  }
  EXPECT_EQ(
      Origin::parse("localhost:8000").error().message,
      "'localhost:8000' is not an endpoint: it begins with neither http:// nor https://; write http://host:port or "
      "https://host:port");
}

TEST(Origin, KnowsThisMachine) {
  for (const auto* url :
       {"http://localhost:1", "http://127.0.0.1", "https://127.1.2.3", "http://[::1]", "http://LOCALHOST"}) {
    EXPECT_TRUE(Origin::parse(url)->loopback()) << url;
  }
  for (const auto* url :
       {"http://128.0.0.1", "http://127.0.0.1.example.org", "http://localhost.example.org", "http://[::2]"}) {
    EXPECT_FALSE(Origin::parse(url)->loopback()) << url;
  }
}

}  // namespace
}  // namespace stator::http
