#pragma once

#include <string_view>

#include "stator/app/rest/extension.h"
#include "stator/app/rest/page_token.h"
#include "stator/app/rest/rest_call.h"
#include "stator/app/rest/router.h"
#include "stator/model/model.h"
#include "stator/runtime/repository.h"

namespace stator::app {

// What the routes of a system work with.
struct RouteContext {
  const model::Model& model;
  std::string_view prefix;  // "/systems/<name>/v1"
  const Router& router;
  const PageTokens& page_tokens;
  runtime::Repository& repository;
  const Additions& additions;
};

// Carry out a route by what it leads to: entity_route.cc, pattern_route.cc, action_route.cc.
RestAnswer run_target(const RouteContext& system, const EntityTarget& target, const RouteMatch& match,
                      const RestCall& call);
RestAnswer run_target(const RouteContext& system, const model::Pattern* pattern, const RouteMatch& match,
                      const RestCall& call);
RestAnswer run_target(const RouteContext& system, const model::Action* action, const RouteMatch& match,
                      const RestCall& call);

// An object as its caller may see it, with its ETag; its Location, when it was created (201).  304 to a read whose
// If-None-Match has its version.
http::Response object_answer(const RouteContext& system, int status, runtime::Object object, const RestCall& call);

// Takes out of an object, and of all that is inside it, what the caller may not see.
void redact(const Additions& additions, runtime::Object& object, const runtime::Caller& caller);

}  // namespace stator::app
