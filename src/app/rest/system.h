#pragma once

#include <memory>
#include <optional>
#include <string>

#include "stator/app/auth/jwt.h"
#include "stator/app/rest/extension.h"
#include "stator/app/rest/idempotency.h"
#include "stator/app/rest/page_token.h"
#include "stator/app/rest/rest_call.h"
#include "stator/app/rest/router.h"
#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/base/result.h"
#include "stator/client/client.h"
#include "stator/http/message.h"
#include "stator/model/model.h"
#include "stator/runtime/repository.h"

namespace stator::app {

// What a system works with; everything outlives it.
struct SystemParts {
  client::Client& client;
  const Clock& clock;
  Random& random;
  const PageTokens& page_tokens;
  std::stop_token stop = {};  // ends what waits for a table
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

  // Refuses what the head of a request is enough to refuse, so that its body need not be read: the route lets nobody in
  // without a token, or without the role; or it does not take a body of this type.  Reads nothing.
  std::optional<http::Response> refuse_by_head(const Route& route, const http::Request& head, bool has_body,
                                               const Identity* identity) const;

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
  Additions additions_;  // last: what they started uses what is above
};

}  // namespace stator::app
