#pragma once

#include <string_view>

namespace stator::expr {

// Whether DynamoDB reserves the word, in upper or lower case, so that an expression must name such an attribute by a
// #name.
bool is_reserved_word(std::string_view word);

}  // namespace stator::expr
