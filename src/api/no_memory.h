#pragma once

#include <string_view>

namespace stator::api {

// The message for a request that does not fit into memory_limit.
inline constexpr std::string_view kNoMemory =
    "There is no memory for this request at the moment; memory_limit bounds what requests may use";

}  // namespace stator::api
