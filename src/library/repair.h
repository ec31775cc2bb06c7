#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/result.h"

namespace stator::library {

struct RepairRequest {
  std::string data_folder;
  bool accept_loss = false;  // false: tell, and change nothing
  std::function<void(std::string_view stage, std::uint64_t done, std::uint64_t total)> progress = [](auto, auto, auto) {
  };
};

struct RepairOutcome {
  bool damaged = false;
  bool repaired = false;
  std::vector<std::string> lines;  // the damage, the saved data and the losses, for a person to read
};

// Looks for damage in the data folder of a server that is stopped, and mends it as far as it can be mended.
// Errors: Usage, Storage, Corruption.
Result<RepairOutcome> repair(const RepairRequest& request, const Clock& clock);

}  // namespace stator::library
