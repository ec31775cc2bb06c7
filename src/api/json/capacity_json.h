#pragma once

#include <optional>
#include <vector>

#include "stator/api/items/item_operations.h"
#include "stator/api/json/json_members.h"
#include "stator/value/json.h"

// Consumed capacity on the wire.
namespace stator::api {

CapacityDetail capacity_detail(const JsonMembers& request);  // ReturnConsumedCapacity

// {"TableName":...,"CapacityUnits":...}, with the parts when they were asked for.
void write_consumed(value::JsonWriter& json, const ConsumedCapacity& capacity);
ConsumedCapacity read_consumed(const JsonMembers& json);
// Adds ,"ConsumedCapacity":{...}
void write_capacity(value::JsonWriter& json, const ConsumedCapacity& capacity);
void write_capacity(value::JsonWriter& json, const std::optional<ConsumedCapacity>& capacity);
// Adds ,"ConsumedCapacity":[...] unless there are none.
void write_capacity(value::JsonWriter& json, const std::vector<ConsumedCapacity>& capacity);

}  // namespace stator::api
