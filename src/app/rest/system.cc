#include "stator/app/rest/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>

#include "stator/app/openapi/openapi.h"
#include "stator/app/rest/answer.h"
#include "stator/app/rest/input.h"
#include "stator/app/rest/precondition.h"
#include "stator/app/rest/row_access.h"
#include "stator/base/log.h"
#include "stator/model/problem_list.h"
#include "stator/model/validate.h"
#include "stator/runtime/access.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/write/given.h"
#include "stator/value/json.h"

namespace stator::app {
namespace {

using runtime::Object;
using runtime::Problem;
using runtime::ProblemKind;

// A body above this costs more to decode than it costs to read the rows that its path names.
constexpr std::size_t kLargeBody = std::size_t{64} << 10;

Problem not_found() { return problem(ProblemKind::NotFound, "NotFound", "there is no such thing"); }

http::Response no_content() { return {.status = 204, .content_type = {}, .headers = {}, .body = {}, .close = false}; }

// "application/json; charset=utf-8" is "application/json".
std::string_view media_type(std::string_view content_type) {
  auto type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return type;
}

bool is_json(std::string_view type) {
  constexpr std::string_view kSuffix = "+json";
  return http::equal_ignoring_case(type, kJsonType) ||
         (type.size() > kSuffix.size() &&
          http::equal_ignoring_case(type.substr(type.size() - kSuffix.size()), kSuffix));
}

// The types of the body that a route takes as it is; none: it takes JSON.
const std::vector<std::string>& raw_types(const Route& route) {
  static const std::vector<std::string> none;
  return takes_files(route) ? std::get<const model::Action*>(route.target)->accepts : none;
}

// Whether a body of that type is what an action takes; those that name no types take JSON.
bool accepted(std::string_view content_type, const std::vector<std::string>& types) {
  const auto type = media_type(content_type);
  if (types.empty()) return is_json(type);
  return std::ranges::any_of(types, [&](const std::string& one) { return http::equal_ignoring_case(one, type); });
}

// 415, unless the body is of a type that the route takes.
std::optional<http::Response> refuse_type(const Route& route, const http::Request& head) {
  const auto& accepts = raw_types(route);
  if (accepted(head.header("Content-Type"), accepts)) return std::nullopt;
  auto answer = problem_answer(
      problem(ProblemKind::Invalid, "UnsupportedMediaType",
              accepts.empty() ? "the body must be JSON, and Content-Type must say application/json"
                              : fmt::format("Content-Type must say what the body is: {}", fmt::join(accepts, ", "))));
  answer.status = 415;
  return answer;
}

const model::Attribute* find_in(const std::vector<model::Attribute>& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, &model::Attribute::name);
  return found != attributes.end() ? &*found : nullptr;
}

// Headers that decide whether something is done must not be lost to a client that left out their value.
std::vector<model::ValueProblem> empty_headers(const http::Request& request) {
  std::vector<model::ValueProblem> problems;
  if (request.method == "GET" || request.method == "HEAD") return problems;
  for (const auto& header : request.headers) {
    const bool decides = http::equal_ignoring_case(header.name, "If-Match") ||
                         (request.method == "POST" && http::equal_ignoring_case(header.name, "Idempotency-Key"));
    if (decides && header.value.empty()) {
      problems.push_back({.attribute = std::string(header.name), .problem = "is empty"});
    }
  }
  return problems;
}

// Query parameters that nobody asked for are probably misspelt.
void refuse_others(const QueryParameters& query, std::initializer_list<std::string_view> known,
                   std::vector<model::ValueProblem>& problems) {
  for (const auto& [name, text] : query.all()) {
    if (std::ranges::find(known, name) == known.end()) {
      problems.push_back({.attribute = name, .problem = "is not a parameter of this route"});
    }
  }
}

// The captures of a path as values.  A text that cannot be one names nothing: NotFound.
Result<value::Item, Problem> path_values(const RouteMatch& match, const std::vector<model::Attribute>& attributes) {
  value::Item values;
  std::vector<model::ValueProblem> problems;
  for (const auto& [name, text] : match.captured) {
    const auto* attribute = find_in(attributes, name);
    const model::Type plain;
    auto value = read_url_value(attribute != nullptr ? attribute->type : plain, name, text, problems);
    if (!value) return not_found();
    values.set(name, std::move(*value));
  }
  return values;
}

// What the body says, checked for its JSON types.  What the path has said already may be repeated, but not otherwise.
Result<model::PlainObject, Problem> body_values(const RestCall& call, const std::vector<model::Attribute>& attributes,
                                                const value::Item& from_path,
                                                std::vector<model::ValueProblem>& problems) {
  auto object = model::read_plain_json(call.body.empty() ? "{}" : call.body, attributes, problems);
  if (!object) {
    const bool too_many = object.error().code == ErrorCode::LimitExceeded;
    return problem(ProblemKind::Invalid, too_many ? "TooManyValues" : "InvalidJson", object.error().message);
  }
  for (const auto& [name, value] : from_path) {
    const auto* repeated = object->values.find(name);
    if (repeated != nullptr && *repeated == value) {
      object->values.erase(name);
    } else if (repeated != nullptr || std::ranges::find(object->nulls, name) != object->nulls.end()) {
      problems.push_back({.attribute = name, .problem = "is given by the path"});
    }
  }
  return std::move(*object);
}

// Nothing is taken from the body here, so what is in it is told to be unknown.
Result<void, Problem> refuse_body(const RestCall& call, std::vector<model::ValueProblem>& problems) {
  TRY(body_values(call, {}, {}, problems));
  return {};
}

// Names parameters as the query string does: `?country={shop_country}` is country.
std::vector<model::ValueProblem> as_written(const Route& route, std::vector<model::ValueProblem> problems) {
  for (auto& problem : problems) {
    const auto part = std::ranges::find(route.query, problem.attribute, &Route::Part::capture);
    if (part != route.query.end()) problem.attribute = part->name;
  }
  return problems;
}

// Whether the query string asks for deleted things, too; on a route that has no such parameter, nothing.
bool read_include_deleted(const QueryParameters& query, bool taken, std::vector<model::ValueProblem>& problems) {
  const auto* text = taken ? query.find(kIncludeDeleted) : nullptr;
  if (text == nullptr) return false;
  if (*text != "true" && *text != "false") {
    problems.push_back({.attribute = std::string(kIncludeDeleted), .problem = "must be true or false"});
  }
  return *text == "true";
}

// What the query string says, for routes whose inputs come from there, and which may take includeDeleted beside them.
void query_values(const QueryParameters& query, bool may_be_deleted, const std::vector<model::Attribute>& attributes,
                  value::Item& values, std::vector<model::ValueProblem>& problems) {
  for (const auto& [name, text] : query.all()) {
    if (may_be_deleted && name == kIncludeDeleted) continue;
    const auto* attribute = find_in(attributes, name);
    if (attribute == nullptr || values.find(name) != nullptr) {
      problems.push_back({.attribute = name, .problem = "is not a parameter of this route"});
    } else if (auto value = read_url_value(attribute->type, name, text, problems)) {
      values.set(name, std::move(*value));
    }
  }
}

// Adds to `problems` what `more` says of attributes that are not in it yet.
void join_problems(std::vector<model::ValueProblem>& problems, std::vector<model::ValueProblem> more) {
  for (auto& one : more) {
    if (const auto counted = model::more_of(one); counted > 0) {
      model::count_more_problems(problems, counted);
    } else if (std::ranges::find(problems, one.attribute, &model::ValueProblem::attribute) == problems.end()) {
      problems.push_back(std::move(one));
    }
  }
}

// Nobody makes something that is another's, unless a grant says so.
std::vector<model::ValueProblem> foreign_owner(const model::Entity& entity, const value::Item& attributes,
                                               const runtime::Caller& caller) {
  const auto* given = entity.owner ? attributes.find(*entity.owner) : nullptr;
  const bool own = given == nullptr || !caller.subject || *given == value::AttributeValue::string(*caller.subject);
  if (own || !entity.create.grants.empty()) return {};
  return {{.attribute = *entity.owner, .problem = "cannot be set"}};
}

// What to answer to a request with problems: first whether the caller could do such a thing at all, then everything that is wrong.
Problem refusal(std::vector<model::ValueProblem> problems, const model::Access& access, const runtime::Caller& caller) {
  if (auto shut_out = runtime::shut_out(access, caller)) return std::move(*shut_out);
  return runtime::invalid(std::move(problems));
}

// In one line, for whoever starts the program.
std::string why_it_does_not_open(const Problem& problem) {
  if (problem.details.empty()) return problem.message;
  return problem.message + ". `stator model migrate` changes a table from one model to another";
}

// An attribute that owners are in and whose type has one spelling of several; null when there is none.
const model::Attribute* find_owner_id(const model::Model& model) {
  for (const auto& entity : model.entities) {
    const auto* owner = entity.owner ? entity.find_attribute(*entity.owner) : nullptr;
    if (owner != nullptr && (owner->type.kind == model::Kind::Uuid || owner->type.kind == model::Kind::Ulid))
      return owner;
  }
  return nullptr;
}

std::optional<unsigned> read_limit(std::string_view text, unsigned most) {
  unsigned limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error != std::errc() || end != text.data() + text.size() || limit < 1 || limit > most) return std::nullopt;
  return limit;
}

