#include "stator/api/invalid.h"

#include <fmt/format.h>

namespace stator::api {

Error invalid(std::string_view what) {
  return validation_error(fmt::format("One or more parameter values were invalid: {}", what));
}

}  // namespace stator::api
