#include "stator/engine/item_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/value/item_size.h"

namespace stator::engine {
namespace {

bool is_empty(const value::AttributeValue& value) {
  if (const auto* text = value.as_string()) return text->empty();
  if (const auto* binary = value.as_binary()) return binary->bytes.empty();
  return false;
}

std::string_view empty_kind(const value::AttributeValue& value) {
  return value.type() == value::Type::B ? "binary" : "string";
}

Result<void> check_size(const value::AttributeValue& field, bool partition) {
  if (partition && key_value_size(field) > kMaxPartitionKeyBytes) {
    return validation_error(
        "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes");
  }
  if (!partition && key_value_size(field) > kMaxSortKeyBytes) {
    return validation_error(
        "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of "
        "1024 "
        "bytes");
  }
  return {};
}

bool is_partition(const KeySchema& keys, const KeyAttribute& attribute) {
  return std::any_of(keys.partition.begin(), keys.partition.end(),
                     [&](const KeyAttribute& candidate) { return candidate.name == attribute.name; });
}

Error index_type_mismatch(const Index& index, const KeyAttribute& attribute, const value::AttributeValue& field) {
  return validation_error(fmt::format(
      "One or more parameter values were invalid: Type mismatch for Index Key {} Expected: {} Actual: {} IndexName: {}",
      attribute.name, value::type_name(attribute.type), value::type_name(field.type()), index.name));
}

}  // namespace

std::size_t key_value_size(const value::AttributeValue& value) { return value::value_size_bytes(value); }

Result<void> check_key_sizes(const KeySchema& keys, const value::Item& item) {
  for (const auto* attributes : {&keys.partition, &keys.sort}) {
    for (const auto& attribute : *attributes) {
      const auto* field = item.find(attribute.name);
      if (field != nullptr) TRY(check_size(*field, attributes == &keys.partition));
    }
  }
  return {};
}

Result<void> check_scalar_keys(const Table& table, const std::vector<std::string_view>& nested_attributes) {
  static constexpr std::string_view kText =
      "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ";
  for (const auto attribute : nested_attributes) {
    if (table.keys.contains(attribute)) return validation_error(fmt::format("{}Key: {}", kText, attribute));
    if (table.key_attribute(attribute) != nullptr) {
      return validation_error(fmt::format("{}IndexKey: {}", kText, attribute));
    }
  }
  return {};
}

Result<void> check_item(const Table& table, const value::Item& item) {
  if (item.find("") != nullptr) {
    return validation_error("One or more parameter values were invalid: Empty attribute name");
  }
  Result<void> result;
  const auto check = [&](const KeyAttribute& attribute) {
    if (!result) return;
    const auto* field = item.find(attribute.name);
    if (field == nullptr) {
      result = validation_error(
          fmt::format("One or more parameter values were invalid: Missing the key {} in the item", attribute.name));
    } else if (field->type() != attribute.type) {
      result = validation_error(
          fmt::format("One or more parameter values were invalid: Type mismatch for key {} expected: {} actual: {}",
                      attribute.name, value::type_name(attribute.type), value::type_name(field->type())));
    } else if (is_empty(*field)) {
      result = validation_error(fmt::format(
          "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
          "an empty {} value. Key: {}",
          empty_kind(*field), attribute.name));
    }
  };
  table.keys.for_each(check);
  TRY(result);
  for (const auto& index : table.indexes) {
    index.keys.for_each([&](const KeyAttribute& attribute) {
      if (!result) return;
      const auto* field = item.find(attribute.name);
      if (field == nullptr) return;
      if (field->type() != attribute.type) {
        result = index_type_mismatch(index, attribute, *field);
      } else if (is_empty(*field)) {
        result = validation_error(fmt::format(
            "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
            "The "
            "AttributeValue for a key attribute cannot contain an empty {} value. IndexName: {}, IndexKey: {}",
            empty_kind(*field), index.name, attribute.name));
      }
    });
    TRY(result);
  }
  TRY(check_key_sizes(table.keys, item));
  for (const auto& index : table.indexes) TRY(check_key_sizes(index.keys, item));
  return {};
}

Result<void> check_key(const Table& table, const value::Item& key) {
  static constexpr std::string_view kMismatch = "The provided key element does not match the schema";
  const auto expected = table.keys.partition.size() + table.keys.sort.size();
  if (key.size() != expected) return validation_error(std::string(kMismatch));
  Result<void> result;
  table.keys.for_each([&](const KeyAttribute& attribute) {
    if (!result) return;
    const auto* field = key.find(attribute.name);
    if (field == nullptr || field->type() != attribute.type) {
      result = validation_error(std::string(kMismatch));
    } else if (is_empty(*field)) {
      result = validation_error(fmt::format(
          "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
          "an empty {} value. Key: {}",
          empty_kind(*field), attribute.name));
    }
  });
  TRY(result);
  return check_key_sizes(table.keys, key);
}

Result<void> check_updated_item(const Table& table, const value::Item& before, const value::Item& after) {
  for (const auto& index : table.indexes) {
    Result<void> result;
    index.keys.for_each([&](const KeyAttribute& attribute) {
      if (!result || table.keys.contains(attribute.name)) return;
      const auto* field = after.find(attribute.name);
      if (field == nullptr) return;
      // An item from before the index may have a wrong type for it, as long as no write changes that attribute.
      if (const auto* old = before.find(attribute.name); old != nullptr && *old == *field) return;
      if (field->type() != attribute.type) {
        result = index_type_mismatch(index, attribute, *field);
      } else if (is_empty(*field)) {
        result =
            validation_error(fmt::format("One or more parameter values are not valid. The update expression attempted "
                                         "to update a secondary index key "
                                         "to a value that is not supported. The AttributeValue for a key attribute "
                                         "cannot contain an empty {} value.",
                                         empty_kind(*field)));
      } else {
        result = check_size(*field, is_partition(index.keys, attribute));
      }
    });
    TRY(result);
  }
  return {};
}

Result<void> check_transaction_size(std::size_t bytes) {
  if (bytes <= kMaxTransactionBytes) return {};
  return validation_error("Aggregate item size cannot exceed 4194304 bytes in a transaction");
}

}  // namespace stator::engine