bool creates_its_result(const model::Action& action) {
  return std::ranges::any_of(action.steps, [&](const model::Step& step) {
    return step.kind == model::Step::Kind::Create && step.as == action.result;
  });
}

}  // namespace

const runtime::Caller& RestCall::caller() const {
  static const runtime::Caller nobody;
  return identity != nullptr ? identity->caller : nobody;
}

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
  if (const auto opened = system->repository_.open(parts.stop); !opened) {
    return Error{ErrorCode::Usage, fmt::format("{}: {}", system->model_->name, why_it_does_not_open(opened.error()))};
  }
  if (extension) {
    system->natives_ = extension({.repository = system->repository_,
                                  .client = parts.client,
                                  .clock = parts.clock,
                                  .random = parts.random,
                                  .page_tokens = parts.page_tokens,
                                  .beforehand = system->beforehand_,
                                  .redact = system->redact_});
  }
  for (const auto& action : system->model_->actions) {
    if (!action.native || system->natives_.contains(action.name)) continue;
    return Error{ErrorCode::Usage, fmt::format("{}: {} is native, and this program has no C++ for it",
                                               system->model_->name, action.name)};
  }
  auto router = Router::make(*system->model_);
  if (!router) return Error{ErrorCode::Usage, fmt::format("{}: {}", system->model_->name, router.error().message)};
  system->router_ = std::move(*router);
  system->openapi_ = openapi_document(*system->model_, system->router_, system->prefix_);
  return system;
}

