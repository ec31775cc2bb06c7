#include "stator/api/typed_check.h"

#include <fmt/format.h>

#include <initializer_list>

#include "stator/api/functions.h"
#include "stator/api/json/shape_constraints.h"
#include "stator/api/tables/table_name.h"
#include "stator/value/well_formed.h"

namespace stator::api {
namespace {

constexpr std::size_t kMaxAttributeNameBytes = 255;
constexpr std::size_t kMaxKeyElements = 8;  // of an index with four attributes in each part
constexpr std::size_t kMaxNonKeyAttributes = 20;
constexpr std::size_t kMaxStatementBytes = 8192;
constexpr std::size_t kMaxBatchStatements = 25;
constexpr std::size_t kMaxTransactStatements = 100;
constexpr std::int64_t kMaxTokenLength = 36;

Result<void> check_definitions(const std::vector<AttributeDefinition>& definitions) {
  for (const auto& definition : definitions) {
    TRY(check_attribute_name(definition.name));
    if (definition.type > value::Type::B) {
      return validation_error(fmt::format("The type of attribute {} must be S, N or B", definition.name));
    }
  }
  return {};
}

Result<void> check_keys(const std::vector<KeyElement>& keys, std::size_t most) {
  TRY(check_count("KeySchema", keys.size(), most));
  for (const auto& key : keys) TRY(check_attribute_name(key.name));
  return {};
}

Result<void> check_index_name(std::string_view name) {
  if (name.starts_with("arn:")) return validation_error(fmt::format("Invalid index name: {}", name));
  TRY(table_name(name));
  return {};
}

Result<void> check_units(const std::optional<Throughput>& throughput) {
  if (!throughput || (throughput->read_units >= 1 && throughput->write_units >= 1)) return {};
  return validation_error("ReadCapacityUnits and WriteCapacityUnits must be greater than or equal to 1");
}

Result<void> check_index(const IndexDefinition& index) {
  TRY(check_index_name(index.name));
  TRY(check_keys(index.keys, kMaxKeyElements));
  TRY(check_units(index.throughput));
  if (!index.projection.attributes) return {};
  TRY(check_count("NonKeyAttributes", index.projection.attributes->size(), kMaxNonKeyAttributes));
  for (const auto& name : *index.projection.attributes) TRY(check_attribute_name(name));
  return {};
}

Result<void> check_texts(std::initializer_list<const std::optional<std::string>*> texts) {
  for (const auto* text : texts) {
    if (*text) TRY(value::check_text(**text));
  }
  return {};
}

Result<void> check_tags(const std::vector<Tag>& tags) {
  for (const auto& tag : tags) TRY(check_texts({&tag.key, &tag.value}));
  return {};
}

// Of one statement, which `statement` has the members of.
template <typename Statement>
Result<void> check_statement(const Statement& statement) {
  if (statement.statement.empty() || statement.statement.size() > kMaxStatementBytes) {
    return validation_error("A statement must have between 1 and 8192 bytes");
  }
  TRY(value::check_text(statement.statement));
  if (!statement.parameters) return {};
  if (statement.parameters->empty()) return validation_error("Parameters must have at least one value");
  for (const auto& parameter : *statement.parameters) TRY(value::check_well_formed(parameter));
  return {};
}

}  // namespace

Result<void> check_limit(const std::optional<std::int64_t>& limit, std::int64_t most) {
  if (!limit || (*limit >= 1 && *limit <= most)) return {};
  return validation_error(fmt::format("Limit must be between 1 and {}", most));
}

Result<void> check_attribute_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxAttributeNameBytes) {
    return validation_error("The name of an attribute must have between 1 and 255 bytes");
  }
  return value::check_name(name);
}

Result<void> check_token(const std::optional<ClientRequestToken>& token) {
  if (!token) return {};
  const auto length = length_of(token->text);
  if (length < 1 || length > kMaxTokenLength) {
    return validation_error("ClientRequestToken must have between 1 and 36 characters");
  }
  return value::check_text(token->text);
}

Result<void> check_count(std::string_view member, std::size_t count, std::size_t most) {
  if (count >= 1 && count <= most) return {};
  return validation_error(fmt::format("{} must have between 1 and {} members", member, most));
}

Result<void> check(const CreateTableRequest& request) {
  TRY(check_definitions(request.definitions));
  TRY(check_keys(request.keys, 2));
  TRY(check_units(request.throughput));
  TRY(check_tags(request.tags));
  TRY(check_texts({&request.table_class}));
  if (request.encryption) TRY(check_texts({&request.encryption->key, &request.encryption->type}));
  for (const auto* indexes : {&request.local_indexes, &request.global_indexes}) {
    if (!*indexes) continue;
    for (const auto& index : **indexes) TRY(check_index(index));
  }
  return {};
}

Result<void> check(const UpdateTableRequest& request) {
  if (request.definitions) TRY(check_definitions(*request.definitions));
  TRY(check_units(request.throughput));
  TRY(check_texts({&request.table_class}));
  if (request.encryption) TRY(check_texts({&request.encryption->key, &request.encryption->type}));
  if (!request.index_updates) return {};
  for (const auto& [update, create, remove] : *request.index_updates) {
    if (update) TRY(check_index_name(update->name));
    if (update) TRY(check_units(update->throughput));
    if (create) TRY(check_index(*create));
    if (remove) TRY(check_index_name(remove->name));
  }
  return {};
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

Result<void> check(const ExecuteStatementRequest& request) {
  TRY(check_limit(request.limit, INT32_MAX));
  return check_statement(request);
}

Result<void> check(const BatchExecuteStatementRequest& request) {
  TRY(check_count("Statements", request.statements.size(), kMaxBatchStatements));
  for (const auto& statement : request.statements) TRY(check_statement(statement));
  return {};
}

Result<void> check(const ExecuteTransactionRequest& request) {
  TRY(check_token(request.token));
  TRY(check_count("TransactStatements", request.statements.size(), kMaxTransactStatements));
  for (const auto& statement : request.statements) TRY(check_statement(statement));
  return {};
}

}  // namespace stator::api
