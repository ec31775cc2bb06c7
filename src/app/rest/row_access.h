#pragma once

#include "stator/app/rest/router.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/repository.h"

// Rights that can be told without looking at a body.
namespace stator::app {

// What to answer somebody whom a route with a body is not for, whatever rows there are: not signed in, or, for C++ of a
// system, without the role.  nullopt: it depends on rows, or he is let in.  Reads nothing.
std::optional<runtime::Problem> turned_away(const Route& route, const runtime::Caller& caller);

// That the caller may do what the route does with the rows that its path names: those are read, so it is for requests
// whose body costs more than reading them.  `named` are the values of the path.  Problems: those that the route would
// give.
Result<void, runtime::Problem> check_rows(runtime::Repository& repository, const Route& route, const value::Item& named,
                                          const runtime::Caller& caller);

}  // namespace stator::app
