// Waits for a table: how long they last, and that a stop ends them.
#include <gtest/gtest.h>

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "stator/runtime/consistency/consistency_table.h"
#include "stator/runtime/repository.h"
#include "stator/runtime/test_support.h"

namespace stator::runtime {
namespace {

using namespace std::chrono_literals;

// A database whose tables never become active.
class SlowDatabase final : public client::Client {
 public:
  void call(std::string_view operation, std::string_view, api::ReplyCallback reply) override {
    reply({.outcome = std::string(operation == "DescribeTable" ? R"({"Table":{"TableStatus":"CREATING"}})" : "{}"),
           .table = {}});
  }
};

class WaitingForATable : public ::testing::Test {
 protected:
  SlowDatabase database_;
  ManualClock clock_;
  const WallTime start_ = clock_.now();
  Random random_{1};
  const std::shared_ptr<const model::Model> model_ = std::make_shared<const model::Model>(model::load_or_fail(kShelf));
  Repository repository_{model_, database_, clock_, random_};
  Dynamo dynamo_{database_, random_, clock_};
  ConsistencyTable table_{dynamo_, clock_, *model_};
};

TEST_F(WaitingForATable, EndsAfterMinutes) {
  EXPECT_EQ(told(repository_.open()), "503 TableNotActive");
  EXPECT_GT(clock_.now() - start_, 4min);
  EXPECT_LT(clock_.now() - start_, 6min);
  const auto then = clock_.now();
  EXPECT_EQ(told(table_.open()), "503 TableNotActive");
  EXPECT_GT(clock_.now() - then, 30s);
  EXPECT_LT(clock_.now() - then, 2min);
}

TEST_F(WaitingForATable, EndsAtOnceWhenItIsStopped) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(told(repository_.open(stop.get_token())), "503 Stopping");
  EXPECT_EQ(told(table_.open(stop.get_token())), "503 Stopping");
  EXPECT_EQ(clock_.now(), start_);
}

}  // namespace
}  // namespace stator::runtime
