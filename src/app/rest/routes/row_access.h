#pragma once

#include "stator/app/rest/rest_call.h"
#include "stator/app/rest/routes/router.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/repository.h"

// Whether a caller may use a route, as far as that is known without its body.
namespace stator::app {

// Refuses a caller who cannot be allowed to change any row through a route with a body: a caller who is not signed in,
// or who lacks the role of an action.  Reads nothing.  Problems: Unauthenticated, Forbidden.
Result<void, runtime::Problem> check_caller(const Route& route, const runtime::Caller& caller);

// For a large body, before it is decoded: reads the rows that the path names, and checks that the caller may use them
// for this route.  `named` are the values of the path.  Problems: the same as the route's.
Result<void, runtime::Problem> check_rows_first(runtime::Repository& repository, const Route& route,
                                                const value::Item& named, const RestCall& call);

}  // namespace stator::app
