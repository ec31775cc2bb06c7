#include "stator/model/row_keys.h"

#include <fmt/format.h>

namespace stator::model {
namespace {

using value::AttributeValue;

bool can_be_key(const KeyDesign& key, const AttributeValue& value) {
  if (value.type() != key.type) return false;
  if (const auto* text = value.as_string()) return !text->empty();
  if (const auto* binary = value.as_binary()) return !binary->bytes.empty();
  return true;
}

// The bytes that DynamoDB counts; numbers are never too long.
std::string_view bytes_of(const AttributeValue& value) {
  if (const auto* text = value.as_string()) return *text;
  if (const auto* binary = value.as_binary()) return binary->bytes;
  return {};
}

std::size_t most_bytes(KeyPart part) { return part == KeyPart::Partition ? kMaxPartitionKeyBytes : kMaxSortKeyBytes; }
bool fits(KeyPart part, std::string_view text) { return text.size() <= most_bytes(part); }

Error too_long(std::string_view key, KeyPart part, std::string_view text, const std::vector<std::string>& made_of) {
  return validation_error(fmt::format("{} is too long: the key {} would have {} bytes, and can have {}",
                                      fmt::join(made_of, " and "), key, text.size(), most_bytes(part)));
}

std::string key_text(const value::Item& key, std::string_view name) {
  const AttributeValue* value = key.find(name);
  if (value == nullptr) return {};
  if (const auto* text = value->as_string()) return *text;
  if (const auto* binary = value->as_binary()) return binary->bytes;
  return value->as_number()->to_string();
}

}  // namespace

Result<std::optional<AttributeValue>> key_value(const Record& record, const KeyDesign& key, KeyPart part,
                                                const value::Item& attributes, unsigned shard) {
  using Found = std::optional<AttributeValue>;
  const KeyRule* rule = record.find_key(key.name);
  if (rule == nullptr) {
    const AttributeValue* own = attributes.find(key.name);
    if (own == nullptr || !can_be_key(key, *own)) return Found();
    if (!fits(part, bytes_of(*own))) return too_long(key.name, part, bytes_of(*own), {key.name});
    return Found(*own);
  }
  for (const auto& alternative : rule->alternatives) {
    if (alternative.when && !TRY(alternative.when->holds(scope_of(attributes)))) continue;
    auto text = TRY(alternative.text.render(lookup_in(attributes), shard));
    if (!text || text->empty()) continue;
    if (!fits(part, *text)) return too_long(key.name, part, *text, alternative.text.attributes());
    return Found(TRY(as_key(key, std::move(*text))));
  }
  return Found();
}

unsigned shard_of_key(const TableDesign& table, const value::Item& main_key) {
  return shard_of(key_text(main_key, table.partition.name),
                  table.sort ? key_text(main_key, table.sort->name) : std::string());
}

Result<AttributeValue> as_key(const KeyDesign& key, std::string text) {
  if (key.type == value::Type::S) return AttributeValue(std::move(text));
  if (key.type == value::Type::B) return AttributeValue::binary(text);
  const auto number = value::Number::parse(text);
  if (!number.ok()) return validation_error(fmt::format("the key {} must be a number, and is '{}'", key.name, text));
  return AttributeValue(*number);
}

Result<void> check_key_size(std::string_view key, KeyPart part, std::string_view text,
                            const std::vector<std::string>& made_of) {
  if (fits(part, text)) return {};
  return too_long(key, part, text, made_of);
}

}  // namespace stator::model
