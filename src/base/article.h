#pragma once

#include <string>
#include <string_view>

namespace stator {

// A noun with "a" or "an" before it, by its sound: "a BOOK", "an ISSUE", "a USER", "an HOUR".
std::string with_article(std::string_view noun);

}  // namespace stator
