#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "stator/api/testing/request_cases.h"

namespace stator::api {
namespace {

// ---- Table names

TEST(RequestCheckNames, TableOperationsAskForTheNameFirst) {
  for (const auto operation : {"CreateTable", "DescribeTable", "DeleteTable", "UpdateTable", "DescribeTimeToLive"}) {
    expect_all({
        {operation, "{}", "Validation: The parameter 'TableName' is required but was not present in the request"},
        {operation, R"({"TableName":"","KeySchema":[]})",
         violations(
             {bad("", "tableName", "have length greater than or equal to 3"), bad("", "tableName", kNamePattern)})},
        {operation, R"({"TableName":"ab","BillingMode":"x"})",
         violations({bad("ab", "tableName", "have length greater than or equal to 3")})},
        {operation, R"({"TableName":"abc;"})", violations({bad("abc;", "tableName", kNamePattern)})},
    });
    const std::string long_name(256, 'a');
    expect_all({{operation, fmt::format(R"({{"TableName":"{}"}})", long_name),
                 violations({bad(long_name, "tableName", "have length less than or equal to 255")})}});
  }
}

TEST(RequestCheckNames, ItemOperationsTakeANameOrAnArn) {
  const std::string long_name(256, 'a');
  for (const auto operation : {"PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "Scan"}) {
    const auto body = [](std::string_view name) {
      return fmt::format(R"({{"TableName":"{}","Item":{{}},"Key":{{}}}})", name);
    };
    expect_all({
        {operation, body("abc"), "ok"},
        {operation, R"({"Item":{},"Key":{}})", violations({no_value("tableName")})},
        {operation, body(""), violations({bad("", "tableName", "have length greater than or equal to 1")})},
        {operation, body("ab"), violations({bad("ab", "tableName", "have length greater than or equal to 3")})},
        {operation, body("bad table!@#"), violations({bad("bad table!@#", "tableName", kNamePattern)})},
        {operation, body(long_name),
         violations({bad(long_name, "tableName", "have length less than or equal to 255")})},
        {operation, body("arn:aws:dynamodb:us-east-1:123456789012:table/" + long_name), "ok"},
    });
  }
}

TEST(RequestCheckNames, AreCheckedInsideTransactions) {
  expect_all({
      {"TransactWriteItems",
       R"({"TransactItems":[{"Put":{"TableName":"abc","Item":{}}},{"Delete":{"TableName":"a","Key":{}}}]})",
       violations({bad("a", "transactItems.2.member.delete.tableName", "have length greater than or equal to 3")})},
      {"TransactGetItems", R"({"TransactItems":[{"Get":{"TableName":"","Key":{}}}]})",
       violations({bad("", "transactItems.1.member.get.tableName", "have length greater than or equal to 1")})},
  });
}

TEST(RequestCheckNames, OlderOperationsHaveOtherWords) {
  constexpr std::string_view kText =
      "Validation: TableName must be at least 3 characters long and at most 255 characters long";
  expect_all({
      {"DescribeGlobalTable", R"({"GlobalTableName":""})", kText},
      {"RestoreTableFromBackup", R"({"TargetTableName":"","BackupArn":""})", kText},
      {"UpdateContributorInsights", R"({"TableName":"abc","IndexName":"","ContributorInsightsAction":"ENABLE"})",
       "Validation: IndexName must be at least 3 characters long and at most 255 characters long"},
  });
}

// ---- Constraints, operation by operation

TEST(RequestCheckCreateTable, Constraints) {
  expect_all({
      {"CreateTable", R"({"TableName":"abc"})", violations({no_value("keySchema"), no_value("attributeDefinitions")})},
      {"CreateTable", R"({"TableName":"abc","AttributeDefinitions":[]})", violations({no_value("keySchema")})},
      {"CreateTable", R"({"TableName":"abc","AttributeDefinitions":[],"KeySchema":[]})",
       violations({bad("[]", "keySchema", "have length greater than or equal to 1")})},
      {"CreateTable", R"({"TableName":"abc","AttributeDefinitions":[{}],"KeySchema":[{}]})",
       violations({no_value("keySchema.1.member.attributeName"), no_value("keySchema.1.member.keyType"),
                   no_value("attributeDefinitions.1.member.attributeType"),
                   no_value("attributeDefinitions.1.member.attributeName")})},
      {"CreateTable",
       R"({"TableName":"abc","AttributeDefinitions":[],"KeySchema":[],"BillingMode":"A",
           "ProvisionedThroughput":{"ReadCapacityUnits":-1,"WriteCapacityUnits":0.5}})",
       violations({bad("A", "billingMode", "satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"),
                   bad("[]", "keySchema", "have length greater than or equal to 1"),
                   unquoted("provisionedThroughput.writeCapacityUnits", "have value greater than or equal to 1"),
                   unquoted("provisionedThroughput.readCapacityUnits", "have value greater than or equal to 1")})},
      {"CreateTable",
       R"({"TableName":"abc","AttributeDefinitions":[],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},
           {"KeyType":"RANGE"},{"AttributeName":"extra","KeyType":"Woop"}]})",
       violations({bad("[KeySchemaElement(attributeName=pk, keyType=HASH), KeySchemaElement(attributeName=null, "
                       "keyType=RANGE), "
                       "KeySchemaElement(attributeName=extra, keyType=Woop)]",
                       "keySchema", "have length less than or equal to 2"),
                   no_value("keySchema.2.member.attributeName"),
                   bad("Woop", "keySchema.3.member.keyType", "satisfy enum value set: [HASH, RANGE]")})},
      {"CreateTable",
       R"({"TableName":"abc","AttributeDefinitions":[{"AttributeName":"b","AttributeType":"SS"}],"KeySchema":[{"AttributeName":"b","KeyType":"HASH"}]})",
       violations({bad("SS", "attributeDefinitions.1.member.attributeType", "satisfy enum value set: [B, N, S]")})},
      {"CreateTable",
       R"({"TableName":"abc","AttributeDefinitions":[],"KeySchema":[{"AttributeName":"b","KeyType":"HASH"}],
           "StreamSpecification":{"StreamViewType":"new_image"},"SSESpecification":{"SSEType":"kms"},"TableClass":"x"})",
       violations({bad("kms", "sSESpecification.sSEType", "satisfy enum value set: [AES256, KMS]"),
                   bad("x", "tableClass", "satisfy enum value set: [STANDARD_INFREQUENT_ACCESS, STANDARD]"),
                   bad("new_image", "streamSpecification.streamViewType",
                       "satisfy enum value set: [OLD_IMAGE, KEYS_ONLY, NEW_AND_OLD_IMAGES, NEW_IMAGE]"),
                   no_value("streamSpecification.streamEnabled")})},
      // Tags are refused later.
      {"CreateTable",
       R"({"TableName":"abc","AttributeDefinitions":[],"KeySchema":[{"AttributeName":"b","KeyType":"HASH"}],"Tags":[{}]})",
       "ok"},
  });
}

