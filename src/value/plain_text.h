#pragma once

#include <cstddef>
#include <string_view>

namespace stator::value {

// How many bytes at the start of `text` stand for themselves inside a JSON string: neither a quote, a backslash nor a
// control character.
std::size_t plain_length(std::string_view text);

bool is_ascii(std::string_view text);

// How often `byte` is in the text.
std::size_t count_bytes(std::string_view text, char byte);

// Of UTF-8.
std::size_t count_code_points(std::string_view text);

}  // namespace stator::value
