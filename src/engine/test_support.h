#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/engine/catalog.h"
#include "stator/engine/schema.h"
#include "stator/engine/write/item_write.h"
#include "stator/expr/binder.h"
#include "stator/value/test_random_value.h"

// Short ways to say tables, items and expressions, for the tests and benchmarks of the engine.
namespace stator::engine::testing {

inline value::AttributeValue S(std::string_view text) { return value::AttributeValue::string(text); }
inline value::AttributeValue N(std::integral auto number) {
  return value::AttributeValue::number(static_cast<std::int64_t>(number));
}
inline value::AttributeValue N(std::string_view text) {
  return value::AttributeValue(value::Number::parse(text).value());
}
inline value::AttributeValue B(std::string_view bytes) { return value::AttributeValue::binary(bytes); }

// "pk:S" as a key attribute.
inline KeyAttribute attribute(std::string_view text) {
  const auto colon = text.find(':');
  const char type = text[colon + 1];
  return {std::string(text.substr(0, colon)), type == 'N'   ? value::Type::N
                                              : type == 'B' ? value::Type::B
                                                            : value::Type::S};
}

inline KeySchema keys(std::initializer_list<std::string_view> partition,
                      std::initializer_list<std::string_view> sort = {}) {
  KeySchema schema;
  for (const auto text : partition) schema.partition.push_back(attribute(text));
  for (const auto text : sort) schema.sort.push_back(attribute(text));
  return schema;
}

inline Table table(std::string_view name, KeySchema schema) {
  Table table;
  table.id = {1};
  table.name = name;
  table.uuid = "00000000-0000-4000-8000-000000000000";
  table.keys = std::move(schema);
  return table;
}

inline Index& add_index(Table& table, std::string_view name, IndexKind kind, KeySchema schema,
                        IndexProjection projection = {}) {
  Index index;
  index.id = {table.next_index_id++};
  index.name = name;
  index.kind = kind;
  index.keys = std::move(schema);
  index.projection = std::move(projection);
  return table.indexes.emplace_back(std::move(index));
}

inline TablePtr shared(Table table) { return std::make_shared<const Table>(std::move(table)); }

inline expr::Condition condition(std::string_view text, std::optional<expr::Values> values = {}) {
  expr::Cache cache;
  expr::Binder binder({}, std::move(values), cache);
  return binder.condition(expr::Kind::Condition, text).value();
}

inline expr::Update update(std::string_view text, std::optional<expr::Values> values = {}) {
  expr::Cache cache;
  expr::Binder binder({}, std::move(values), cache);
  return binder.update(text).value();
}

inline WriteRequest put(TablePtr table, value::Item item, std::optional<expr::Condition> condition = {}) {
  WriteRequest request;
  request.actions.push_back({.kind = WriteAction::Kind::Put,
                             .table = std::move(table),
                             .item = std::move(item),
                             .condition = std::move(condition),
                             .update = {}});
  return request;
}

inline WriteRequest erase(TablePtr table, value::Item key, std::optional<expr::Condition> condition = {}) {
  auto request = put(std::move(table), std::move(key), std::move(condition));
  request.actions[0].kind = WriteAction::Kind::Delete;
  return request;
}

inline WriteRequest change(TablePtr table, value::Item key, std::optional<expr::Update> update,
                           std::optional<expr::Condition> condition = {}) {
  auto request = put(std::move(table), std::move(key), std::move(condition));
  request.actions[0].kind = WriteAction::Kind::Update;
  request.actions[0].update = std::move(update);
  return request;
}

// The plain order of two key values of one type. Key bytes must have the same order.
inline std::strong_ordering compare_plainly(const value::AttributeValue& a, const value::AttributeValue& b) {
  if (a.as_number() != nullptr) return *a.as_number() <=> *b.as_number();
  const auto bytes = [](const value::AttributeValue& v) -> const std::string& {
    return v.as_string() != nullptr ? *v.as_string() : v.as_binary()->bytes;
  };
  return bytes(a).compare(bytes(b)) <=> 0;
}

// A key value of the type that is likely to break an encoding: short, full of zeros, a prefix of others, or extreme.
inline value::AttributeValue random_key_value(Random& random, value::Type type) {
  if (type == value::Type::N) {
    static constexpr std::string_view kExtremes[] = {"0",
                                                     "1E-130",
                                                     "-1E-130",
                                                     "9.9999999999999999999999999999999999999E+125",
                                                     "-9.9999999999999999999999999999999999999E+125",
                                                     "1",
                                                     "-1",
                                                     "10",
                                                     "100",
                                                     "0.1",
                                                     "99",
                                                     "-99",
                                                     "1E125"};
    if (random.below(3) == 0) return N(kExtremes[random.below(std::size(kExtremes))]);
    if (random.below(2) == 0) return N(static_cast<std::int64_t>(random.below(2001)) - 1000);
    return value::AttributeValue(value::random_number(random));
  }
  // Text is UTF-8; bytes are anything.
  static constexpr std::string_view kText = {"\0\1ab\x7f", 5};
  static constexpr std::string_view kBytes = {"\0\1a\xfe\xff", 5};
  const auto alphabet = type == value::Type::S ? kText : kBytes;
  std::string bytes(1, alphabet[random.below(alphabet.size())]);  // a key is never empty
  for (auto more = random.below(5); more > 0; --more) bytes.push_back(alphabet[random.below(alphabet.size())]);
  if (random.below(50) == 0) bytes.append(900, alphabet[random.below(alphabet.size())]);
  return type == value::Type::S ? S(bytes) : B(bytes);
}

}  // namespace stator::engine::testing
