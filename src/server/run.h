#pragma once

#include "stator/base/result.h"
#include "stator/server/config.h"

namespace stator::server {

// Opens the database, serves it until SIGINT or SIGTERM, and closes it.  Call it once, from the main thread, before
// there are others.  Errors: Usage for problems that the user can solve (a port in use, a data folder in use), Storage,
// Corruption.
Result<void> run_server(const Config& config, Mode mode);

// The same for systems alone: serves the configured models over REST, and no DynamoDB API.
Result<void> run_app(const Config& config);

}  // namespace stator::server
