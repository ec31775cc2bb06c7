#include "stator/server/version.h"

#include <fmt/format.h>

#include "stator/library/instance.h"
#include "stator/value/stored_item.h"

namespace stator::server {

std::string_view version() { return STATOR_VERSION; }

std::string version_text(std::string_view commit) {
  constexpr std::string_view sanitizers = STATOR_SANITIZERS;
  return fmt::format(
      "stator {}{}\n"
      "build    {}{}{}, g++ {}\n"
      "formats  data folder {}, item {}\n",
      version(), commit.empty() ? "" : fmt::format(" ({})", commit), STATOR_BUILD_TYPE,
      sanitizers.empty() ? "" : " with sanitizers ", sanitizers, __VERSION__, library::data_folder_format(),
      value::kStoredItemVersion);
}

}  // namespace stator::server
