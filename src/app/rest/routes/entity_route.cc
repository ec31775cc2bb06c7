#include <utility>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/request/input.h"
#include "stator/app/rest/request/precondition.h"
#include "stator/app/rest/request/request_values.h"
#include "stator/app/rest/routes/routes.h"
#include "stator/app/rest/routes/row_access.h"
#include "stator/runtime/write/given.h"

// Routes that create, read, change and delete an entity.
namespace stator::app {
namespace {

using runtime::ValueSource;

// A caller cannot create an entity of another owner, unless a grant allows it.  `attributes`: of the body.
ValueProblems foreign_owner(const model::Entity& entity, const value::Item& attributes, const runtime::Caller& caller) {
  const auto* given = entity.owner ? attributes.find(*entity.owner) : nullptr;
  const bool own = given == nullptr || !caller.subject || *given == value::AttributeValue::string(*caller.subject);
  if (own || !entity.create.grants.empty()) return {};
  return {{.attribute = *entity.owner, .problem = "cannot be set"}};
}

runtime::WriteOptions write_options(const RestCall& call) {
  return {.precondition = precondition_of(call.request), .include_deleted = false};
}

// One request to a route of one entity.
struct EntityCall {
  const RouteContext& system;
  const model::Entity& entity;
  const RouteMatch& match;
  const RestCall& call;

  RestAnswer create() const {
    auto attributes = TRY(path_values(match, entity.attributes));
    ValueProblems problems;
    refuse_others(call.query, {}, problems);
    TRY(check_rows_first(system.repository, *match.route, attributes, call));
    const auto body = TRY(body_values(call, entity.attributes, attributes, problems));
    for (const auto& [name, value] : body.values) attributes.set(name, value);
    if (!problems.empty()) {
      join_problems(problems, runtime::check_new(entity, attributes, ValueSource::Request));
      join_problems(problems, foreign_owner(entity, body.values, call.caller()));
      ValueProblems missing;
      runtime::check_complete(entity, attributes, missing);
      std::erase_if(missing, [&](const model::ValueProblem& one) { return one.attribute == entity.owner; });
      join_problems(problems, std::move(missing));
      return refusal(std::move(problems), entity.create, call.caller());
    }
    return answer(201, TRY(system.repository.create(entity, attributes, call.caller())));
  }

  RestAnswer get() const {
    const auto key = TRY(path_values(match, entity.attributes));
    ValueProblems problems;
    const bool may_be_deleted = takes_include_deleted(*match.route);
    if (may_be_deleted) {
      refuse_others(call.query, {kIncludeDeleted}, problems);
    } else {
      refuse_others(call.query, {}, problems);
    }
    runtime::ReadOptions read;
    read.include_deleted = read_include_deleted(call.query, may_be_deleted, problems);
    if (!problems.empty()) return refusal(std::move(problems), entity.read, call.caller());
    return answer(200, TRY(system.repository.get(entity, key, call.caller(), read)));
  }

  RestAnswer put() const {
    // The caller chooses the names in the path, so wrong ones are reported like those in the body.
    ValueProblems problems;
    value::Item key;
    for (const auto& [name, text] : match.captured) {
      if (auto value = read_url_value(entity.find_attribute(name)->type, name, text, problems)) {
        key.set(name, std::move(*value));
      }
    }
    refuse_others(call.query, {}, problems);
    if (problems.empty()) TRY(check_rows_first(system.repository, *match.route, key, call));
    const auto given = TRY(body_values(call, entity.attributes, key, problems));
    if (!problems.empty()) {
      auto values = given.values;
      join_problems(problems, runtime::check_new(entity, values, ValueSource::Request));
      join_problems(problems, foreign_owner(entity, given.values, call.caller()));
      return refusal(std::move(problems), entity.update, call.caller());
    }
    auto done = TRY(system.repository.put(entity, key, given, call.caller(), precondition_of(call.request)));
    return answer(done.created ? 201 : 200, std::move(done.object));
  }

  RestAnswer update() const {
    const auto key = TRY(path_values(match, entity.attributes));
    ValueProblems problems;
    refuse_others(call.query, {}, problems);
    TRY(check_rows_first(system.repository, *match.route, key, call));
    auto changes = TRY(body_values(call, entity.attributes, key, problems));
    if (!problems.empty()) {
      join_problems(problems, runtime::check_changes(entity, changes, ValueSource::Request));
      return refusal(std::move(problems), entity.update, call.caller());
    }
    return answer(200, TRY(system.repository.update(entity, key, changes, call.caller(), write_options(call))));
  }

  RestAnswer remove() const {
    TRY(system.repository.remove(entity, TRY(key_alone()), call.caller(), write_options(call)));
    return no_content();
  }

  RestAnswer restore() const {
    return answer(200, TRY(system.repository.restore(entity, TRY(key_alone()), call.caller(), write_options(call))));
  }

  RestAnswer purge() const {
    TRY(system.repository.purge(entity, TRY(key_alone()), call.caller(), write_options(call)));
    return no_content();
  }

 private:
  // The key in the path of a route that takes nothing else.
  Result<value::Item, runtime::Problem> key_alone() const {
    auto key = TRY(path_values(match, entity.attributes));
    ValueProblems problems;
    refuse_others(call.query, {}, problems);
    TRY(refuse_body(call, problems));
    if (!problems.empty()) return refusal(std::move(problems), entity.update, call.caller());
    return key;
  }

  http::Response answer(int status, runtime::Object object) const {
    return object_answer(system, status, std::move(object), call);
  }
};

}  // namespace

RestAnswer run_target(const RouteContext& system, const EntityTarget& target, const RouteMatch& match,
                      const RestCall& call) {
  const EntityCall asked{.system = system, .entity = *target.entity, .match = match, .call = call};
  switch (target.operation) {
    case EntityOperation::Create: return asked.create();
    case EntityOperation::Get: return asked.get();
    case EntityOperation::Put: return asked.put();
    case EntityOperation::Update: return asked.update();
    case EntityOperation::Delete: return asked.remove();
    case EntityOperation::Restore: return asked.restore();
    case EntityOperation::Purge: return asked.purge();
  }
  return nothing_there();
}

}  // namespace stator::app
