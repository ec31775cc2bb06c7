#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "stator/api/testing/request_cases.h"

namespace stator::api {
namespace {

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

}  // namespace
}  // namespace stator::api
