#pragma once

#include <cstdint>
#include <optional>

#include "stator/http/message.h"
#include "stator/runtime/outcome.h"

namespace stator::app {

// If-Match: "7".  None when any version will do.  Problems: PreconditionFailed, for what is not the version of anything.
runtime::Outcome<std::optional<std::uint64_t>> expected_version(const http::Request& request);

}  // namespace stator::app
