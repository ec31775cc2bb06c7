#pragma once

#include <string_view>

namespace stator::console {

extern const std::string_view kPage;  // page.html

}  // namespace stator::console
