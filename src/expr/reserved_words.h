#pragma once

#include <string_view>

namespace stator::expr {

// Whether DynamoDB reserves the word, in whatever case, so that an expression must call an attribute of that name by a
// #name.
bool is_reserved_word(std::string_view word);

}  // namespace stator::expr
