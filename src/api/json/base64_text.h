#pragma once

#include <string>
#include <string_view>

// Bytes of a request as text.
namespace stator::api {

// Without the = at its end, two at most.
std::string_view without_padding(std::string_view text);
bool is_base64(std::string_view text);
// What the service says of a text that is none.
std::string base64_error(std::string_view text);

}  // namespace stator::api
