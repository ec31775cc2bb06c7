#include <string>
#include <utility>

#include "stator/base/assert.h"
#include "stator/client/client.h"
#include "stator/client/write_json.h"

namespace stator::client {
namespace {

using api::Write;
using value::JsonWriter;

std::string_view operation_of(Write::Kind kind) {
  switch (kind) {
    case Write::Kind::Put: return "PutItem";
    case Write::Kind::Update: return "UpdateItem";
    case Write::Kind::Delete: return "DeleteItem";
    case Write::Kind::Check: break;
  }
  STATOR_ASSERT(false, "a check alone is no write");
}

std::string_view member_of(Write::Kind kind) {
  switch (kind) {
    case Write::Kind::Put: return "Put";
    case Write::Kind::Update: return "Update";
    case Write::Kind::Delete: return "Delete";
    case Write::Kind::Check: return "ConditionCheck";
  }
  return {};
}

void write_members(JsonWriter& json, const Write& write) {
  json.key("TableName").string(write.table);
  json.key(write.kind == Write::Kind::Put ? "Item" : "Key").item(write.item);
  if (!write.update.empty()) json.key("UpdateExpression").string(write.update);
  if (!write.condition.empty()) {
    json.key("ConditionExpression").string(write.condition);
    json.key("ReturnValuesOnConditionCheckFailure").string("ALL_OLD");
  }
  write_placeholders(json, write.names, write.values);
}

}  // namespace

void write_placeholders(JsonWriter& json, const value::Item& names, const value::Item& values,
                        const value::Item& more_names, const value::Item& more_values) {
  if (!names.empty() || !more_names.empty()) {
    json.key("ExpressionAttributeNames").begin_object();
    for (const auto* list : {&names, &more_names}) {
      for (const auto& [placeholder, name] : *list) json.key(placeholder).string(*name.as_string());
    }
    json.end_object();
  }
  if (!values.empty() || !more_values.empty()) {
    json.key("ExpressionAttributeValues").begin_object();
    for (const auto* list : {&values, &more_values}) {
      for (const auto& [placeholder, content] : *list) json.key(placeholder).attribute(content);
    }
    json.end_object();
  }
}

void Client::write(Write write, api::ReplyCallback reply) {
  std::string body;
  JsonWriter json(body);
  json.begin_object();
  write_members(json, write);
  json.end_object();
  call(operation_of(write.kind), body, std::move(reply));
}

void Client::transact(std::vector<Write> writes, api::ReplyCallback reply) {
  constexpr std::size_t kUsualWrite = 1024;
  std::string body;
  body.reserve(writes.size() * kUsualWrite);
  JsonWriter json(body);
  // Without a token: a remote client gives it one, and in process no answer is lost on its way.
  json.begin_object().key("TransactItems").begin_array();
  for (const auto& write : writes) {
    json.begin_object().key(member_of(write.kind)).begin_object();
    write_members(json, write);
    json.end_object().end_object();
  }
  json.end_array().end_object();
  call("TransactWriteItems", body, std::move(reply));
}

}  // namespace stator::client
