#pragma once

#include <string_view>
#include <vector>

#include "stator/base/result.h"
#include "stator/engine/schema.h"
#include "stator/value/attribute_value.h"

// The rules of a table's keys for an item, with DynamoDB's texts.  All errors are Validation.
namespace stator::engine {

inline constexpr std::size_t kMaxPartitionKeyBytes = 2048;
inline constexpr std::size_t kMaxSortKeyBytes = 1024;
inline constexpr std::size_t kMaxTransactionBytes = std::size_t{4} << 20;

// All items of a transaction together.  Errors: Validation.
Result<void> check_transaction_size(std::size_t bytes);

// An item to be put: has the table's key attributes with the right types and sizes, and nothing unfit for an index key.
Result<void> check_item(const Table& table, const value::Item& item);
// A Key parameter: exactly the table's key attributes.
Result<void> check_key(const Table& table, const value::Item& key);
// An item that an update made of another: index key attributes that it changed fit their indexes.
Result<void> check_updated_item(const Table& table, const value::Item& before, const value::Item& after);

// Key values within their limits.
Result<void> check_key_sizes(const KeySchema& keys, const value::Item& item);

// Attributes that an expression looks inside of are not keys.
Result<void> check_scalar_keys(const Table& table, const std::vector<std::string_view>& nested_attributes);

// The size of a key value alone, in bytes.
std::size_t key_value_size(const value::AttributeValue& value);

}  // namespace stator::engine
