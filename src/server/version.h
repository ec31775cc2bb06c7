#pragma once

#include <string>

namespace stator::server {

// What `stator version` prints: the version, how it was built, and the formats it reads and writes.  A few lines.
std::string version_text();

}  // namespace stator::server
