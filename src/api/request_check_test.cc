#include "stator/api/request_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <string_view>

namespace stator::api {
namespace {

// "ok", or the error as "Validation: text" and "Serialization: text".
std::string outcome(std::string_view operation, std::string_view body) {
  const auto* shape = input_shape(operation);
  if (shape == nullptr) return fmt::format("no operation {}", operation);
  value::JsonParser parser;
  const auto parsed = parser.parse(body);
  if (!parsed) return "not JSON";
  const auto checked = check_request(*shape, *parsed);
  if (checked) return "ok";
  return fmt::format("{}: {}", checked.error().code == ErrorCode::Serialization ? "Serialization" : "Validation",
                     checked.error().message);
}

struct Case {
  std::string_view operation, body, expected;
};

void expect_all(std::initializer_list<Case> cases) {
  for (const auto& [operation, body, expected] : cases) {
    EXPECT_EQ(outcome(operation, body), expected) << operation << " " << body.substr(0, 300);
  }
}

std::string violations(std::initializer_list<std::string_view> lines) {
  return fmt::format("Validation: {} validation error{} detected: {}", lines.size(), lines.size() == 1 ? "" : "s",
                     fmt::join(lines, "; "));
}

std::string no_value(std::string_view path) {
  return fmt::format("Value null at '{}' failed to satisfy constraint: Member must not be null", path);
}

std::string bad(std::string_view value, std::string_view path, std::string_view constraint) {
  return fmt::format("Value '{}' at '{}' failed to satisfy constraint: Member must {}", value, path, constraint);
}

constexpr std::string_view kNamePattern = "satisfy regular expression pattern: [a-zA-Z0-9_.-]+";
constexpr std::string_view kReturnValues = "satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]";
constexpr std::string_view kCapacity = "satisfy enum value set: [INDEXES, TOTAL, NONE]";
constexpr std::string_view kMetrics = "satisfy enum value set: [SIZE, NONE]";
constexpr std::string_view kOperators =
    "satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, "
    "CONTAINS]";

// A request with `value` in the place of '@'.
std::string with(std::string_view body, std::string_view value) {
  std::string filled(body);
  filled.replace(filled.find('@'), 1, value);
  return filled;
}

// ---- Good requests

TEST(RequestCheck, AcceptsGoodRequests) {
  expect_all({
      {"CreateTable",
       R"({"TableName":"abc","AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}],
           "KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST",
           "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"Tags":[{"Key":"k","Value":""}]})",
       "ok"},
      {"DescribeTable", R"({"TableName":"abc"})", "ok"},
      {"ListTables", "{}", "ok"},
      {"ListTables", R"({"Limit":100,"ExclusiveStartTableName":"abc"})", "ok"},
      {"DeleteTable", R"({"TableName":"arn:aws:dynamodb:us-east-1:123456789012:table/abc"})", "ok"},
      {"UpdateTable", R"({"TableName":"abc","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}})",
       "ok"},
      {"PutItem",
       R"({"TableName":"abc","Item":{"a":{"S":""},"b":{"N":"1"},"c":{"B":"AAA="},"d":{"SS":["x"]},"e":{"NS":["1"]},
           "f":{"BS":["","AA==","AAAA"]},"g":{"L":[{"BOOL":true},{"NULL":true},{"M":{"":{"L":[]}}}]},"h":{"M":{}}},
           "ReturnValues":"ALL_OLD"})",
       "ok"},
      {"PutItem", R"({"TableName":"arn:aws:dynamodb:us-east-1:123456789012:table/abc","Item":{}})", "ok"},
      {"GetItem", R"({"TableName":"abc","Key":{"a":{"S":"x"}},"AttributesToGet":["a"],"ConsistentRead":false})", "ok"},
      {"UpdateItem", R"({"TableName":"abc","Key":{},"AttributeUpdates":{"a":{"Action":"ADD","Value":{"N":"1"}}}})",
       "ok"},
      {"DeleteItem", R"({"TableName":"abc","Key":{},"Expected":{"a":{"Exists":false}}})", "ok"},
      {"BatchGetItem", R"({"RequestItems":{"abc":{"Keys":[{"a":{"S":"x"}}]}}})", "ok"},
      {"BatchWriteItem",
       R"({"RequestItems":{"abc":[{"PutRequest":{"Item":{}}}],"arn:aws:dynamodb:r:1:table/t":[{"DeleteRequest":{"Key":{}}}]}})",
       "ok"},
      {"Query",
       R"({"TableName":"abc","Limit":1,"KeyConditions":{"a":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]}}})",
       "ok"},
      {"Scan", R"({"TableName":"abc","Segment":0,"TotalSegments":1000000})", "ok"},
      {"TransactWriteItems", R"({"TransactItems":[{"Put":{"TableName":"abc","Item":{}}}]})", "ok"},
      {"GetRecords", R"({"ShardIterator":"x"})", "ok"},
  });
}

