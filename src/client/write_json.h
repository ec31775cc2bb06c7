#pragma once

#include "stator/value/json.h"

namespace stator::client {

// ExpressionAttributeNames and ExpressionAttributeValues of a request, where there are any.  `more` joins them.
void write_placeholders(value::JsonWriter& json, const value::Item& names, const value::Item& values,
                        const value::Item& more_names = {}, const value::Item& more_values = {});

}  // namespace stator::client