std::optional<Identity> System::respelled(const Identity* identity) const {
  if (owner_id_ == nullptr || identity == nullptr || !identity->caller.subject) return std::nullopt;
  auto subject = value::AttributeValue::string(*identity->caller.subject);
  std::vector<model::ValueProblem> problems;
  model::check_value(owner_id_->type, owner_id_->name, subject, problems);
  if (!problems.empty() || *subject.as_string() == *identity->caller.subject) return std::nullopt;
  auto other = *identity;
  other.caller.subject = *subject.as_string();
  return other;
}

Result<http::Response, Problem> System::run(const RouteMatch& match, const RestCall& call) {
  if (auto problem = turned_away(*match.route, call.caller())) return std::move(*problem);
  if (!call.body.empty()) {
    if (auto refusal = refuse_type(*match.route, call.request)) return std::move(*refusal);
  }
  const auto other = respelled(call.identity);
  if (!other) return run_as(match, call);
  return run_as(match, {.request = call.request,
                        .path = call.path,
                        .query = call.query,
                        .body = call.body,
                        .identity = &*other,
                        .max_file_bytes = call.max_file_bytes,
                        .memory = call.memory});
}

Result<http::Response, Problem> System::run_as(const RouteMatch& match, const RestCall& call) {
  if (auto problems = empty_headers(call.request); !problems.empty()) return runtime::invalid(std::move(problems));
  const auto key = call.request.header("Idempotency-Key");
  if (call.request.method != "POST" || key.empty()) return run_once(match, call);
  auto claim = TRY(idempotency_.claim({.key = key,
                                       .subject = call.caller().subject,
                                       .method = call.request.method,
                                       .target = call.request.target,
                                       .body = call.body}));
  if (auto* before = std::get_if<http::Response>(&claim)) return std::move(*before);
  const auto& claimed = std::get<IdempotencyStore::Claimed>(claim);
  // Whatever became of the work, it stays so; a key that could not be told is refused until it expires.
  const auto keep = [&](const Result<void, Problem>& kept) {
    if (!kept) log::warning("idempotency_key_not_kept", {{"system", model_->name}, {"error", kept.error().message}});
  };
  try {
    auto answer = run_once(match, call);
    const int status = answer ? answer->status : status_of(answer.error().kind);
    if (status < 300) {
      keep(idempotency_.complete(claimed, *answer));
    } else if (status < 500) {
      keep(idempotency_.release(claimed));
    } else {
      keep(idempotency_.abandon(claimed));
    }
    return answer;
  } catch (...) {
    keep(idempotency_.abandon(claimed));
    throw;
  }
}

