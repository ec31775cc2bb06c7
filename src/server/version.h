#pragma once

#include <string>
#include <string_view>

namespace stator::server {

// "0.2.0".
std::string_view version();

// The output of `stator version`: the version, the commit (left out when it is empty), how it was built, and the
// formats it reads and writes.  A few lines.
std::string version_text(std::string_view commit);

}  // namespace stator::server
