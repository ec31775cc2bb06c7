#include "stator/server/version.h"

#include <fmt/format.h>

#include "stator/library/instance.h"
#include "stator/value/stored_item.h"

namespace stator::server {

std::string version_text() {
  constexpr std::string_view sanitizers = STATOR_SANITIZERS;
  return fmt::format(
      "stator {}\n"
      "build    {}{}{}, g++ {}\n"
      "formats  data folder {}, item {}\n",
      STATOR_VERSION, STATOR_BUILD_TYPE, sanitizers.empty() ? "" : " with sanitizers ", sanitizers, __VERSION__,
      library::data_folder_format(), value::kStoredItemVersion);
}

}  // namespace stator::server