std::optional<http::Response> System::refuse_by_head(const Route& route, const http::Request& head, bool has_body,
                                                     const Identity* identity) const {
  static const runtime::Caller nobody;
  if (const auto problem = turned_away(route, identity != nullptr ? identity->caller : nobody)) {
    return problem_answer(*problem);
  }
  return has_body ? refuse_type(route, head) : std::nullopt;
}

Result<http::Response, Problem> System::run_once(const RouteMatch& match, const RestCall& call) {
  if (beforehand_) TRY(beforehand_(match, call));
  return std::visit([&](const auto& target) { return run_target(target, match, call); }, match.route->target);
}

Result<http::Response, Problem> System::run_target(const EntityTarget& target, const RouteMatch& match,
                                                   const RestCall& call) {
  using Operation = EntityOperation;
  const auto& entity = *target.entity;
  if (target.operation == Operation::Create) return create(entity, match, call);
  if (target.operation == Operation::Put) return put(entity, match, call);
  const auto key = TRY(path_values(match, entity.attributes));
  std::vector<model::ValueProblem> problems;
  runtime::ReadOptions read;
  const bool may_be_deleted = takes_include_deleted(*model_, *match.route);
  if (may_be_deleted) {
    refuse_others(call.query, {kIncludeDeleted}, problems);
  } else {
    refuse_others(call.query, {}, problems);
  }
  read.include_deleted = read_include_deleted(call.query, may_be_deleted, problems);
  model::PlainObject changes;
  if (target.operation == Operation::Update) {
    TRY(check_rows_first(match, key, call));
    changes = TRY(body_values(call, entity.attributes, key, problems));
  } else if (target.operation != Operation::Get) {
    TRY(refuse_body(call, problems));
  }
  if (!problems.empty()) {
    join_problems(problems, runtime::check_changes(entity, model_->table, changes, runtime::Source::Request));
    return refusal(std::move(problems), target.operation == Operation::Get ? entity.read : entity.update,
                   call.caller());
  }
  const runtime::WriteOptions write{.precondition = precondition_of(call.request), .include_deleted = false};
  const auto& caller = call.caller();
  switch (target.operation) {
    case Operation::Create:
    case Operation::Put:
    case Operation::Get: return object_answer(200, TRY(repository_.get(entity, key, caller, read)), call);
    case Operation::Update:
      return object_answer(200, TRY(repository_.update(entity, key, changes, caller, write)), call);
    case Operation::Restore: return object_answer(200, TRY(repository_.restore(entity, key, caller, write)), call);
    case Operation::Delete: TRY(repository_.remove(entity, key, caller, write)); return no_content();
    case Operation::Purge: TRY(repository_.purge(entity, key, caller, write)); return no_content();
  }
  return not_found();
}

Result<void, Problem> System::check_rows_first(const RouteMatch& match, const value::Item& named,
                                               const RestCall& call) {
  if (call.body.size() <= kLargeBody) return {};
  return check_rows(repository_, *match.route, named, call.caller());
}

Result<http::Response, Problem> System::create(const model::Entity& entity, const RouteMatch& match,
                                               const RestCall& call) {
  auto attributes = TRY(path_values(match, entity.attributes));
  std::vector<model::ValueProblem> problems;
  refuse_others(call.query, {}, problems);
  TRY(check_rows_first(match, attributes, call));
  auto body = TRY(body_values(call, entity.attributes, attributes, problems));
  for (const auto& [name, value] : body.values) attributes.set(name, value);
  if (!problems.empty()) {
    join_problems(problems, runtime::check_new(entity, attributes, runtime::Source::Request));
    join_problems(problems, foreign_owner(entity, attributes, call.caller()));
    std::vector<model::ValueProblem> missing;
    runtime::check_complete(entity, attributes, missing);
    std::erase_if(missing, [&](const model::ValueProblem& one) { return one.attribute == entity.owner; });
    join_problems(problems, std::move(missing));
    return refusal(std::move(problems), entity.create, call.caller());
  }
  return object_answer(201, TRY(repository_.create(entity, attributes, call.caller())), call);
}

