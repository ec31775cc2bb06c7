#include "stator/storage/postgres/servers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/base/test_eventually.h"
#include "stator/storage/postgres/test_place.h"
#include "stator/storage/postgres/test_proxy.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace stator::storage::postgres {
namespace {

using storage::testing::PostgresServer;
using testing::got;
using testing::PostgresPlace;
using testing::Proxy;
using testing::put_at;

ReachedServer named(std::string place, std::int64_t timeline, std::string lost = {}) {
  return {.place = std::move(place), .cluster = 7, .timeline = timeline, .lost = std::move(lost)};
}

class ServersTest : public ::testing::Test {
 protected:
  std::string chosen(const std::vector<ReachedServer>& servers, bool only_one = false) {
    const auto choice = servers_.choose(servers, only_one);
    return choice ? servers[choice->index].place : choice.error().message;
  }

  ManualClock clock_;
  const Statements statements_{"stator"};
  KnownCommits known_;
  StoreCondition condition_{clock_};
  Servers servers_{statements_, known_, condition_, clock_};
};

TEST_F(ServersTest, TakeTheOneThatWasPromotedLast) {
  EXPECT_EQ(chosen({named("a", 1), named("b", 2)}), "b");
  EXPECT_EQ(servers_.preferred(), "b");
  EXPECT_EQ(chosen({named("a", 1)}), "another server has been promoted since, and cannot be reached");
  EXPECT_EQ(chosen({named("a", 3), named("b", 2)}), "a") << "it has followed the other one, and was promoted again";
  EXPECT_FALSE(condition_.is_lost());
}

TEST_F(ServersTest, BeginAnEraWithEachPromotion) {
  const auto first = servers_.choose({named("a", 1)}, false).value().era;
  EXPECT_EQ(servers_.choose({named("b", 1)}, false).value().era, first) << "the same server by another name";
  EXPECT_NE(servers_.choose({named("b", 2)}, false).value().era, first);
}

TEST_F(ServersTest, AreKnownByTheirCommitsAloneWhereTheyHaveNoTimelines) {
  EXPECT_EQ(chosen({named("a", 0)}), "a");
  EXPECT_EQ(chosen({named("a", 0, "lost some"), named("b", 0)}), "b");
  EXPECT_EQ(chosen({named("a", 0, "lost some")}), "lost some; restart this one to use it again");
}

TEST_F(ServersTest, ThatAreBehindAreTurnedAwayForAWhileBeforeTheStoreIsLost) {
  EXPECT_EQ(chosen({named("a", 1)}), "a");
  EXPECT_EQ(chosen({named("b", 2, "lost some")}), "lost some");
  clock_.advance(Servers::kPatience - std::chrono::seconds(1));
  EXPECT_EQ(chosen({named("b", 2, "lost some")}), "lost some");
  EXPECT_EQ(chosen({named("b", 2)}), "the database has lost commits") << "others have made new commits there";
  EXPECT_EQ(chosen({named("b", 2), named("c", 2)}), "the database has lost commits");
  EXPECT_FALSE(condition_.is_lost());
  EXPECT_EQ(chosen({named("b", 2), named("c", 3)}), "c");
  clock_.advance(Servers::kPatience);
  EXPECT_EQ(chosen({named("c", 3, "lost some")}), "lost some") << "the time begins anew";
  clock_.advance(Servers::kPatience);
  chosen({named("c", 3, "lost some")});
  EXPECT_TRUE(condition_.is_lost());
}

TEST_F(ServersTest, MeanThatTheStoreIsLostAtOnceWhenThereIsNoOther) {
  EXPECT_EQ(chosen({named("a", 1)}, true), "a");
  chosen({named("a", 1, "lost some")}, true);
  EXPECT_TRUE(condition_.is_lost());
}

TEST_F(ServersTest, AreTurnedAwayByTheirOldTimelineAlsoWhenTheyAreBehind) {
  EXPECT_EQ(chosen({named("a", 1), named("b", 2)}), "b");
  clock_.advance(2 * Servers::kPatience);
  chosen({named("a", 1, "lost some")}, true);
  EXPECT_FALSE(condition_.is_lost()) << "an old primary says nothing about the store";
}

TEST_F(ServersTest, TellTheirTimelineToARoleWithoutPrivileges) {
  testing::run_sql("CREATE ROLE ordinary LOGIN");
  auto url = PostgresServer::shared().url();
  url.replace(url.find("stator@"), 7, "ordinary@");
  const auto connection = Connection::open(Libpq::load().value(), {.url = url}).value();
  const auto found = servers_.look_at(*connection);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_GE(found->timeline, 1);
  EXPECT_NE(found->cluster, 0);
}

// Two clusters stand for a primary and a server that is behind.
class TwoServers : public ::testing::Test {
 protected:
  Proxy proxy_{PostgresServer::shared().socket_path()};
  PostgresServer behind_;
};

TEST_F(TwoServers, OneThatIsBehindGetsNeitherReadsNorWrites) {
  const auto folder = behind_.socket_path().substr(0, behind_.socket_path().rfind('/'));
  PostgresPlace place({.url = PostgresServer::url_at(fmt::format("{},{}", proxy_.folder(), folder)),
                       .sharing = PostgresSharing::Shared});
  auto old = place.options();
  old.url = behind_.url();
  ASSERT_TRUE(make_postgres_schema(old));
  const auto store = place.open();
  ASSERT_TRUE(put_at(*store, "k", "1"));
  EXPECT_EQ(got(*store, "k"), "1");

  proxy_.refuse(true);
  proxy_.break_connections();
  EXPECT_FALSE(put_at(*store, "k", "2"));
  EXPECT_FALSE(store->get("k"));
  EXPECT_FALSE(store->recover());
  EXPECT_EQ(store->health().trouble, StoreTrouble::Unreachable) << store->health().cause;

  proxy_.refuse(false);
  EXPECT_TRUE(eventually([&] { return store->recover().ok(); }));
  EXPECT_EQ(got(*store, "k"), "1");
  EXPECT_TRUE(put_at(*store, "k", "2"));
  const auto other = open_postgres_store(old);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ((*other)->last_commit().value, 0U) << "nothing was written there";
}

}  // namespace
}  // namespace stator::storage::postgres

#endif
