#pragma once

#include <optional>

#include "stator/model/model.h"

namespace stator::model {

// The bytes that DynamoDB allows in a key.
inline constexpr std::size_t kMaxPartitionKeyBytes = 2048;
inline constexpr std::size_t kMaxSortKeyBytes = 1024;

enum class KeyPart : std::uint8_t { Partition, Sort };

// The value of one key attribute of a row; nullopt when none of its alternatives applies.
// Errors: Validation: an attribute does not fit into the key, or the key is longer than DynamoDB allows.
Result<std::optional<value::AttributeValue>> key_value(const Record& record, const KeyDesign& key, KeyPart part,
                                                       const value::Item& attributes, unsigned shard);

// The shard of an entity's rows, from the primary key of its main record.
unsigned shard_of_key(const TableDesign& table, const value::Item& main_key);

// A rendered template as a value of the key's type.  Errors: Validation, when a number is needed and it is none.
Result<value::AttributeValue> as_key(const KeyDesign& key, std::string text);

// Errors: Validation, when `text` is longer than DynamoDB allows; `made_of` are the attributes it was made of.
Result<void> check_key_size(std::string_view key, KeyPart part, std::string_view text,
                            const std::vector<std::string>& made_of);

}  // namespace stator::model