TEST(RequestCheckCreateTable, Indexes) {
  constexpr std::string_view kBody =
      R"({"TableName":"abc","AttributeDefinitions":[],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],@})";
  expect_all({
      {"CreateTable", with(kBody, R"("LocalSecondaryIndexes":[{}],"GlobalSecondaryIndexes":[{}])"),
       violations({no_value("globalSecondaryIndexes.1.member.indexName"),
                   no_value("globalSecondaryIndexes.1.member.keySchema"),
                   no_value("globalSecondaryIndexes.1.member.projection"),
                   no_value("localSecondaryIndexes.1.member.indexName"),
                   no_value("localSecondaryIndexes.1.member.keySchema"),
                   no_value("localSecondaryIndexes.1.member.projection")})},
      {"CreateTable",
       with(
           kBody,
           R"("GlobalSecondaryIndexes":[{"IndexName":"","KeySchema":[],"Projection":{"ProjectionType":"a","NonKeyAttributes":[]}}])"),
       violations({bad("", "globalSecondaryIndexes.1.member.indexName", "have length greater than or equal to 3"),
                   bad("", "globalSecondaryIndexes.1.member.indexName", kNamePattern),
                   bad("[]", "globalSecondaryIndexes.1.member.keySchema", "have length greater than or equal to 1"),
                   bad("[]", "globalSecondaryIndexes.1.member.projection.nonKeyAttributes",
                       "have length greater than or equal to 1"),
                   bad("a", "globalSecondaryIndexes.1.member.projection.projectionType",
                       "satisfy enum value set: [ALL, INCLUDE, KEYS_ONLY]")})},
      {"CreateTable",
       with(kBody,
            R"("GlobalSecondaryIndexes":[{"IndexName":"abc","Projection":{"NonKeyAttributes":["a",""]},"KeySchema":[
                   {"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"HASH"},{"AttributeName":"c","KeyType":"RANGE"}]}])"),
       violations({bad("[a, ]", "globalSecondaryIndexes.1.member.projection.nonKeyAttributes",
                       "satisfy constraint: [Member must have length less than or equal to 255, "
                       "Member must have length greater than or equal to 1]")})},
      {"CreateTable", with(kBody, R"("LocalSecondaryIndexes":[{"IndexName":"abc","Projection":{},"KeySchema":[
                   {"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"},{"AttributeName":"c","KeyType":"RANGE"}]}])"),
       violations(
           {bad("[KeySchemaElement(attributeName=a, keyType=HASH), KeySchemaElement(attributeName=b, keyType=RANGE), "
                "KeySchemaElement(attributeName=c, keyType=RANGE)]",
                "localSecondaryIndexes.1.member.keySchema", "have length less than or equal to 2")})},
  });
}

