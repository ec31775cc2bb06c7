#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stator::model {

// An ISBN-10 or ISBN-13 without its dashes and spaces, if its checksum is right.
std::optional<std::string> normal_isbn(std::string_view text);

// The ISBN-13 of either form, so that both spellings of one book are found to be the same.  `isbn` is normal.
std::string isbn13(std::string_view isbn);

}  // namespace stator::model
