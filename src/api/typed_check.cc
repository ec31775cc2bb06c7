#include "stator/api/typed_check.h"

#include <fmt/format.h>

#include <initializer_list>
#include <string>

#include "stator/api/functions.h"
#include "stator/api/json/request_check.h"
#include "stator/api/json/table_fields.h"
#include "stator/api/json/violations.h"
#include "stator/base/assert.h"
#include "stator/value/well_formed.h"

namespace stator::api {
namespace {

const Shape& shape_of(const Shape& structure, std::string_view member) {
  const auto index = structure.find(member);
  STATOR_ASSERT(index < structure.members.size(), "the API's model has no such member");
  return *structure.members[index].shape;
}

const Shape& shape_of(std::string_view operation, std::string_view member) {
  const auto* input = input_shape(operation);
  STATOR_ASSERT(input != nullptr, "the API's model has no such operation");
  return shape_of(*input, member);
}

// For requests that are rare and small: holds the JSON of one against the shape of its operation.
template <typename Request>
Result<void> check_as_json(std::string_view operation, const Request& request) {
  return check_request(*input_shape(operation), fields_to_json(request));
}

Result<void> check_texts(std::initializer_list<const std::optional<std::string>*> texts) {
  for (const auto* text : texts) {
    if (*text) TRY(value::check_text(**text));
  }
  return {};
}

Result<void> check_names(const std::vector<AttributeDefinition>& definitions) {
  for (const auto& definition : definitions) TRY(value::check_name(definition.name));
  return {};
}

Result<void> check_names(const IndexDefinition& index) {
  TRY(value::check_text(index.name));
  for (const auto& key : index.keys) TRY(value::check_name(key.name));
  if (!index.projection.attributes) return {};
  for (const auto& name : *index.projection.attributes) TRY(value::check_name(name));
  return {};
}

Result<void> check_tags(const std::vector<Tag>& tags) {
  for (const auto& tag : tags) TRY(check_texts({&tag.key, &tag.value}));
  return {};
}

// Of one statement, whose members `shape` has.  `path`: of the statement in its request, with a dot at the end; empty
// for a request that is one statement.
template <typename Statement>
Result<void> check_statement(const Shape& shape, const std::string& path, const Statement& statement) {
  TRY(check_text(shape_of(shape, "Statement"), path + "statement", statement.statement));
  TRY(value::check_text(statement.statement));
  if (!statement.parameters) return {};
  TRY(check_list(shape_of(shape, "Parameters"), path + "parameters", statement.parameters->size()));
  for (const auto& parameter : *statement.parameters) TRY(value::check_well_formed(parameter));
  return {};
}

Result<void> check_statements(const Shape& list, std::string_view path,
                              const std::vector<StatementRequest>& statements) {
  TRY(check_list(list, path, statements.size()));
  for (std::size_t i = 0; i < statements.size(); ++i) {
    TRY(check_statement(*list.element, fmt::format("{}.{}.member.", path, i + 1), statements[i]));
  }
  return {};
}

}  // namespace

Result<void> check_limit(std::string_view operation, const std::optional<std::int64_t>& limit) {
  return limit ? check_number(shape_of(operation, "Limit"), "limit", *limit) : Result<void>();
}

Result<void> check_token(std::string_view operation, const std::optional<ClientRequestToken>& token) {
  if (!token) return {};
  TRY(value::check_text(token->text));
  return check_text(shape_of(operation, "ClientRequestToken"), "clientRequestToken", token->text);
}

Result<void> check(const CreateTableRequest& request) {
  TRY(value::check_text(request.table));
  TRY(check_names(request.definitions));
  for (const auto& key : request.keys) TRY(value::check_name(key.name));
  TRY(check_tags(request.tags));
  TRY(check_texts({&request.table_class}));
  if (request.encryption) TRY(check_texts({&request.encryption->key, &request.encryption->type}));
  for (const auto* indexes : {&request.local_indexes, &request.global_indexes}) {
    if (!*indexes) continue;
    for (const auto& index : **indexes) TRY(check_names(index));
  }
  return check_as_json("CreateTable", request);
}

Result<void> check(const UpdateTableRequest& request) {
  TRY(value::check_text(request.table));
  if (request.definitions) TRY(check_names(*request.definitions));
  TRY(check_texts({&request.table_class}));
  if (request.encryption) TRY(check_texts({&request.encryption->key, &request.encryption->type}));
  for (const auto& [update, create, remove] : request.index_updates.value_or(std::vector<IndexUpdate>())) {
    if (update) TRY(value::check_text(update->name));
    if (create) TRY(check_names(*create));
    if (remove) TRY(value::check_text(remove->name));
  }
  return check_as_json("UpdateTable", request);
}

Result<void> check(const UpdateTimeToLiveRequest& request) {
  TRY(value::check_text(request.table));
  TRY(value::check_name(request.time_to_live.attribute));
  return check_as_json("UpdateTimeToLive", request);
}

Result<void> check(const TagResourceRequest& request) {
  TRY(check_texts({&request.arn}));
  return request.tags ? check_tags(*request.tags) : Result<void>();
}

Result<void> check(const UntagResourceRequest& request) {
  TRY(check_texts({&request.arn}));
  if (!request.keys) return {};
  for (const auto& key : *request.keys) TRY(value::check_text(key));
  return {};
}

Result<void> check(const ListTagsOfResourceRequest& request) { return check_texts({&request.arn}); }

Result<void> check(const ListTablesRequest& request) { return check_limit("ListTables", request.limit); }

Result<void> check(const ExecuteStatementRequest& request) {
  TRY(check_limit("ExecuteStatement", request.limit));
  return check_statement(*input_shape("ExecuteStatement"), {}, request);
}

Result<void> check(const BatchExecuteStatementRequest& request) {
  return check_statements(shape_of("BatchExecuteStatement", "Statements"), "statements", request.statements);
}

Result<void> check(const ExecuteTransactionRequest& request) {
  TRY(check_token("ExecuteTransaction", request.token));
  return check_statements(shape_of("ExecuteTransaction", "TransactStatements"), "transactStatements",
                          request.statements);
}

}  // namespace stator::api
