#pragma once

#include <functional>
#include <optional>
#include <string>

#include "stator/base/result.h"

namespace stator::console {

// A text that all servers of a database have in common.  Both functions may wait for the database.  Thread-safe.
struct SharedText {
  // Replaces the text by the result of a function; it may be called again, when another server was faster.
  using Change = std::function<Result<std::string>(const std::optional<std::string>& text)>;

  std::function<Result<std::optional<std::string>>()> read;
  std::function<Result<void>(const Change&)> change;
};

}  // namespace stator::console
