#pragma once

#include <functional>
#include <string_view>

#include "stator/app/rest/idempotency.h"
#include "stator/app/rest/rest_call.h"

namespace stator::app {

// Carries out `work`; a POST with an Idempotency-Key once for that key.  A success is kept and answers the requests
// that follow, a refusal (4xx) lets the key be used again, and after a failure (5xx) the key stays refused until it
// expires. `system` is for the log.  Problems: those of IdempotencyStore::claim() and of the work.
RestAnswer run_idempotently(IdempotencyStore& store, std::string_view system, const RestCall& call,
                            const std::function<RestAnswer()>& work);

}  // namespace stator::app
