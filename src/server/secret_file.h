#pragma once

#include <string>

#include "stator/base/result.h"

namespace stator::server {

// The secret with which the systems of a database sign when no setting gives one: the file app_secret in the data
// folder, which only its owner may read.  Made, with the folder, when it is not there; processes that do so at the same
// time agree on one. Errors: Usage (open to other users, or not a secret), Storage.
Result<std::string> load_or_make_secret(const std::string& data_folder);

}  // namespace stator::server