Result<http::Response, Problem> System::put(const model::Entity& entity, const RouteMatch& match,
                                            const RestCall& call) {
  // Here the caller chooses the names in the path, so wrong ones are told, as those in the body are.
  std::vector<model::ValueProblem> problems;
  value::Item key;
  for (const auto& [name, text] : match.captured) {
    if (auto value = read_url_value(entity.find_attribute(name)->type, name, text, problems)) {
      key.set(name, std::move(*value));
    }
  }
  refuse_others(call.query, {}, problems);
  if (problems.empty()) TRY(check_rows_first(match, key, call));
  const auto given = TRY(body_values(call, entity.attributes, key, problems));
  if (!problems.empty()) {
    auto values = given.values;
    join_problems(problems, runtime::check_new(entity, values, runtime::Source::Request));
    join_problems(problems, foreign_owner(entity, given.values, call.caller()));
    return refusal(std::move(problems), entity.update, call.caller());
  }
  auto done = TRY(repository_.put(entity, key, given, call.caller(), precondition_of(call.request)));
  return object_answer(done.created ? 201 : 200, std::move(done.object), call);
}

Result<http::Response, Problem> System::run_target(const model::Pattern* pattern, const RouteMatch& match,
                                                   const RestCall& call) {
  std::vector<model::ValueProblem> problems;
  value::Item parameters;
  const auto path_captures = static_cast<std::size_t>(
      std::ranges::count_if(match.route->segments, [](const Route::Part& part) { return !part.capture.empty(); }));
  const auto read = [&](std::string_view name, std::string_view text) {
    const auto* parameter = find_in(pattern->parameters, name);
    const model::Type plain;
    if (auto value = read_url_value(parameter != nullptr ? parameter->type : plain, name, text, problems)) {
      parameters.set(name, std::move(*value));
    }
  };
  for (std::size_t i = 0; i < match.captured.size(); ++i) {
    const auto before = problems.size();
    read(match.captured[i].first, match.captured[i].second);
    if (i < path_captures && problems.size() > before) return not_found();
  }
  runtime::PageRequest page;
  const bool may_be_deleted = takes_include_deleted(*model_, *match.route);
  page.include_deleted = read_include_deleted(call.query, may_be_deleted, problems);
  const std::string* token = nullptr;
  for (const auto& [name, text] : call.query.all()) {
    const bool in_route =
        std::ranges::any_of(match.route->query, [&](const Route::Part& part) { return part.name == name; });
    if (in_route || (may_be_deleted && name == kIncludeDeleted)) continue;
    if (!pattern->single && name == "limit") {
      page.limit = read_limit(text, pattern->max_limit);
      if (!page.limit) {
        problems.push_back(
            {.attribute = name, .problem = fmt::format("must be a whole number from 1 to {}", pattern->max_limit)});
      }
    } else if (!pattern->single && name == "nextToken") {
      token = &text;
    } else if (pattern->order == model::Order::Asked && name == "order") {
      if (text != "asc" && text != "desc") problems.push_back({.attribute = name, .problem = "must be asc or desc"});
      parameters.set(name, value::AttributeValue::string(text));
    } else if (find_in(pattern->parameters, name) != nullptr && parameters.find(name) == nullptr) {
      read(name, text);
    } else {
      problems.push_back({.attribute = name, .problem = router_.why_not(*match.route, name, text)});
    }
  }
  const PageBinding binding{
      .system = model_->name, .pattern = pattern->name, .parameters = parameters, .subject = call.caller().subject};
  if (token != nullptr && problems.empty()) {
    if (auto start = page_tokens_.open(*token, binding)) {
      page.start = std::move(*start);
    } else {
      problems.push_back({.attribute = "nextToken", .problem = start.error().message});
    }
  }
  if (!problems.empty()) {
    return refusal(as_written(*match.route, std::move(problems)), pattern->access, call.caller());
  }
  auto outcome = repository_.run(*pattern, parameters, call.caller(), page);
  if (!outcome) {
    auto why = outcome.error();
    why.details = as_written(*match.route, std::move(why.details));
    return why;
  }
  auto& found = *outcome;
  if (pattern->single) {
    if (found.objects.empty()) return not_found();
    return object_answer(200, std::move(found.objects.front()), call);
  }
  for (auto& object : found.objects) redact(object, call.caller());
  const auto next = found.next ? page_tokens_.seal(*found.next, binding) : std::string();
  return http::Response{.status = 200,
                        .content_type = kJsonType,
                        .headers = {},
                        .body = list_body(model_->table, found, next),
                        .close = false};
}