TEST(RequestCheckCreateTable, ListsTenViolationsAtMost) {
  const auto got = outcome("CreateTable", R"({"TableName":"abc","LocalSecondaryIndexes":[{},{},{},{},{}]})");
  EXPECT_EQ(
      got,
      violations(
          {no_value("keySchema"), no_value("attributeDefinitions"),
           no_value("localSecondaryIndexes.1.member.indexName"), no_value("localSecondaryIndexes.1.member.keySchema"),
           no_value("localSecondaryIndexes.1.member.projection"), no_value("localSecondaryIndexes.2.member.indexName"),
           no_value("localSecondaryIndexes.2.member.keySchema"), no_value("localSecondaryIndexes.2.member.projection"),
           no_value("localSecondaryIndexes.3.member.indexName"),
           no_value("localSecondaryIndexes.3.member.keySchema")}));
}

TEST(RequestCheckUpdateTable, Constraints) {
  expect_all({
      {"UpdateTable", R"({"TableName":"abc","ProvisionedThroughput":{}})",
       violations({no_value("provisionedThroughput.writeCapacityUnits"),
                   no_value("provisionedThroughput.readCapacityUnits")})},
      {"UpdateTable", R"({"TableName":"abc","ProvisionedThroughput":{"ReadCapacityUnits":-1,"WriteCapacityUnits":-1}})",
       violations({unquoted("provisionedThroughput.writeCapacityUnits", "have value greater than or equal to 1"),
                   unquoted("provisionedThroughput.readCapacityUnits", "have value greater than or equal to 1")})},
      {"UpdateTable",
       R"({"TableName":"abc","GlobalSecondaryIndexUpdates":[{"Update":{}},{"Create":{"IndexName":""}},{"Delete":{}}]})",
       violations(
           {no_value("globalSecondaryIndexUpdates.1.member.update.indexName"),
            bad("", "globalSecondaryIndexUpdates.2.member.create.indexName", "have length greater than or equal to 3"),
            bad("", "globalSecondaryIndexUpdates.2.member.create.indexName", kNamePattern),
            no_value("globalSecondaryIndexUpdates.2.member.create.keySchema"),
            no_value("globalSecondaryIndexUpdates.2.member.create.projection"),
            no_value("globalSecondaryIndexUpdates.3.member.delete.indexName")})},
      {"UpdateTable",
       R"({"TableName":"abc","GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"abc;","ProvisionedThroughput":{}}}]})",
       violations({bad("abc;", "globalSecondaryIndexUpdates.1.member.update.indexName", kNamePattern),
                   no_value("globalSecondaryIndexUpdates.1.member.update.provisionedThroughput.writeCapacityUnits"),
                   no_value("globalSecondaryIndexUpdates.1.member.update.provisionedThroughput.readCapacityUnits")})},
      {"UpdateTable", R"({"TableName":"abc","AttributeDefinitions":[{"AttributeType":""}]})",
       violations({bad("", "attributeDefinitions.1.member.attributeType", "satisfy enum value set: [B, N, S]"),
                   no_value("attributeDefinitions.1.member.attributeName")})},
      {"UpdateTable", R"({"TableName":"abc","ReplicaUpdates":[{"Update":{}}]})",
       violations({no_value("replicaUpdates.1.member.update.regionName")})},
      {"UpdateTable", R"({"TableName":"abc","GlobalSecondaryIndexUpdates":[]})", "ok"},
  });
}

