#include "stator/console/read_only.h"

#include <gtest/gtest.h>

namespace stator::console {
namespace {

TEST(ReadOnly, LetsReadingOperationsThrough) {
  for (const auto* operation : {"GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan", "DescribeTable",
                                "ListTables", "GetRecords", "GetShardIterator", "ListTagsOfResource"}) {
    EXPECT_TRUE(reads_only(operation, "{}")) << operation;
  }
  for (const auto* operation : {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems",
                                "CreateTable", "DeleteTable", "UpdateTimeToLive", "TagResource", "", "get"}) {
    EXPECT_FALSE(reads_only(operation, "{}")) << operation;
  }
}

TEST(ReadOnly, LetsStatementsThroughThatSelect) {
  EXPECT_TRUE(reads_only("ExecuteStatement", R"({"Statement":"  select * FROM T"})"));
  EXPECT_TRUE(reads_only("ExecuteStatement", R"({"Statement":"SELECT\"a\" FROM T"})"));
  EXPECT_TRUE(reads_only("BatchExecuteStatement", R"({"Statements":[{"Statement":"SELECT * FROM T"}]})"));
  EXPECT_TRUE(reads_only("ExecuteTransaction", R"({"TransactStatements":[{"Statement":"SELECT * FROM T"}]})"));
}

TEST(ReadOnly, RefusesEveryOtherStatement) {
  for (const auto* body : {R"({"Statement":"DELETE FROM T WHERE a=1"})", R"({"Statement":"SELECTED"})", R"({})",
                           R"({"Statement":7})", R"({"Statement":""})", R"({"Statement":"-- SELECT\nDELETE FROM T"})",
                           R"({"Statement":"SELECT * FROM T","Statement":"DELETE FROM T"})",
                           R"({"Statement":"DELETE FROM T","Statement":"SELECT * FROM T"})",
                           R"({"State\u006dent":"DELETE FROM T","Statement":"SELECT * FROM T"})", "", "{"}) {
    EXPECT_FALSE(reads_only("ExecuteStatement", body)) << body;
  }
  EXPECT_FALSE(reads_only("BatchExecuteStatement",
                          R"({"Statements":[{"Statement":"SELECT * FROM T"},{"Statement":"INSERT INTO T"}]})"));
  EXPECT_FALSE(reads_only("BatchExecuteStatement", R"({"Statements":[]})"));
  EXPECT_FALSE(reads_only("ExecuteTransaction", R"({"Statements":[{"Statement":"SELECT * FROM T"}]})"));
}

}  // namespace
}  // namespace stator::console
