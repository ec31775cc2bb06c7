#pragma once

#include <string>
#include <string_view>

#include "stator/base/clock.h"
#include "stator/base/memory_budget.h"
#include "stator/console/served_model.h"
#include "stator/http/message/message.h"

namespace stator::console {

struct ModelRunOptions {
  std::string roles_claim = "roles";
  std::size_t max_body_bytes = std::size_t{1} << 20;  // of the request that is run
  MemoryBudget* memory = nullptr;                     // null: unlimited
};

// POST /console/models/{name}/run: runs one request to a system as if a user had sent it, and tells which requests of
// the DynamoDB API it became.
//
//   {"method": "GET", "path": "/books", "query": {"status": "READ"}, "body": null, "contentType": "application/json",
//    "as": {"subject": "ann", "claims": {"roles": ["admin"], "name": "...", "email": "..."}}}
//
// "as" is null for a caller who is not signed in.  A body that is a text is sent as it is, so that its numbers keep
// their digits; any other body is sent as JSON.  No token is made: the user exists for this one request.  Blocking.
http::Response run_request(const ServedModel& served, std::string_view body, const Rights& rights, const Clock& clock,
                           const ModelRunOptions& options);

}  // namespace stator::console
