#pragma once

#include <string_view>

#include "stator/api/operation.h"

namespace stator::api {

// A table as CreateTable, DescribeTable, UpdateTable and DeleteTable describe it.  Errors: Storage.
Result<void> write_table_description(value::JsonWriter& json, const Environment& environment,
                                     const engine::Table& table, std::string_view status);

// "KeySchema":[...]
void write_key_schema(value::JsonWriter& json, const engine::KeySchema& keys);

// {"TableDescription":{...}}
Result<std::string> table_description_body(const Environment& environment, const engine::Table& table,
                                           std::string_view status);

}  // namespace stator::api
