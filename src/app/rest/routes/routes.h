#pragma once

#include <string_view>

#include "stator/app/rest/extension.h"
#include "stator/app/rest/rest_call.h"
#include "stator/app/rest/routes/page_token.h"
#include "stator/app/rest/routes/router.h"
#include "stator/model/model.h"
#include "stator/runtime/repository.h"

namespace stator::app {

// The objects that the routes of a system use.
struct RouteContext {
  const model::Model& model;
  std::string_view prefix;  // "/systems/<name>/v1"
  const Router& router;
  const PageTokens& page_tokens;
  runtime::Repository& repository;
  const Additions& additions;
};

// Run a route, by the type of its target: entity_route.cc, pattern_route.cc, action_route.cc.
RestAnswer run_target(const RouteContext& system, const EntityTarget& target, const RouteMatch& match,
                      const RestCall& call);
RestAnswer run_target(const RouteContext& system, const model::Pattern* pattern, const RouteMatch& match,
                      const RestCall& call);
RestAnswer run_target(const RouteContext& system, const model::Action* action, const RouteMatch& match,
                      const RestCall& call);

// The answer with an object, without the parts that the caller may not see, with its ETag, and with its Location if it
// was created (201).  304 for a read whose If-None-Match has its version.
http::Response object_answer(const RouteContext& system, int status, runtime::Object object, const RestCall& call);

// Removes the parts that the caller may not see, from an object and from the objects inside it.
void redact(const Additions& additions, runtime::Object& object, const runtime::Caller& caller);

}  // namespace stator::app
