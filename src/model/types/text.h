#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "stator/base/result.h"

namespace stator::model {

// A to Z as a to z; everything else stays.
std::string lower_ascii(std::string_view text);

// Every character as Unicode maps it alone.  Errors: Validation, when the text is not UTF-8.
Result<std::string> lower_case(std::string_view text);
Result<std::string> upper_case(std::string_view text);

// Whether nothing in the text can be seen: it is empty, or has only white space and invisible characters of Unicode.
bool is_blank(std::string_view text);
// The first control character (C0, DEL, C1) or separator of lines or paragraphs.  `many_lines`: tabs and line breaks
// are allowed, separators included.
std::optional<char32_t> find_control(std::string_view text, bool many_lines);
bool is_line_break(char32_t c);

// Whether a text is of the kind that it is said to be.  Brings it into its one spelling, if it is.
bool normalise_uuid(std::string& text);  // 8-4-4-4-12 hex, to lower case
bool normalise_ulid(std::string& text);  // 26 of Crockford's base32, to upper case
inline constexpr std::size_t kMostEmailBytes = 254;
inline constexpr std::size_t kMostUrlBytes = 2048;
// local@domain of at most kMostEmailBytes, as mail servers accept it, without quoted locals and without IP addresses.
// The domain is changed to lower case; the local part is left as it is.
bool normalise_email(std::string& text);
// Absolute, http or https, without a user, at most kMostUrlBytes.
bool is_url(std::string_view text);

}  // namespace stator::model