TEST(RequestCheckListTables, Constraints) {
  const std::string long_name(256, 'a');
  expect_all({
      {"ListTables", R"({"ExclusiveStartTableName":""})",
       violations({bad("", "exclusiveStartTableName", kNamePattern),
                   bad("", "exclusiveStartTableName", "have length greater than or equal to 3")})},
      {"ListTables", R"({"ExclusiveStartTableName":"a;","Limit":500})",
       violations({bad("a;", "exclusiveStartTableName", kNamePattern),
                   bad("a;", "exclusiveStartTableName", "have length greater than or equal to 3"),
                   unquoted("limit", "have value less than or equal to 100")})},
      {"ListTables", fmt::format(R"({{"ExclusiveStartTableName":"{}"}})", long_name),
       violations({bad(long_name, "exclusiveStartTableName", "have length less than or equal to 255")})},
      {"ListTables", R"({"Limit":0})", violations({unquoted("limit", "have value greater than or equal to 1")})},
      {"ListTables", R"({"Limit":101})", violations({unquoted("limit", "have value less than or equal to 100")})},
      {"ListTables", R"({"Limit":100.7})", "ok"},
  });
}

TEST(RequestCheckPutItem, Constraints) {
  expect_all({
      {"PutItem", "{}", violations({no_value("item"), no_value("tableName")})},
      {"PutItem", R"({"TableName":"","Item":{},"ReturnValues":"INVALID"})",
       violations({bad("INVALID", "returnValues", kReturnValues),
                   bad("", "tableName", "have length greater than or equal to 1")})},
      {"PutItem",
       R"({"TableName":"abc","Item":{},"ReturnConsumedCapacity":"hi","ReturnItemCollectionMetrics":"hi","ReturnValues":"hi",
           "ConditionalOperator":"hi","ReturnValuesOnConditionCheckFailure":"hi"})",
       violations({bad("hi", "returnValues", kReturnValues),
                   bad("hi", "conditionalOperator", "satisfy enum value set: [OR, AND]"),
                   bad("hi", "returnValuesOnConditionCheckFailure", "satisfy enum value set: [ALL_OLD, NONE]"),
                   bad("hi", "returnConsumedCapacity", kCapacity),
                   bad("hi", "returnItemCollectionMetrics", kMetrics)})},
      {"PutItem", R"({"TableName":"abc","Item":{},"Expected":{"a":{"ComparisonOperator":"GR"}}})",
       violations({bad("GR", "expected.a.member.comparisonOperator", kOperators)})},
      // Semantics of the values are not asked here.
      {"PutItem", R"({"TableName":"abc","Item":{"a":{},"b":{"N":"x"},"c":{"SS":[]},"d":{"S":"a","N":"1"}}})", "ok"},
  });
}

TEST(RequestCheckGetItem, Constraints) {
  expect_all({
      {"GetItem", "{}", violations({no_value("key"), no_value("tableName")})},
      {"GetItem", R"({"TableName":"abc","Key":{},"AttributesToGet":[],"ReturnConsumedCapacity":"hi"})",
       violations({unquoted("attributesToGet", "have length greater than or equal to 1"),
                   bad("hi", "returnConsumedCapacity", kCapacity)})},
  });
}

TEST(RequestCheckUpdateItem, Constraints) {
  expect_all({
      {"UpdateItem", "{}", violations({no_value("tableName"), no_value("key")})},
      {"UpdateItem",
       R"({"TableName":"abc","ReturnConsumedCapacity":"hi","ReturnItemCollectionMetrics":"hi","ReturnValues":"hi"})",
       violations({bad("hi", "returnConsumedCapacity", kCapacity), bad("hi", "returnValues", kReturnValues),
                   bad("hi", "returnItemCollectionMetrics", kMetrics), no_value("key")})},
      {"UpdateItem", R"({"TableName":"abc","Key":{},"AttributeUpdates":{"a":{"Action":"GROW"}}})",
       violations({bad("GROW", "attributeUpdates.a.member.action", "satisfy enum value set: [ADD, DELETE, PUT]")})},
  });
}

