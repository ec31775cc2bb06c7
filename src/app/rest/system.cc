#include "stator/app/rest/system.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "stator/app/openapi/openapi.h"
#include "stator/app/rest/answer.h"
#include "stator/app/rest/caller_spelling.h"
#include "stator/app/rest/idempotent_run.h"
#include "stator/app/rest/request/body_type.h"
#include "stator/app/rest/request/request_values.h"
#include "stator/app/rest/routes/routes.h"
#include "stator/app/rest/routes/row_access.h"

namespace stator::app {
namespace {

// In one line, for the person who starts the program.
std::string why_it_does_not_open(const runtime::Problem& problem) {
  if (problem.details.empty()) return problem.message;
  return problem.message + ". `stator model migrate` changes a table from one model to another";
}

}  // namespace

System::System(std::shared_ptr<const model::Model> model, const SystemParts& parts)
    : model_(std::move(model)),
      owner_id_(find_owner_id(*model_)),
      prefix_(fmt::format("/systems/{}/v1", model_->name)),
      page_tokens_(parts.page_tokens),
      repository_(model_, parts.client, parts.clock, parts.random),
      idempotency_(fmt::format("{}.idempotency", model_->table.name), parts.client, parts.clock, parts.random,
                   parts.stop) {}

Result<std::unique_ptr<System>> System::open(std::shared_ptr<const model::Model> model, const SystemParts& parts,
                                             const Extension& extension) {
  std::unique_ptr<System> system(new System(std::move(model), parts));
  const auto wrong = [&](std::string_view why) {
    return usage_error(fmt::format("{}: {}", system->model_->name, why));
  };
  if (const auto opened = system->repository_.open(parts.stop); !opened)
    return wrong(why_it_does_not_open(opened.error()));
  if (extension) {
    system->additions_ = extension({.repository = system->repository_,
                                    .client = parts.client,
                                    .clock = parts.clock,
                                    .random = parts.random,
                                    .page_tokens = parts.page_tokens});
    for (auto& [entity, follow] : system->additions_.follow) system->repository_.follow(*entity, std::move(follow));
    for (auto& [entity, make_room] : system->additions_.make_room) {
      system->repository_.make_room(*entity, std::move(make_room));
    }
  }
  for (const auto& action : system->model_->actions) {
    if (!action.native || system->additions_.natives.contains(action.name)) continue;
    return wrong(fmt::format("{} is native, and this program has no C++ for it", action.name));
  }
  auto router = Router::make(*system->model_);
  if (!router) return wrong(router.error().message);
  system->router_ = std::move(*router);
  system->openapi_ = openapi_document(*system->model_, system->router_, system->prefix_);
  return system;
}

std::optional<http::Response> System::refuse_by_head(const Route& route, const http::Request& head, bool has_body,
                                                     const TokenUser* user) const {
  if (const auto allowed = check_caller(route, RestCall::caller_of(user)); !allowed) {
    return problem_answer(allowed.error());
  }
  return has_body ? refuse_body_type(route, head) : std::nullopt;
}

RestAnswer System::run(const RouteMatch& match, const RestCall& call) {
  TRY(check_caller(*match.route, call.caller()));
  if (!call.body.empty()) {
    if (auto refusal = refuse_body_type(*match.route, call.request)) return std::move(*refusal);
  }
  const auto other = respelled(owner_id_, call.user);
  if (!other) return run_as_spelled(match, call);
  return run_as_spelled(match, {.request = call.request,
                                .path = call.path,
                                .query = call.query,
                                .body = call.body,
                                .user = &*other,
                                .max_file_bytes = call.max_file_bytes,
                                .memory = call.memory});
}

RestAnswer System::run_as_spelled(const RouteMatch& match, const RestCall& call) {
  if (auto problems = empty_headers(call.request); !problems.empty()) return runtime::invalid(std::move(problems));
  const RouteContext context{.model = *model_,
                             .prefix = prefix_,
                             .router = router_,
                             .page_tokens = page_tokens_,
                             .repository = repository_,
                             .additions = additions_};
  const auto run = [&]() -> RestAnswer {
    if (additions_.beforehand) TRY(additions_.beforehand(match, call));
    return std::visit([&](const auto& target) { return run_target(context, target, match, call); },
                      match.route->target);
  };
  const auto* const* action = std::get_if<const model::Action*>(&match.route->target);
  if (action != nullptr && additions_.resumable.contains((*action)->name)) return run();
  return run_idempotently(idempotency_, model_->name, call, run);
}

}  // namespace stator::app
