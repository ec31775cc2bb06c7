#include "stator/storage/postgres/server_address.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "stator/storage/testing/temporary_folder.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace stator::storage::postgres {
namespace {

std::string value_of(const ServerParameters& server, std::string_view keyword) {
  const auto found = std::ranges::find(server.values, keyword, &std::pair<std::string, std::string>::first);
  return found == server.values.end() ? "(none)" : found->second;
}

Result<ServerAddress> address_of(const std::string& url) { return read_address(*Libpq::load().value(), url); }

TEST(ServerAddress, LeadsToEachOfItsHosts) {
  const auto address = address_of("postgres://me@/db?host=/one,127.0.0.1&port=5433,5434&sslmode=require").value();
  ASSERT_EQ(address.servers.size(), 2U);
  EXPECT_EQ(value_of(address.servers[0], "host"), "/one");
  EXPECT_EQ(value_of(address.servers[0], "hostaddr"), "(none)");
  EXPECT_EQ(value_of(address.servers[0], "port"), "5433");
  EXPECT_EQ(value_of(address.servers[1], "host"), "127.0.0.1");
  EXPECT_EQ(value_of(address.servers[1], "hostaddr"), "127.0.0.1");
  EXPECT_EQ(value_of(address.servers[1], "port"), "5434");
  for (const auto& server : address.servers) {
    EXPECT_EQ(value_of(server, "user"), "me");
    EXPECT_EQ(value_of(server, "dbname"), "db");
    EXPECT_EQ(value_of(server, "sslmode"), "require");
  }
  EXPECT_NE(address.servers[0].place, address.servers[1].place);
}

TEST(ServerAddress, HasOnePortForAllOrOneForEach) {
  const auto address = address_of("postgres:///db?host=/one,/two&port=6000").value();
  EXPECT_EQ(value_of(address.servers.at(1), "port"), "6000");
  const auto wrong = address_of("postgres:///db?host=/one,/two,/three&port=6000,6001");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::Usage);
}

// libpq alone would take the first of them that accepts writes.
TEST(ServerAddress, HasTheHostsOfAService) {
  const storage::testing::TemporaryFolder folder;
  const auto file = folder.path() + "/services";
  std::ofstream(file) << "[pair]\nhost=/one,/two\nport=5433,5434\ndbname=db\n";
  ::setenv("PGSERVICEFILE", file.c_str(), 1);
  const auto address = address_of("postgres://me@/?service=pair").value();
  ASSERT_EQ(address.servers.size(), 2U);
  EXPECT_EQ(value_of(address.servers[1], "host"), "/two");
  EXPECT_EQ(value_of(address.servers[1], "port"), "5434");
  EXPECT_EQ(value_of(address.servers[1], "service"), "pair") << "libpq reads the rest";
  EXPECT_EQ(address_of("postgres://me@/?service=pair&host=/three&port=1").value().servers.size(), 1U);
  EXPECT_EQ(address_of("postgres://me@/?service=nobody").value().servers.size(), 1U) << "libpq refuses it";
  ::unsetenv("PGSERVICEFILE");
}

TEST(ServerAddress, BoundsHowLongALostMachineIsNotNoticedUnlessItSaysItself) {
  const auto by_default = address_of("postgres:///db?host=/one").value();
  EXPECT_EQ(value_of(by_default.servers[0], "keepalives_idle"), "4");
  EXPECT_EQ(value_of(by_default.servers[0], "keepalives_interval"), "2");
  EXPECT_EQ(value_of(by_default.servers[0], "keepalives_count"), "3");
  EXPECT_EQ(value_of(by_default.servers[0], "tcp_user_timeout"), "10000");
  EXPECT_EQ(by_default.connect_within, std::chrono::seconds(5));
  const auto own = address_of("postgres:///db?host=/one&keepalives_idle=60&tcp_user_timeout=1000&connect_timeout=9");
  EXPECT_EQ(value_of(own.value().servers[0], "keepalives_idle"), "60");
  EXPECT_EQ(value_of(own.value().servers[0], "tcp_user_timeout"), "1000");
  EXPECT_EQ(own.value().connect_within, std::chrono::seconds(9));
}

}  // namespace
}  // namespace stator::storage::postgres

#endif