TEST(RequestCheck, IgnoresWhatTheModelDoesNotKnow) {
  expect_all({
      {"DescribeTable", R"({"TableName":"abc","Colour":7,"tableName":[]})", "ok"},
      {"PutItem", R"({"TableName":"abc","Item":{"a":{"dog":"cat"}}})", "ok"},
  });
}

TEST(RequestCheck, TakesNullForAbsent) {
  expect_all({
      {"ListTables", R"({"Limit":null})", "ok"},
      {"PutItem", R"({"TableName":"abc","Item":{"a":{"S":"x","N":null}},"ReturnValues":null})", "ok"},
      {"PutItem", R"({"TableName":null,"Item":{}})", violations({no_value("tableName")})},
  });
}

TEST(RequestCheck, RefusesNullInsideListsAndMaps) {
  expect_all({
      {"GetItem", R"({"TableName":"abc","Key":{},"AttributesToGet":[null]})",
       violations({no_value("attributesToGet.1.member")})},
      {"BatchGetItem", R"({"RequestItems":{"abc":null}})", violations({no_value("requestItems.abc.member")})},
      {"PutItem", R"({"TableName":"abc","Item":{"a":{"SS":["x",null]}}})",
       violations({no_value("item.a.member.sS.2.member")})},
      {"PutItem", R"({"TableName":"abc","Item":{"a":null}})",
       "Validation: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
      {"PutItem", R"({"TableName":"abc","Item":{"a":{"L":[null]}}})",
       "Validation: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
  });
}

// ---- Wrong JSON types

// Every wrong token for each type of member, with the service's words.
TEST(RequestCheckTypes, NamesTheTokenAndTheType) {
  struct Type {
    std::string_view operation, body, name, java;
  };
  for (const auto& [operation, body, name, java] : {
           Type{"PutItem", R"({"TableName":@})", "String", "java.lang.String"},
           Type{"GetItem", R"({"AttributesToGet":[@]})", "String", "java.lang.String"},
           Type{"GetItem", R"({"ExpressionAttributeNames":{"#a":@}})", "String", "java.lang.String"},
           Type{"PutItem", R"({"Item":{"a":{"S":@}}})", "String", "java.lang.String"},
           Type{"PutItem", R"({"Item":{"a":{"N":@}}})", "String", "java.lang.String"},
           Type{"PutItem", R"({"Item":{"a":{"NS":[@]}}})", "String", "java.lang.String"},
       }) {
    expect_all({
        {operation, with(body, "true"), fmt::format("Serialization: TRUE_VALUE cannot be converted to {}", name)},
        {operation, with(body, "false"), fmt::format("Serialization: FALSE_VALUE cannot be converted to {}", name)},
        {operation, with(body, "23"), fmt::format("Serialization: NUMBER_VALUE cannot be converted to {}", name)},
        {operation, with(body, "-2147483648"),
         fmt::format("Serialization: NUMBER_VALUE cannot be converted to {}", name)},
        {operation, with(body, "18446744073709551615"),
         fmt::format("Serialization: NUMBER_VALUE cannot be converted to {}", name)},
        {operation, with(body, "34.56"), fmt::format("Serialization: DECIMAL_VALUE cannot be converted to {}", name)},
        {operation, with(body, "[]"), fmt::format("Serialization: Unrecognized collection type class {}", java)},
        {operation, with(body, "{}"), "Serialization: Start of structure or map found where not expected"},
    });
  }
}

TEST(RequestCheckTypes, Numbers) {
  struct Type {
    std::string_view operation, body, name;
  };
  for (const auto& [operation, body, name] : {
           Type{"Scan", R"({"TableName":"abc","Limit":@})", "Integer"},
           Type{"UpdateTable",
                R"({"TableName":"abc","ProvisionedThroughput":{"ReadCapacityUnits":@,"WriteCapacityUnits":1}})",
                "Long"},
       }) {
    expect_all({
        {operation, with(body, R"("23")"), fmt::format("Serialization: STRING_VALUE cannot be converted to {}", name)},
        {operation, with(body, "true"), fmt::format("Serialization: TRUE_VALUE cannot be converted to {}", name)},
        {operation, with(body, "false"), fmt::format("Serialization: FALSE_VALUE cannot be converted to {}", name)},
        {operation, with(body, "[]"),
         fmt::format("Serialization: Unrecognized collection type class java.lang.{}", name)},
        {operation, with(body, "{}"), "Serialization: Start of structure or map found where not expected"},
        {operation, with(body, "1.9"), "ok"},
        {operation, with(body, "1e300"), "ok"},
    });
  }
}

TEST(RequestCheckTypes, Booleans) {
  for (const std::string_view body :
       {R"({"TableName":"abc","Key":{},"ConsistentRead":@})", R"({"TableName":"abc","Key":{"a":{"BOOL":@}}})",
        R"({"TableName":"abc","Key":{"a":{"NULL":@}}})"}) {
    expect_all({
        {"GetItem", with(body, R"("23")"), "Serialization: Unexpected token received from parser"},
        {"GetItem", with(body, "23"), "Serialization: NUMBER_VALUE cannot be converted to Boolean"},
        {"GetItem", with(body, "34.56"), "Serialization: DECIMAL_VALUE cannot be converted to Boolean"},
        {"GetItem", with(body, "[]"), "Serialization: Unrecognized collection type class java.lang.Boolean"},
        {"GetItem", with(body, "{}"), "Serialization: Start of structure or map found where not expected"},
        {"GetItem", with(body, "false"), "ok"},
    });
  }
}

TEST(RequestCheckTypes, Binary) {
  for (const std::string_view body :
       {R"({"TableName":"abc","Key":{"a":{"B":@}}})", R"({"TableName":"abc","Key":{"a":{"BS":["AAAA",@]}}})"}) {
    expect_all({
        {"GetItem", with(body, "true"), "Serialization: only base-64-encoded strings are convertible to bytes"},
        {"GetItem", with(body, "34.56"), "Serialization: only base-64-encoded strings are convertible to bytes"},
        {"GetItem", with(body, "[]"), "Serialization: Unrecognized collection type class java.nio.ByteBuffer"},
        {"GetItem", with(body, "{}"), "Serialization: Start of structure or map found where not expected"},
        {"GetItem", with(body, R"("23456")"),
         "Serialization: Base64 encoded length is expected a multiple of 4 bytes but found: 5"},
        {"GetItem", with(body, R"("=+/=")"), "Serialization: Invalid last non-pad Base64 character dectected"},
        {"GetItem", with(body, R"("+/+=")"), "Serialization: Invalid last non-pad Base64 character dectected"},
        {"GetItem", with(body, R"("YWJj??!!")"), "Serialization: Invalid base 64 character: '?'"},
        {"GetItem", with(body, R"("AA=A")"), "Serialization: Invalid base 64 character: '='"},
        {"GetItem", with(body, R"("====")"), "Serialization: Invalid base 64 character: '='"},
        {"GetItem", with(body, R"("AAé")"), "Serialization: Invalid base 64 character: 'é'"},
        {"GetItem", with(body, R"("+/8=")"), "ok"},
    });
  }
}

TEST(RequestCheckTypes, ListsMapsAndStructures) {
  constexpr std::string_view kCast =
      "Serialization: class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class "
      "java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module "
      "java.base of loader 'bootstrap')";
  struct Type {
    std::string_view operation, body, scalar, array, object;
  };
  for (const auto& [operation, body, scalar, array, object] : {
           // Lists: the members of structures, and inside maps.
           Type{"CreateTable", R"({"KeySchema":@})", "Serialization: Unexpected field type", "",
                "Serialization: Start of structure or map found where not expected"},
           Type{"PutItem", R"({"Item":{"a":{"L":@}}})", "Serialization: Unexpected field type", "",
                "Serialization: Start of structure or map found where not expected"},
           Type{"PutItem", R"({"Item":{"a":{"BS":@}}})", "Serialization: Unexpected field type", "",
                "Serialization: Start of structure or map found where not expected"},
           Type{"BatchWriteItem", R"({"RequestItems":{"abc":@}})", kCast, "",
                "Serialization: Start of structure or map found where not expected"},
           // Maps.
           Type{"PutItem", R"({"Item":@})", "Serialization: Unexpected field type",
                "Serialization: Unrecognized collection type java.util.Map<java.lang.String, "
                "com.amazonaws.dynamodb.v20120810.AttributeValue>",
                ""},
           Type{"PutItem", R"({"Item":{"a":{"M":@}}})", "Serialization: Unexpected field type",
                "Serialization: Unrecognized collection type java.util.Map<java.lang.String, "
                "com.amazonaws.dynamodb.v20120810.AttributeValue>",
                ""},
           Type{"PutItem", R"({"Expected":@})", "Serialization: Unexpected field type",
                "Serialization: Unrecognized collection type java.util.Map<java.lang.String, "
                "com.amazonaws.dynamodb.v20120810.ExpectedAttributeValue>",
                ""},
           Type{"PutItem", R"({"ExpressionAttributeNames":@})", "Serialization: Unexpected field type",
                "Serialization: Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>", ""},
           Type{"BatchWriteItem", R"({"RequestItems":@})", "Serialization: Unexpected field type",
                "Serialization: Unrecognized collection type java.util.Map<java.lang.String, "
                "java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>>",
                ""},
           Type{"BatchGetItem", R"({"RequestItems":{"abc":{"Keys":[@]}}})", kCast,
                "Serialization: Unrecognized collection type java.util.Map<java.lang.String, "
                "com.amazonaws.dynamodb.v20120810.AttributeValue>",
                ""},
           // Structures: in a field, and inside lists and maps.
           Type{"CreateTable", R"({"ProvisionedThroughput":@})", "Serialization: Unexpected field type",
                "Serialization: Unrecognized collection type class "
                "com.amazonaws.dynamodb.v20120810.ProvisionedThroughput",
                ""},
           Type{"CreateTable", R"({"KeySchema":[@]})", "Serialization: Unexpected value type in payload",
                "Serialization: Unrecognized collection type class com.amazonaws.dynamodb.v20120810.KeySchemaElement",
                ""},
           Type{"PutItem", R"({"Item":{"a":@}})", "Serialization: Unexpected value type in payload",
                "Serialization: Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
                ""},
           Type{"PutItem", R"({"Item":{"a":{"L":[@]}}})", "Serialization: Unexpected value type in payload",
                "Serialization: Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
                ""},
           Type{"PutItem", R"({"Expected":{"a":{"Value":@}}})", "Serialization: Unexpected field type",
                "Serialization: Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
                ""},
           Type{"BatchWriteItem", R"({"RequestItems":{"abc":[{"PutRequest":@}]}})",
                "Serialization: Unexpected field type",
                "Serialization: Unrecognized collection type class com.amazonaws.dynamodb.v20120810.PutRequest", ""},
       }) {
    for (const auto token : {R"("23")", "true", "23", "34.56"}) expect_all({{operation, with(body, token), scalar}});
    if (!array.empty()) expect_all({{operation, with(body, "[]"), array}});
    if (!object.empty()) expect_all({{operation, with(body, "{}"), object}});
  }
}

TEST(RequestCheckTypes, TheBodyIsAnObject) {
  expect_all({
      {"PutItem", "[]", "Serialization: Start of list found where not expected"},
      {"PutItem", "7", "Serialization: Unexpected value type in payload"},
      {"PutItem", R"("a")", "Serialization: Unexpected value type in payload"},
      {"PutItem", "null", "Serialization: Unexpected value type in payload"},
  });
}

TEST(RequestCheckTypes, ComeBeforeConstraintsAndInTheOrderOfTheBody) {
  expect_all({
      {"PutItem", R"({"ReturnValues":"x","Item":{"a":{"N":1}},"TableName":true})",
       "Serialization: NUMBER_VALUE cannot be converted to String"},
      {"PutItem", R"({"TableName":true,"Item":{"a":{"N":1}}})",
       "Serialization: TRUE_VALUE cannot be converted to String"},
  });
}

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

TEST(RequestCheckNames, CanBeCheckedAlone) {
  EXPECT_TRUE(check_table_name("tableName", "abc").ok());
  EXPECT_TRUE(check_table_name("tableName", "arn:aws:dynamodb:us-east-1:1:table/abc").ok());
  EXPECT_EQ(check_table_name("tableName", "a;").error().message,
            violations({bad("a;", "tableName", "have length greater than or equal to 3"),
                        bad("a;", "tableName", kNamePattern)})
                .substr(std::string_view("Validation: ").size()));
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
                   bad("0", "provisionedThroughput.writeCapacityUnits", "have value greater than or equal to 1"),
                   bad("-1", "provisionedThroughput.readCapacityUnits", "have value greater than or equal to 1")})},
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
       violations({bad("-1", "provisionedThroughput.writeCapacityUnits", "have value greater than or equal to 1"),
                   bad("-1", "provisionedThroughput.readCapacityUnits", "have value greater than or equal to 1")})},
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
                   bad("500", "limit", "have value less than or equal to 100")})},
      {"ListTables", fmt::format(R"({{"ExclusiveStartTableName":"{}"}})", long_name),
       violations({bad(long_name, "exclusiveStartTableName", "have length less than or equal to 255")})},
      {"ListTables", R"({"Limit":0})", violations({bad("0", "limit", "have value greater than or equal to 1")})},
      {"ListTables", R"({"Limit":101})", violations({bad("101", "limit", "have value less than or equal to 100")})},
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
       violations({bad("[]", "attributesToGet", "have length greater than or equal to 1"),
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
       violations({bad("[]", "requestItems.Auth.member.keys", "have length greater than or equal to 1")})},
      {"BatchGetItem", R"({"RequestItems":{":t":{"Keys":[{}],"AttributesToGet":["a"],"ConsistentRead":true}}})",
       violations(
           {fmt::format("Value '{{:t=KeysAndAttributes(keys=[{{}}], attributesToGet=[a], consistentRead=true, "
                        "projectionExpression=null, expressionAttributeNames=null, workloadProfileName=null)}}' at "
                        "'requestItems' {}",
                        kTableNameKeys)})},
      {"BatchGetItem", R"({"RequestItems":{"abc":{"Keys":[{}],"AttributesToGet":[]}},"ReturnConsumedCapacity":"x"})",
       violations({bad("[]", "requestItems.abc.member.attributesToGet", "have length greater than or equal to 1"),
                   bad("x", "returnConsumedCapacity", kCapacity)})},
  });
  std::string keys = "{}";
  std::string printed = "{}";
  for (int i = 1; i < 101; ++i) {
    keys += ",{}";
    printed += ", {}";
  }
  expect_all({{"BatchGetItem", fmt::format(R"({{"RequestItems":{{"abc":{{"Keys":[{}]}}}}}})", keys),
               violations({bad("[" + printed + "]", "requestItems.abc.member.keys",
                               "have length less than or equal to 100")})}});
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
            bad("[]", "attributesToGet", "have length greater than or equal to 1"),
            bad("0", "limit", "have value greater than or equal to 1"),
            no_value("keyConditions.a.member.comparisonOperator"),
            bad("", "keyConditions.b.member.comparisonOperator", kOperators)})},
  });
}

