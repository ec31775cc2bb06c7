#pragma once

#include <cstdint>
#include <string>

#include "stator/base/result.h"

namespace stator::server {

// The settings of `stator console`.
struct ConsoleSettings {
  std::string endpoint;
  std::uint16_t port = 8001;  // 0: a free one
  bool read_only = false;
  std::string folder = {};  // where saved queries are kept; empty: nowhere
};

// Serves the console on this machine for a DynamoDB endpoint elsewhere, until SIGINT or SIGTERM.  Call it once, from
// the main thread, before there are others.  Errors: Usage (no such address, no credentials, a port in use).
Result<void> run_console(const ConsoleSettings& settings);

}  // namespace stator::server
