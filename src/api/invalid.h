#pragma once

#include <string_view>

#include "stator/base/error.h"

namespace stator::api {

// "One or more parameter values were invalid: " followed by `what`.
Error invalid(std::string_view what);

}  // namespace stator::api