TEST(RequestCheckDeleteItem, Constraints) {
  expect_all({
      {"DeleteItem", R"({"TableName":"abc","ReturnValues":"hi","Expected":{"a":{"ComparisonOperator":"x"}}})",
       violations({bad("hi", "returnValues", kReturnValues),
                   bad("x", "expected.a.member.comparisonOperator", kOperators), no_value("key")})},
  });
}

constexpr std::string_view kTableNameKeys =
    "failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length less than or equal to "
    "255, "
    "Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: "
    "[a-zA-Z0-9_.-]+]";
constexpr std::string_view kWriteCounts =
    "failed to satisfy constraint: Map value must satisfy constraint: [Member must have length less than or equal to "
    "25, "
    "Member must have length greater than or equal to 1]";

TEST(RequestCheckBatchGetItem, Constraints) {
  expect_all({
      {"BatchGetItem", "{}", violations({no_value("requestItems")})},
      {"BatchGetItem", R"({"RequestItems":{}})", "Validation: The requestItems parameter is required for BatchGetItem"},
      {"BatchGetItem", R"({"RequestItems":{"abc":{}}})", violations({no_value("requestItems.abc.member.keys")})},
      {"BatchGetItem", R"({"RequestItems":{"Auth":{"Keys":[]}}})",
       violations({unquoted("requestItems.Auth.member.keys", "have length greater than or equal to 1")})},
      {"BatchGetItem", R"({"RequestItems":{":t":{"Keys":[{}],"AttributesToGet":["a"],"ConsistentRead":true}}})",
       violations(
           {fmt::format("Value '{{:t=KeysAndAttributes(keys=[{{}}], attributesToGet=[a], consistentRead=true, "
                        "projectionExpression=null, expressionAttributeNames=null, workloadProfileName=null)}}' at "
                        "'requestItems' {}",
                        kTableNameKeys)})},
      {"BatchGetItem", R"({"RequestItems":{"abc":{"Keys":[{}],"AttributesToGet":[]}},"ReturnConsumedCapacity":"x"})",
       violations({unquoted("requestItems.abc.member.attributesToGet", "have length greater than or equal to 1"),
                   bad("x", "returnConsumedCapacity", kCapacity)})},
  });
  std::string keys = "{}";
  for (int i = 1; i < 101; ++i) keys += ",{}";
  expect_all({{"BatchGetItem", fmt::format(R"({{"RequestItems":{{"abc":{{"Keys":[{}]}}}}}})", keys),
               violations({unquoted("requestItems.abc.member.keys", "have length less than or equal to 100")})}});
}

TEST(RequestCheckBatchWriteItem, Constraints) {
  expect_all({
      {"BatchWriteItem", R"({"ReturnConsumedCapacity":"hi","ReturnItemCollectionMetrics":"hi"})",
       violations({no_value("requestItems"), bad("hi", "returnConsumedCapacity", kCapacity),
                   bad("hi", "returnItemCollectionMetrics", kMetrics)})},
      {"BatchWriteItem", R"({"RequestItems":{}})",
       "Validation: The requestItems parameter is required for BatchWriteItem"},
      {"BatchWriteItem", R"({"RequestItems":{"a":[]}})",
       violations({fmt::format("Value '{{a=[]}}' at 'requestItems' {}", kTableNameKeys),
                   fmt::format("Value '{{a=[]}}' at 'requestItems' {}", kWriteCounts)})},
      {"BatchWriteItem", R"({"RequestItems":{"aa;":[{"PutRequest":{},"DeleteRequest":{}}]}})",
       violations({fmt::format("Value '{{aa;=[WriteRequest(putRequest=PutRequest(item=null, workloadProfileName=null), "
                               "deleteRequest=DeleteRequest(key=null))]}}' at 'requestItems' {}",
                               kTableNameKeys),
                   no_value("requestItems.aa;.member.1.member.putRequest.item"),
                   no_value("requestItems.aa;.member.1.member.deleteRequest.key")})},
      {"BatchWriteItem", R"({"RequestItems":{"abc":[{}]}})", "ok"},
  });
}