TEST(RequestCheckScan, Constraints) {
  expect_all({
      {"Scan", R"({"TableName":"abc","Limit":0})",
       violations({bad("0", "limit", "have value greater than or equal to 1")})},
      {"Scan",
       R"({"TableName":"abc","Segment":-1,"TotalSegments":1000001,"ScanFilter":{"a":{"ComparisonOperator":"x"}}})",
       violations({bad("1000001", "totalSegments", "have value less than or equal to 1000000"),
                   bad("x", "scanFilter.a.member.comparisonOperator", kOperators),
                   bad("-1", "segment", "have value greater than or equal to 0")})},
  });
}

TEST(RequestCheckOthers, Constraints) {
  expect_all({
      {"TransactWriteItems", R"({"TransactItems":[]})",
       violations({bad("[]", "transactItems", "have length greater than or equal to 1")})},
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

// ---- Sizes

TEST(RequestCheck, CountsCharactersAsTheServiceDoes) {
  std::string wide;
  for (int i = 0; i < 127; ++i) wide += "😀";  // two units each
  expect_all({
      {"UpdateTimeToLive",
       fmt::format(R"({{"TableName":"abc","TimeToLiveSpecification":{{"Enabled":true,"AttributeName":"{}é"}}}})", wide),
       "ok"},
      {"UpdateTimeToLive",
       fmt::format(R"({{"TableName":"abc","TimeToLiveSpecification":{{"Enabled":true,"AttributeName":"{}éé"}}}})",
                   wide),
       violations(
           {bad(wide + "éé", "timeToLiveSpecification.attributeName", "have length less than or equal to 255")})},
  });
}

TEST(RequestCheck, LimitsAttributeNames) {
  const std::string good(65535, 'n');
  const std::string long_name(65536, 'n');
  const auto item = [](std::string_view name) {
    return fmt::format(R"({{"TableName":"abc","Item":{{"{}":{{"S":"x"}}}}}})", name);
  };
  const auto nested = [](std::string_view name) {
    return fmt::format(R"({{"TableName":"abc","Item":{{"a":{{"M":{{"{}":{{"S":"x"}}}}}}}}}})", name);
  };
  const auto names = [](std::string_view name) {
    return fmt::format(R"({{"TableName":"abc","Key":{{}},"ExpressionAttributeNames":{{"#n":"{}"}}}})", name);
  };
  EXPECT_EQ(outcome("PutItem", item(good)), "ok");
  EXPECT_EQ(outcome("PutItem", nested(good)), "ok");
  EXPECT_EQ(outcome("GetItem", names(good)), "ok");
  EXPECT_TRUE(outcome("PutItem", item(long_name))
                  .ends_with("' at 'item' failed to satisfy constraint: Map keys must satisfy constraint: "
                             "[Member must have length less than or equal to 65535]"));
  EXPECT_TRUE(outcome("PutItem", nested(long_name))
                  .ends_with("' at 'item.a.member.m' failed to satisfy constraint: Map keys must satisfy constraint: "
                             "[Member must have length less than or equal to 65535]"));
  EXPECT_TRUE(outcome("GetItem", names(long_name))
                  .ends_with("' at 'expressionAttributeNames' failed to satisfy constraint: Map value must satisfy "
                             "constraint: [Member must have length less than or equal to 65535]"));
}

TEST(RequestCheck, WritesShortMessagesForLongValues) {
  const std::string huge(std::size_t{8} << 20, 'x');
  EXPECT_LT(outcome("PutItem", fmt::format(R"({{"TableName":"abc","Item":{{}},"ReturnValues":"{}"}})", huge)).size(),
            70'000U);
  EXPECT_LT(outcome("DescribeTable", fmt::format(R"({{"TableName":"{}"}})", huge)).size(), 70'000U);
  EXPECT_LT(outcome("BatchGetItem", fmt::format(R"({{"RequestItems":{{"{}":{{}}}}}})", huge)).size(), 140'000U);
}

TEST(RequestCheck, WalksDeepValues) {
  const auto nested = [](int levels) {
    std::string open;
    std::string close;
    for (int i = 0; i < levels; ++i) {
      open += i % 2 == 0 ? R"({"L":[)" : R"({"M":{"a":)";
      close.insert(0, i % 2 == 0 ? "]}" : "}}");
    }
    return fmt::format(R"({{"TableName":"abc","Item":{{"a":{}@{}}}}})", open, close);
  };
  EXPECT_EQ(outcome("PutItem", with(nested(120), R"({"S":"x"})")), "ok");  // too deep, which decoding will tell
  EXPECT_EQ(outcome("PutItem", with(nested(120), R"({"S":1})")),
            "Serialization: NUMBER_VALUE cannot be converted to String");
}

TEST(RequestCheck, RefusesARepeatedMember) {
  expect_all({
      {"PutItem", R"({"TableName":"abc","Item":{},"ReturnValues":"NONE","ReturnValues":"NONE"})",
       "Serialization: Duplicate member: ReturnValues"},
      {"GetItem", R"({"TableName":"abc","Key":null,"Key":{"pk":{"S":"a"}}})", "Serialization: Duplicate member: Key"},
      {"BatchGetItem", R"({"RequestItems":{"abc":{"Keys":[{}]},"abd":{"Keys":[{}]},"abc":{"Keys":[{}]}}})",
       "Serialization: Duplicate member: abc"},
  });
}

// Writes bodies that follow a shape more or less.
class RandomBody {
 public:
  explicit RandomBody(std::uint64_t seed) : random_(seed) {}

  std::string write(const Shape& shape) {
    out_.clear();
    value(shape, 0);
    return std::move(out_);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void scalar() {
    static constexpr std::array kTokens = {
        "null", "true", "false", "0",     "-7",       "3.5",     "1e300",
        "[]",   "{}",   "\"\"",  "\"a\"", "\"AAA=\"", "\"é😀\"", "18446744073709551615"};
    out_ += kTokens[below(kTokens.size())];
  }

  void text(const Shape& shape) {
    if (!shape.enum_values.empty() && below(2) == 0) {
      out_ += fmt::format("\"{}\"", shape.enum_values[below(shape.enum_values.size())]);
    } else {
      out_ += fmt::format("\"{}\"", std::string(below(8), 'a'));
    }
  }

  void value(const Shape& shape, int depth) {
    if (depth > 12 || below(40) == 0) return scalar();
    switch (shape.type) {
      case ShapeType::String: return text(shape);
      case ShapeType::Blob: out_ += "\"AAA=\""; return;
      case ShapeType::Boolean: out_ += "true"; return;
      case ShapeType::Integer:
      case ShapeType::Long:
      case ShapeType::Double:
      case ShapeType::Timestamp: out_ += std::to_string(below(120)); return;
      case ShapeType::List: return elements('[', ']', shape, depth);
      case ShapeType::Map: return elements('{', '}', shape, depth);
      case ShapeType::Structure:
      case ShapeType::AttributeValue: return structure(shape, depth);
    }
  }

  void elements(char open, char close, const Shape& shape, int depth) {
    out_ += open;
    for (std::uint64_t left = below(4); left != 0; --left) {
      if (open == '{') out_ += fmt::format("\"{}\":", std::string(below(6), 'k'));
      value(*shape.element, depth + 1);
      if (left != 1) out_ += ',';
    }
    out_ += close;
  }

  void structure(const Shape& shape, int depth) {
    out_ += "{\"unknown\":1";
    for (const auto& member : shape.members) {
      if (below(3) == 0) continue;
      out_ += fmt::format(",\"{}\":", member.name);
      value(*member.shape, depth + 1);
    }
    out_ += '}';
  }

  std::mt19937_64 random_;
  std::string out_;
};

TEST(RequestCheck, HasAnAnswerForAnyBody) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomBody body(seed);
    for (const auto& operation : operations()) {
      const auto text = body.write(*operation.input);
      SCOPED_TRACE(fmt::format("{} {} {}", seed, operation.name, text));
      const auto got = outcome(operation.name, text);
      EXPECT_TRUE(got == "ok" || got.starts_with("Validation: ") || got.starts_with("Serialization: ")) << got;
      EXPECT_NE(got, "Serialization: ");  // a violation was seen and then not found
    }
  }
}

TEST(IntegerOf, RoundsDownAndStaysInRange) {
  value::JsonParser parser;
  const auto number = [&parser](std::string_view text) { return integer_of(*parser.parse(text)); };
  EXPECT_EQ(number("7"), 7);
  EXPECT_EQ(number("7.9"), 7);
  EXPECT_EQ(number("-0.5"), -1);
  EXPECT_EQ(number("18446744073709551615"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(number("1e300"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(number("-1e300"), std::numeric_limits<std::int64_t>::min());
}

}  // namespace
}  // namespace stator::api
