#pragma once

#include "stator/value/attribute_value.h"

namespace stator::value {

inline constexpr std::size_t kMaxNameLength = 65535;  // of an attribute, in code points

// The checks of decode_item() and of the api's check_request(), for an item that was built in this process:
// texts and names are UTF-8 and names not too long, sets hold their members in order, each once and never none, nothing
// is nested deeper than kMaxNesting.  Errors: Validation, with the texts of decoding where it has one; Serialization
// if a text is no UTF-8.
Result<void> check_well_formed(const AttributeMap& item);
// The same for one value, such as an expression's.
Result<void> check_well_formed(const AttributeValue& value);
// The same for a name, or any text.
Result<void> check_name(std::string_view name);
Result<void> check_text(std::string_view text);
bool is_utf8(std::string_view text);

}  // namespace stator::value
