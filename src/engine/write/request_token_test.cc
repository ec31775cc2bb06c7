#include "stator/engine/write/request_token.h"

#include <gtest/gtest.h>

#include "stator/engine/test_database.h"
#include "stator/engine/test_support.h"

namespace stator::engine {
namespace {

using namespace testing;

class RequestTokenTest : public ::testing::Test {
 protected:
  RequestTokenTest() { table_ = database_.create_table(table("Items", keys({"pk:S"}))).value(); }

  // A transaction with the token "once" that puts an item.
  Result<WriteOutcome> put(std::uint64_t fingerprint, std::size_t padding) {
    WriteRequest request;
    request.token = RequestToken{"once", fingerprint};
    auto& action = request.actions.emplace_back();
    action.table = table_;
    action.item = {{"pk", S("k")}, {"d", S(std::string(padding, 'x'))}};
    return database_.write(std::move(request));
  }

  TestDatabase database_;
  TablePtr table_;
};

TEST_F(RequestTokenTest, RemembersWhatTheItemsWere) {
  EXPECT_FALSE(put(7, 9000)->repeated);
  const auto again = put(7, 9000);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(again->actions[0].units.table, 3) << "4 KB each";

  const auto record = database_.store().get(request_token_key("once")).value();
  ASSERT_TRUE(record);
  EXPECT_TRUE(RequestToken::is_record(*record));
  EXPECT_EQ(record->substr(17), Bytes("\0\0\x23\x2c", 4)) << "the size of the item: 2 + 1 + 1 + 9000";
}

TEST_F(RequestTokenTest, RefusesAnotherTransaction) {
  EXPECT_TRUE(put(7, 1));
  const auto other = put(8, 1);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::IdempotentMismatch);
}

TEST_F(RequestTokenTest, UnderstandsVersionOneWhichHasNoSizes) {
  Bytes record("\1", 1);
  append_u64be(record, static_cast<std::uint64_t>(database_.clock().now().time_since_epoch().count()));
  append_u64be(record, 7);
  EXPECT_TRUE(RequestToken::is_record(record));
  storage::Batch batch;
  batch.put(request_token_key("once"), record);
  ASSERT_TRUE(database_.store().commit(std::move(batch)));

  const auto again = put(7, 9000);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(again->actions[0].units.table, 1) << "the least there is";
}

TEST(RequestToken, KnowsItsRecords) {
  const Bytes head(16, '\0');
  EXPECT_TRUE(RequestToken::is_record("\2" + head));
  EXPECT_TRUE(RequestToken::is_record("\2" + head + "size"));
  EXPECT_FALSE(RequestToken::is_record("\2" + head + "half a size"));
  EXPECT_FALSE(RequestToken::is_record("\1" + head + "size"));
  EXPECT_FALSE(RequestToken::is_record("\3" + head));
  EXPECT_FALSE(RequestToken::is_record(""));
}

}  // namespace
}  // namespace stator::engine
