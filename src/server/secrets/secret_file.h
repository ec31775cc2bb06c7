#pragma once

#include <string>

#include "stator/base/result.h"
#include "stator/server/secrets/private_files.h"

namespace stator::server {

// The secret with which the systems of a database sign when no setting gives one: the private file app_secret.  Made
// when it is not there; processes that do so at the same time agree on one.  Errors: Usage (open to other users, or not
// a secret), Storage, Corruption.
Result<std::string> load_or_make_secret(PrivateFiles& files);
// Whether it is there.  Errors: as above.
Result<bool> has_secret(PrivateFiles& files);

}  // namespace stator::server
