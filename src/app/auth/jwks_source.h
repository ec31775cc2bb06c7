#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "stator/base/result.h"

namespace stator::app {

// Reads a key set each time it is called; blocks.
using JwksReader = std::function<Result<std::string>()>;

// A file, or an https:// URL (http:// only on this machine: keys that were changed on their way would let an attacker
// sign anything). Errors: Usage.
Result<JwksReader> jwks_reader(const std::string& where);

}  // namespace stator::app
