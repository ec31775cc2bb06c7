// Counts how often it was run, in a database of its own.
//
//   embedded FOLDER

#include <stator/database.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

// Runs one operation, as it would be sent over the wire, and answers what it returns.
std::string call(stator::Database& database, const char* operation, const std::string& json) {
  const auto answer = database.call(operation, json);
  if (!answer.ok) throw std::runtime_error(std::string(operation) + ": " + answer.body);
  return answer.body;
}

void make_table_if_missing(stator::Database& database) {
  const auto made = database.call("CreateTable", R"({
    "TableName": "Counters", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "Name", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "Name", "KeyType": "HASH"}]})");
  if (!made.ok && made.error_name != "ResourceInUseException") throw std::runtime_error(made.body);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: embedded FOLDER\n");
    return 2;
  }
  try {
    stator::Database database({.data_folder = argv[1]});
    make_table_if_missing(database);
    const auto counted = call(database, "UpdateItem", R"({
      "TableName": "Counters", "Key": {"Name": {"S": "runs"}},
      "UpdateExpression": "ADD Runs :one", "ExpressionAttributeValues": {":one": {"N": "1"}},
      "ReturnValues": "UPDATED_NEW"})");
    std::printf("%s\n", counted.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "embedded: %s\n", error.what());
    return 1;
  }
}
