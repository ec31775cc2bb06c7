#pragma once

#include "stator/app/rest/rest_call.h"
#include "stator/app/rest/router.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/repository.h"

// Whether a caller may use a route, as far as that is known without its body.
namespace stator::app {

// The problem of a caller whom a route with a body never lets in, whatever rows there are: not signed in, or, for an
// action, without the role.  nullopt: he is let in, or it depends on rows.  Reads nothing.
std::optional<runtime::Problem> turned_away(const Route& route, const runtime::Caller& caller);

// For a large body, before it becomes values: reads the rows that the path names, and checks that the caller may do
// with them what the route does.  `named` are the values of the path.  Problems: those that the route would give.
Result<void, runtime::Problem> check_rows_first(runtime::Repository& repository, const Route& route,
                                                const value::Item& named, const RestCall& call);

}  // namespace stator::app
