#pragma once

#include <optional>
#include <string_view>

#include "stator/value/attribute_value.h"

namespace stator::value {

// Reads an item in the spelling of append_json(), which takes half the work of reading any JSON.  Nothing for every
// other text, even if parse_item() understands it: use that instead.  If this reads a text, parse_item() gives the same
// item.
std::optional<AttributeMap> read_canonical_json(std::string_view json);

}  // namespace stator::value
