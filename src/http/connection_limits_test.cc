#include "stator/http/connection_limits.h"

#include <gtest/gtest.h>

namespace stator::http {
namespace {

boost::asio::ip::address address(const char* text) { return boost::asio::ip::make_address(text); }

TEST(Network, IsAnAddressOrAllThatBeginLikeIt) {
  EXPECT_TRUE(Network::parse("10.1.2.3")->contains(address("10.1.2.3")));
  EXPECT_FALSE(Network::parse("10.1.2.3")->contains(address("10.1.2.4")));
  EXPECT_TRUE(Network::parse("10.0.0.0/9")->contains(address("10.127.0.1")));
  EXPECT_FALSE(Network::parse("10.0.0.0/9")->contains(address("10.128.0.1")));
  EXPECT_TRUE(Network::parse("fd00::/8")->contains(address("fdff::1")));
  EXPECT_FALSE(Network::parse("10.0.0.0/8")->contains(address("fd00::1")));
  EXPECT_TRUE(Network::parse("10.0.0.0/8")->contains(address("::ffff:10.0.0.1"))) << "IPv4 on a socket for both";
  EXPECT_TRUE(Network::parse("0.0.0.0/0")->contains(address("192.0.2.1")));
}

TEST(Network, RefusesWhatIsNone) {
  for (const char* text : {"", "example.org", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8x", "fd00::/129", "/8"}) {
    EXPECT_FALSE(Network::parse(text)) << text;
  }
}

TEST(ConnectionLimits, BoundsAllTogether) {
  ConnectionLimits limits({.total = 2});
  EXPECT_EQ(limits.enter(address("127.0.0.1")), "");
  EXPECT_EQ(limits.enter(address("192.0.2.1")), "");
  EXPECT_EQ(limits.enter(address("127.0.0.1")), "too many connections");
  limits.leave(address("127.0.0.1"));
  limits.leave(address("192.0.2.1"));
  EXPECT_EQ(limits.enter(address("127.0.0.1")), "");
}

TEST(ConnectionLimits, BoundsEachAddressButThisMachineAndProxies) {
  ConnectionLimits limits({.per_address = 1, .proxies = {*Network::parse("198.51.100.0/24")}});
  for (const char* free : {"127.0.0.1", "::1", "198.51.100.7"}) {
    SCOPED_TRACE(free);
    EXPECT_EQ(limits.enter(address(free)), "");
    EXPECT_EQ(limits.enter(address(free)), "");
  }
  for (const char* bound : {"192.0.2.1", "2001:db8::1"}) {
    SCOPED_TRACE(bound);
    EXPECT_EQ(limits.enter(address(bound)), "");
    EXPECT_EQ(limits.enter(address(bound)), "too many connections from this address");
    limits.leave(address(bound));
    limits.leave(address(bound));
    EXPECT_EQ(limits.enter(address(bound)), "");
  }
  EXPECT_EQ(limits.enter(address("2001:db8::2")), "too many connections from this address")
      << "one network, one client";
  EXPECT_EQ(limits.enter(address("192.0.2.2")), "");
}

}  // namespace
}  // namespace stator::http
