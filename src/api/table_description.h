#pragma once

#include <string_view>

#include "stator/api/operation.h"

namespace stator::api {

// A table as CreateTable, DescribeTable and UpdateTable describe it.  Errors: Storage.
Result<void> write_table_description(value::JsonWriter& json, const Environment& environment,
                                     const engine::Table& table, std::string_view status);

// "KeySchema":[...]
void write_key_schema(value::JsonWriter& json, const engine::KeySchema& keys);

// {"TableDescription":{...}}
Result<std::string> table_description_body(const Environment& environment, const engine::Table& table,
                                           std::string_view status);
// The same from DeleteTable, which says less: neither keys nor indexes, and no longer how much was in it.
std::string deleted_table_body(const Environment& environment, const engine::Table& table);

}  // namespace stator::api