Result<http::Response, Problem> System::run_target(const model::Action* action, const RouteMatch& match,
                                                   const RestCall& call) {
  auto inputs = TRY(path_values(match, action->inputs));
  std::vector<model::ValueProblem> problems;
  const bool may_be_deleted = takes_include_deleted(*model_, *match.route);
  const runtime::ReadOptions read{.include_deleted = read_include_deleted(call.query, may_be_deleted, problems)};
  if (inputs_from_query(*action)) {
    query_values(call.query, may_be_deleted, action->inputs, inputs, problems);
    if (action->method != "GET" && !takes_raw_body(*action)) {
      const auto begin = problems.size();
      TRY(refuse_body(call, problems));
      for (auto i = begin; i < problems.size(); ++i) {
        if (find_in(action->inputs, problems[i].attribute) != nullptr)
          problems[i].problem = "belongs in the query string";
      }
    }
  } else {
    refuse_others(call.query, {}, problems);
    TRY(check_rows_first(match, inputs, call));
    const auto body = TRY(body_values(call, action->inputs, inputs, problems));
    for (const auto& [name, value] : body.values) inputs.set(name, value);
  }
  if (!problems.empty() || action->native) {
    join_problems(problems, runtime::check_inputs(action->inputs, inputs));
    if (!problems.empty()) return refusal(std::move(problems), action->access, call.caller());
  }
  if (action->native) return run_native(*action, inputs, read, call);
  auto result = TRY(repository_.perform(*action, inputs, call.caller(), precondition_of(call.request)));
  if (!result) return no_content();
  return object_answer(creates_its_result(*action) ? 201 : 200, std::move(*result), call);
}

Result<http::Response, Problem> System::run_native(const model::Action& action, const value::Item& inputs,
                                                   const runtime::ReadOptions& read, const RestCall& call) {
  if (auto shut_out = runtime::shut_out(action.access, call.caller())) return std::move(*shut_out);
  std::optional<Object> within;
  if (action.within) {
    within = TRY(repository_.get_within(action, inputs, call.caller(), read));
    const bool expected = action.method == "GET" || precondition_of(call.request).holds(within->version);
    if (!expected) return runtime::version_mismatch();
  }
  return natives_.find(action.name)->second({.call = call, .inputs = inputs, .within = within});
}

void System::redact(Object& object, const runtime::Caller& caller) const {
  if (!redact_) return;
  redact_(object, caller);
  for (auto& nested : object.nested) redact(nested, caller);
  for (auto& [name, joined] : object.joined) redact(joined, caller);
}

http::Response System::object_answer(int status, Object object, const RestCall& call) const {
  redact(object, call.caller());
  http::Response response{.status = status, .content_type = kJsonType, .headers = {}, .body = {}, .close = false};
  const auto etag = etag_of(object);
  if (!etag.empty()) response.headers += fmt::format("ETag: {}\r\n", etag);
  if (const auto path = path_of(object); status == 201 && !path.empty()) {
    response.headers += fmt::format("Location: {}{}\r\n", prefix_, path);
  }
  const bool reading = call.request.method == "GET" || call.request.method == "HEAD";
  // A version counts what users change; what moves without it cannot be told to be the same.
  const bool same = !etag.empty() && has_already(call.request, etag) && !object.entity->drifts();
  if (reading && same) {
    response.status = 304;
    return response;
  }
  append_object(response.body, model_->table, object);
  return response;
}

}  // namespace stator::app
