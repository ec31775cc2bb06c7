#include "stator/server/version.h"

#include <fmt/format.h>

namespace stator::server {

std::string version_text() {
  constexpr std::string_view sanitizers = STATOR_SANITIZERS;
  return fmt::format(
      "stator {}\n"
      "build    {}{}{}, g++ {}\n"
      "formats  no data format yet\n",
      STATOR_VERSION, STATOR_BUILD_TYPE, sanitizers.empty() ? "" : " with sanitizers ", sanitizers, __VERSION__);
}

}  // namespace stator::server
