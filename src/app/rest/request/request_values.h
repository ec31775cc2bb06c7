#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "stator/app/rest/rest_call.h"
#include "stator/app/rest/routes/router.h"
#include "stator/model/model.h"
#include "stator/model/validate.h"
#include "stator/runtime/problem.h"
#include "stator/value/attribute_value.h"

// A request's path, query string and body as values.
//
// A problem of a value is added to `problems`, so that the answer reports all of them; a Problem ends the request at
// once.
namespace stator::app {

using ValueProblems = std::vector<model::ValueProblem>;

const model::Attribute* find_in(const std::vector<model::Attribute>& attributes, std::string_view name);

// The captures of the route.  A text that cannot be the value names nothing.  Problems: NotFound.
Result<value::Item, runtime::Problem> path_values(const RouteMatch& match,
                                                  const std::vector<model::Attribute>& attributes);

// Adds the query string to `values`, for a route with inputs in the query. `may_be_deleted`: the route also takes
// includeDeleted.
void query_values(const QueryParameters& query, bool may_be_deleted, const std::vector<model::Attribute>& attributes,
                  value::Item& values, ValueProblems& problems);

// Whether the query string asks for deleted entities, too; false on a route that does not take that (`taken`).
bool read_include_deleted(const QueryParameters& query, bool taken, ValueProblems& problems);

// Query parameters that the route does not know are probably misspelt.
void refuse_others(const QueryParameters& query, std::initializer_list<std::string_view> known,
                   ValueProblems& problems);

// The body, checked for its JSON types.  It may repeat a value of the path, and must not contradict it.
// Problems: Invalid, if the body is not JSON.
Result<model::PlainObject, runtime::Problem> body_values(const RestCall& call,
                                                         const std::vector<model::Attribute>& attributes,
                                                         const value::Item& from_path, ValueProblems& problems);

// For a route that takes no body: every member of one is unknown.
Result<void, runtime::Problem> refuse_body(const RestCall& call, ValueProblems& problems);

// An If-Match or Idempotency-Key without a value: a client that forgot it must not have its request carried out
// unguarded.
ValueProblems empty_headers(const http::Request& request);

// Adds problems of attributes that have none yet.
void join_problems(ValueProblems& problems, ValueProblems more);

// The answer to a request with problems: Unauthenticated or Forbidden for a caller whom `access` never lets in, else
// all of them.
runtime::Problem refusal(ValueProblems problems, const model::Access& access, const runtime::Caller& caller);

}  // namespace stator::app
