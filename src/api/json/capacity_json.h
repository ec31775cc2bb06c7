#pragma once

#include <optional>
#include <vector>

#include "stator/api/items/item_operations.h"
#include "stator/api/json/request.h"
#include "stator/value/json.h"

// Consumed capacity on the wire.
namespace stator::api {

CapacityDetail capacity_detail(const Request& request);  // ReturnConsumedCapacity

// {"TableName":...,"CapacityUnits":...}, with the parts when they were asked for.
void write_consumed(value::JsonWriter& json, const ConsumedCapacity& capacity);
ConsumedCapacity read_consumed(const Request& json);
// Adds ,"ConsumedCapacity":{...}
void write_capacity(value::JsonWriter& json, const ConsumedCapacity& capacity);
void write_capacity(value::JsonWriter& json, const std::optional<ConsumedCapacity>& capacity);
// Adds ,"ConsumedCapacity":[...] unless there are none.
void write_capacity(value::JsonWriter& json, const std::vector<ConsumedCapacity>& capacity);

}  // namespace stator::api
