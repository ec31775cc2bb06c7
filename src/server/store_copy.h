#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"

namespace stator::server {

struct StoreCopyRequest {
  std::string from, to;  // the path of a data folder, or the address of a store
  std::function<void(std::string_view stage, std::uint64_t done, std::uint64_t total)> progress = [](auto, auto, auto) {
  };
};

struct StoreCopyOutcome {
  std::uint64_t records = 0, bytes = 0;
  bool resumed = false;
  std::uint64_t last_commit = 0;         // of the source
  std::vector<std::string> texts;        // the names of the copied texts, such as keys.yaml
  std::vector<std::string> left_behind;  // names of texts that the target does not use
};

// Copies a whole database, with its access keys and the secret of tokens, and compares the copy with the source.  No
// server uses either of them.  A call that was ended goes on with the next one, and servers refuse the target until one
// has come to the end.  Errors: Usage: one of them is in use, there is no source, or the target has other data.
// Storage, Corruption.
Result<StoreCopyOutcome> copy_database(const StoreCopyRequest& request);

}  // namespace stator::server
