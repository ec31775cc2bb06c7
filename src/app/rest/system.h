#pragma once

#include <memory>
#include <optional>
#include <string>

#include "stator/app/auth/jwt.h"
#include "stator/app/rest/extension.h"
#include "stator/app/rest/idempotency.h"
#include "stator/app/rest/rest_call.h"
#include "stator/app/rest/routes/page_token.h"
#include "stator/app/rest/routes/router.h"
#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/base/result.h"
#include "stator/client/client.h"
#include "stator/http/message/message.h"
#include "stator/model/model.h"
#include "stator/runtime/repository.h"

namespace stator::app {

// The objects that a system uses; they outlive it.
struct SystemParts {
  client::Client& client;
  const Clock& clock;
  Random& random;
  const PageTokens& page_tokens;
  std::stop_token stop = {};  // ends waits for a table
};

// A model as a REST service below /systems/<name>/v1: its routes (routes.h), idempotency keys, and the C++ of its
// extension. Knows nothing of connections and threads.  Blocking, thread-safe.
class System {
 public:
  // Opens the repository (see Repository::open) and makes the routes.  Errors: Usage (a native action without its C++),
  // Storage.
  static Result<std::unique_ptr<System>> open(std::shared_ptr<const model::Model> model, const SystemParts& parts,
                                              const Extension& extension = nullptr);

  const model::Model& model() const { return *model_; }
  const std::shared_ptr<const model::Model>& shared_model() const { return model_; }
  runtime::Repository& repository() { return repository_; }
  const Router& router() const { return router_; }
  const std::string& prefix() const { return prefix_; }
  const std::string& openapi() const { return openapi_; }

  // Refuses a request by its head, before its body is read: the route needs a token or a role that the caller does not
  // have, or does not take a body of this type.  Reads no rows.
  std::optional<http::Response> refuse_by_head(const Route& route, const http::Request& head, bool has_body,
                                               const TokenUser* user) const;

  // The answer of a route that the router found.
  RestAnswer run(const RouteMatch& match, const RestCall& call);

 private:
  System(std::shared_ptr<const model::Model> model, const SystemParts& parts);
  RestAnswer run_as_spelled(const RouteMatch& match, const RestCall& call);

  const std::shared_ptr<const model::Model> model_;
  const model::Attribute* const owner_id_;  // see caller_spelling.h
  const std::string prefix_;
  const PageTokens& page_tokens_;
  runtime::Repository repository_;
  IdempotencyStore idempotency_;
  Router router_;
  std::string openapi_;
  Additions additions_;  // last: threads that they started use the members above
};

}  // namespace stator::app
