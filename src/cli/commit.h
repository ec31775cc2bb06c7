#pragma once

#include <string_view>

namespace stator::cli {

// The commit that this program was built from, "360625d", with "-dirty" behind it when files differ from that commit.
// Empty when it is unknown.  Defined in a file that the build writes (cmake/commit.cmake) and only the program links.
extern const std::string_view kCommit;

}  // namespace stator::cli
