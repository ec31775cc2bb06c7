#include "stator/http/browser/host_check.h"

#include <gtest/gtest.h>

namespace stator::http {
namespace {

// The refusal of a request with these headers; empty when it is accepted.
std::string refusal(const HostRules& rules, std::vector<Header> headers) {
  Request request;
  request.headers = headers;
  return HostCheck(rules).objection(request).value_or("");
}

bool accepts(const HostRules& rules, std::vector<Header> headers) { return refusal(rules, std::move(headers)).empty(); }

TEST(HostCheck, AcceptsTheNamesOfLoopbackAddressesWithAnyPort) {
  for (const auto* host :
       {"localhost", "LocalHost:8000", "localhost.", "app.localhost:1", "a.b.LOCALHOST.", "127.0.0.1", "127.0.0.1:8000",
        "127.255.3.4:80", "[::1]", "[::1]:8000", "[0:0:0:0:0:0:0:1]:8000"}) {
    EXPECT_TRUE(accepts({}, {{"Host", host}})) << host;
    EXPECT_TRUE(accepts({}, {{"hOST", host}})) << host;
  }
}

TEST(HostCheck, RefusesEveryOtherName) {
  for (const auto* host :
       {"evil.example", "evil.example:8000", "localhost.evil.example", "notlocalhost", "127.0.0.1.evil.example",
        "128.0.0.1", "127.1", "0.0.0.0", "10.0.0.1:8000", "[::2]", "[::1", "[::1].evil.example.localhost]", "::1", "x",
        ":8000", "..localhost.x", "localhost@evil.example", "2130706433", "0x7f.0.0.1"}) {
    EXPECT_FALSE(accepts({}, {{"Host", host}})) << host;
  }
}

TEST(HostCheck, TellsWhichSettingAddsAName) {
  EXPECT_EQ(refusal({}, {{"Host", "db.example:8000"}}),
            "Host db.example is not a name of this machine. If it is meant to be one, start the server with "
            "--allowed-hosts db.example "
            "(the setting allowed_hosts).");
  EXPECT_TRUE(accepts({.allowed_hosts = {"db.example"}}, {{"Host", "DB.example:8000"}}));
  EXPECT_FALSE(accepts({.allowed_hosts = {"db.example"}}, {{"Host", "other.db.example"}}));
  EXPECT_TRUE(accepts({.allowed_hosts = {"[fd00::1]"}}, {{"Host", "[FD00::1]:8000"}}));
}

TEST(HostCheck, RepeatsOfARequestOnlyWhatCanBePrinted) {
  EXPECT_TRUE(refusal({}, {{"Host",
                            "a\"b\\\xFF"
                            "c"}})
                  .starts_with("Host a?b??c is not"));
  EXPECT_LT(refusal({}, {{"Host", std::string_view(std::string(5000, 'x'))}}).size(), 500U);
}

TEST(HostCheck, AcceptsAnOriginThatIsItsOwnOrConfigured) {
  const HostRules rules{.cors_origins = {"https://app.example", "null"}};
  EXPECT_TRUE(accepts({}, {{"Host", "localhost:8001"}, {"Origin", "http://localhost:8001"}}));
  EXPECT_TRUE(accepts({}, {{"Host", "127.0.0.1:8001"}, {"Origin", "HTTPS://127.0.0.1:8001"}}));
  EXPECT_TRUE(accepts(rules, {{"Host", "localhost:8001"}, {"Origin", "https://app.example"}}));
  EXPECT_TRUE(accepts(rules, {{"Host", "localhost:8001"}, {"Origin", "null"}}));
  EXPECT_TRUE(accepts({.cors_origins = {"*"}}, {{"Host", "localhost:8001"}, {"Origin", "null"}}));
}

TEST(HostCheck, RefusesEveryOtherOrigin) {
  const HostRules rules{.cors_origins = {"https://app.example"}};
  for (const auto* origin :
       {"http://localhost:3000", "http://localhost", "http://evil.example", "null", "", "localhost:8001",
        "ftp://localhost:8001", "http://app.example", "https://app.example:444", "http://localhost:8001/"}) {
    EXPECT_FALSE(accepts(rules, {{"Host", "localhost:8001"}, {"Origin", origin}})) << origin;
  }
  EXPECT_EQ(refusal({}, {{"Host", "localhost"}, {"Origin", "https://evil.example"}}),
            "Web pages of the origin https://evil.example may not call this server. If they are meant to, start it "
            "with --cors-origins "
            "https://evil.example (the setting cors_origins).");
  EXPECT_FALSE(
      accepts(rules, {{"Host", "localhost"}, {"Origin", "https://app.example"}, {"Origin", "https://app.example"}}));
}

TEST(HostCheck, AnOriginThatIsTheHostDoesNotMakeAStrangeHostOurs) {
  EXPECT_FALSE(accepts({}, {{"Host", "evil.example:8000"}, {"Origin", "http://evil.example:8000"}}));
  EXPECT_FALSE(
      accepts({.cors_origins = {"*"}}, {{"Host", "evil.example:8000"}, {"Origin", "http://evil.example:8000"}}));
}

TEST(HostCheck, ARequestWithoutAHostIsNotFromAPage) {
  EXPECT_TRUE(accepts({}, {}));
  EXPECT_FALSE(accepts({}, {{"Origin", "http://"}}));
  EXPECT_FALSE(accepts({}, {{"Origin", "http://evil.example"}}));
}

TEST(HostCheck, WhereAnyHostWillDoTheOriginStillMustBeItsOwn) {
  const HostRules rules{.any_host = true};
  EXPECT_TRUE(accepts(rules, {{"Host", "db.example"}}));
  EXPECT_TRUE(accepts(rules, {{"Host", "db.example"}, {"Origin", "https://db.example"}}));
  EXPECT_FALSE(accepts(rules, {{"Host", "db.example"}, {"Origin", "https://evil.example"}}));
}

}  // namespace
}  // namespace stator::http
