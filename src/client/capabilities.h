#pragma once

#include "stator/base/result.h"
#include "stator/client/client.h"

namespace stator::client {

// Whether the endpoint has the features that a model needs: transactions and streams.  It is asked with requests that
// change nothing, and waits for the answers.  Errors: Usage; the message names everything that is missing, or says why
// the endpoint could not be asked.
Result<void> require_capabilities(Client& client);

}  // namespace stator::client