TEST(RequestCheckBatchWriteItem, PrintsTooManyRequestsAsTheServiceDoes) {
  std::string requests;
  std::string printed;
  for (int i = 0; i < 26; ++i) {
    requests += fmt::format(R"({}{{"PutRequest":{{"Item":{{"pk":{{"S":"bw-{}"}}}}}}}})", i == 0 ? "" : ",", i);
    printed += fmt::format(
        "{}WriteRequest(putRequest=PutRequest(item={{pk=AttributeValue(s=bw-{}, n=null, b=null, iNT=null, "
        "dECIMAL=null, "
        "dOUBLE=null, sS=null, nS=null, bS=null, iNTSET=null, dECIMALSET=null, dOUBLESET=null, m=null, l=null, "
        "nULL=null, "
        "bOOL=null)}}, workloadProfileName=null), deleteRequest=null)",
        i == 0 ? "" : ", ", i);
  }
  expect_all({{"BatchWriteItem", fmt::format(R"({{"RequestItems":{{"abc":[{}]}}}})", requests),
               violations({fmt::format("Value '{{abc=[{}]}}' at 'requestItems' {}", printed, kWriteCounts)})}});
}

TEST(RequestCheckQuery, Constraints) {
  expect_all({
      {"Query",
       R"({"TableName":"abc","IndexName":"a;","Limit":0,"Select":"hi","ReturnConsumedCapacity":"hi","ConditionalOperator":"hi",
           "AttributesToGet":[],"QueryFilter":{"a":{}},"KeyConditions":{"a":{},"b":{"ComparisonOperator":""}}})",
       violations(
           {bad("hi", "select",
                "satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"),
            bad("a;", "indexName", "have length greater than or equal to 3"), bad("a;", "indexName", kNamePattern),
            no_value("queryFilter.a.member.comparisonOperator"), bad("hi", "returnConsumedCapacity", kCapacity),
            bad("hi", "conditionalOperator", "satisfy enum value set: [OR, AND]"),
            unquoted("attributesToGet", "have length greater than or equal to 1"),
            unquoted("limit", "have value greater than or equal to 1"),
            no_value("keyConditions.a.member.comparisonOperator"),
            bad("", "keyConditions.b.member.comparisonOperator", kOperators)})},
  });
}

TEST(RequestCheckScan, Constraints) {
  expect_all({
      {"Scan", R"({"TableName":"abc","Limit":0})",
       violations({unquoted("limit", "have value greater than or equal to 1")})},
      {"Scan",
       R"({"TableName":"abc","Segment":-1,"TotalSegments":1000001,"ScanFilter":{"a":{"ComparisonOperator":"x"}}})",
       violations({unquoted("totalSegments", "have value less than or equal to 1000000"),
                   bad("x", "scanFilter.a.member.comparisonOperator", kOperators),
                   unquoted("segment", "have value greater than or equal to 0")})},
  });
}

TEST(RequestCheckOthers, Constraints) {
  expect_all({
      {"TransactWriteItems", R"({"TransactItems":[]})",
       violations({unquoted("transactItems", "have length greater than or equal to 1")})},
      {"UpdateTimeToLive", R"({"TableName":"abc","TimeToLiveSpecification":{}})",
       violations({no_value("timeToLiveSpecification.attributeName"), no_value("timeToLiveSpecification.enabled")})},
      {"CreateBackup", R"({"TableName":"abc","BackupName":""})",
       violations(
           {bad("", "backupName", kNamePattern), bad("", "backupName", "have length greater than or equal to 3")})},
      {"EnableKinesisStreamingDestination", R"({"TableName":"abc","StreamArn":""})",
       violations({bad("", "streamArn", "have length greater than or equal to 37")})},
      {"UpdateContributorInsights",
       R"({"TableName":"abc","ContributorInsightsAction":"","ContributorInsightsMode":""})",
       violations({bad("", "contributorInsightsAction", "satisfy enum value set: [ENABLE, DISABLE]"),
                   bad("", "contributorInsightsMode",
                       "satisfy enum value set: [THROTTLED_KEYS, ACCESSED_AND_THROTTLED_KEYS]")})},
      {"TagResource", "{}", "ok"},  // asked for later
      {"GetShardIterator", R"({"StreamArn":"x","ShardId":"y","ShardIteratorType":"z"})",
       violations({bad("x", "streamArn", "have length greater than or equal to 37"),
                   bad("y", "shardId", "have length greater than or equal to 28"),
                   bad("z", "shardIteratorType",
                       "satisfy enum value set: [AFTER_SEQUENCE_NUMBER, LATEST, AT_SEQUENCE_NUMBER, TRIM_HORIZON]")})},
  });
}

}  // namespace
}  // namespace stator::api
