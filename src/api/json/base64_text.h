#pragma once

#include <string>
#include <string_view>

// Bytes of a request as text.
namespace stator::api {

// Without the = at its end, two at most.
std::string_view without_padding(std::string_view text);
bool is_base64(std::string_view text);
// The service's error for a text that is not base64.
std::string base64_error(std::string_view text);

}  // namespace stator::api
