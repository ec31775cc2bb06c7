#pragma once

#include <functional>
#include <optional>
#include <string>

#include "stator/base/result.h"
#include "stator/http/origin.h"

namespace stator::client {

// Who signs.  Never printed and never logged.
struct Credentials {
  std::string access_key_id, secret_access_key;
  std::string session_token = {};  // empty: the key is not a session's
};

// The value of an environment variable, or nothing when it is not set or empty.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

// What a request to the endpoint is signed with, found as AWS's own tools find it:
//
//   credentials  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; else the profile's, credentials file;
//                else the profile's in the config file
//   region       AWS_REGION; else AWS_DEFAULT_REGION; else the profile's, config file; else that of an Amazon host name
//   profile      AWS_PROFILE; else "default"
//   files        AWS_SHARED_CREDENTIALS_FILE, else ~/.aws/credentials; AWS_CONFIG_FILE, else ~/.aws/config
//
// An endpoint on this machine does not need any: without credentials it gets "local" and "local", without a region
// us-east-1, which is what a Stator without keys accepts.  An endpoint elsewhere never does.  Roles, single sign-on and
// credential processes are refused with the command that turns them into variables.
struct Identity {
  Credentials credentials;
  std::string region;
};
// Errors: Usage; the message says what to do.
Result<Identity> find_identity(const http::Origin& endpoint, const Environment& environment);

}  // namespace stator::client
