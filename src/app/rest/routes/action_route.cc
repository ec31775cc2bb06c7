#include <algorithm>
#include <optional>
#include <utility>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/request/input.h"
#include "stator/app/rest/request/precondition.h"
#include "stator/app/rest/request/request_values.h"
#include "stator/app/rest/routes/routes.h"
#include "stator/app/rest/routes/row_access.h"
#include "stator/runtime/access.h"
#include "stator/runtime/write/given.h"

// Routes that perform an action, of the model or in C++.
namespace stator::app {
namespace {

bool creates_its_result(const model::Action& action) {
  return std::ranges::any_of(action.steps, [&](const model::Step& step) {
    return step.kind == model::Step::Kind::Create && step.as == action.result;
  });
}

// A body where none is taken.  Members that are inputs are in the wrong place.
Result<void, runtime::Problem> refuse_inputs_in_body(const model::Action& action, const RestCall& call,
                                                     ValueProblems& problems) {
  const auto begin = problems.size();
  TRY(refuse_body(call, problems));
  for (auto i = begin; i < problems.size(); ++i) {
    if (find_in(action.inputs, problems[i].attribute) != nullptr) problems[i].problem = "belongs in the query string";
  }
  return {};
}

// Calls the C++ of an action.  `read`: how the entity that the action is within is looked for.
RestAnswer run_native(const RouteContext& system, const model::Action& action, const value::Item& inputs,
                      const runtime::ReadOptions& read, const RestCall& call) {
  TRY(runtime::check_caller(action.access, call.caller()));
  std::optional<runtime::Object> within;
  if (action.within) {
    within = TRY(system.repository.get_within(action, inputs, call.caller(), read));
    const bool expected = action.method == "GET" || precondition_of(call.request).holds(within->version);
    if (!expected) return runtime::version_mismatch();
  }
  const auto& native = system.additions.natives.find(action.name)->second;
  return native({.call = call, .inputs = inputs, .within = within});
}

}  // namespace

RestAnswer run_target(const RouteContext& system, const model::Action* action, const RouteMatch& match,
                      const RestCall& call) {
  auto inputs = TRY(path_values(match, action->inputs));
  ValueProblems problems;
  const bool may_be_deleted = takes_include_deleted(*match.route);
  const runtime::ReadOptions read{.include_deleted = read_include_deleted(call.query, may_be_deleted, problems)};
  if (inputs_from_query(*action)) {
    query_values(call.query, may_be_deleted, action->inputs, inputs, problems);
    const bool takes_no_body = action->method != "GET" && !takes_raw_body(*action);
    if (takes_no_body) TRY(refuse_inputs_in_body(*action, call, problems));
  } else {
    refuse_others(call.query, {}, problems);
    TRY(check_rows_first(system.repository, *match.route, inputs, call));
    const auto body = TRY(body_values(call, action->inputs, inputs, problems));
    for (const auto& [name, value] : body.values) inputs.set(name, value);
  }
  if (!problems.empty() || action->native) {
    join_problems(problems, runtime::check_inputs(action->inputs, inputs));
    if (!problems.empty()) return refusal(std::move(problems), action->access, call.caller());
  }
  if (action->native) return run_native(system, *action, inputs, read, call);
  auto result = TRY(system.repository.perform(*action, inputs, call.caller(), precondition_of(call.request)));
  if (!result) return no_content();
  return object_answer(system, creates_its_result(*action) ? 201 : 200, std::move(*result), call);
}

}  // namespace stator::app
