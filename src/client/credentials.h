#pragma once

#include <functional>
#include <optional>
#include <string>

#include "stator/base/result.h"
#include "stator/http/origin.h"

namespace stator::client {

// The key with which requests are signed. It is never printed or logged.
struct Credentials {
  std::string access_key_id, secret_access_key;
  std::string session_token = {};  // empty: the key is not a session's
};

// The value of an environment variable, or nothing when it is not set or empty.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

// The credentials and the region for signed requests to the endpoint, found like AWS's own tools find them:
//
//   credentials  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; else the profile's, credentials file;
//                else the profile's in the config file
//   region       AWS_REGION; else AWS_DEFAULT_REGION; else the profile's, config file; else that of an Amazon host name
//   profile      AWS_PROFILE; else "default"
//   files        AWS_SHARED_CREDENTIALS_FILE, else ~/.aws/credentials; AWS_CONFIG_FILE, else ~/.aws/config
//
// An endpoint on this machine does not need any: without credentials it gets "local" and "local", without a region
// us-east-1. A Stator without keys accepts these.  An endpoint elsewhere gets no such defaults.  Roles, single sign-on
// and credential processes are refused with the command that turns them into variables.
struct SigningScope {
  Credentials credentials;
  std::string region;
};
// Errors: Usage; the message names the way out.
Result<SigningScope> find_signing_scope(const http::Origin& endpoint, const Environment& environment);

}  // namespace stator::client
