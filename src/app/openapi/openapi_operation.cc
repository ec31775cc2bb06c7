#include "stator/app/openapi/openapi_operation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>

#include "stator/app/openapi/openapi_schema.h"
#include "stator/app/rest/request/input.h"
#include "stator/model/answer_shape.h"
#include "stator/runtime/write/action_subject.h"

namespace stator::app {
namespace {

using model::Kind;

constexpr std::string_view kJson = "application/json";

bool is_in_path(const Route& route, std::string_view name) {
  return std::ranges::find(route.segments, name, &Route::Part::capture) != route.segments.end();
}

// "status={status}&sort=updatedAt", with the names that a caller sends.
std::string query_of(const Route& route) {
  std::vector<std::string> parts;
  for (const auto& part : route.query) {
    parts.push_back(part.capture.empty() ? fmt::format("{}={}", part.name, part.text)
                                         : fmt::format("{}={{{}}}", part.name, part.name));
  }
  return fmt::format("{}", fmt::join(parts, "&"));
}

// Describes one route.
class Description {
 public:
  Description(const model::Model& model, const Route& route, const std::vector<std::string>& names)
      : model_(model), route_(route), names_(names) {
    operation_.id = route.label;
  }

  OpenApiOperation take() && {
    std::visit([&](const auto& target) { add_target(target); }, route_.target);
    if (operation_.body) problems({"413"});
    return std::move(operation_);
  }

 private:
  // Something that everybody may do, within something that not everybody may see, is done without a token or with one.
  void about(std::string summary, const std::string& description, std::string tag, const model::Access& access,
             const model::Entity* within = nullptr) {
    operation_.summary = std::move(summary);
    operation_.tag = std::move(tag);
    operation_.choices.push_back({.query = query_of(route_), .label = route_.label, .description = description});
    const bool all = within == nullptr || within->read.anyone;
    operation_.all_public = access.anyone && all;
    operation_.any_public = access.anyone || access.anyone_when;
  }

  // -------------------------------------------------------------------------------------------------------- parameters

  OpenApiOperation::Parameter& parameter(std::string_view in, std::string_view name, bool required,
                                         std::string_view description = {}) {
    return operation_.parameters.emplace_back(OpenApiOperation::Parameter{.in = std::string(in),
                                                                          .name = std::string(name),
                                                                          .description = std::string(description),
                                                                          .required = required,
                                                                          .schemas = {},
                                                                          .words = {},
                                                                          .of = {route_.label}});
  }
  void parameter(std::string_view in, std::string_view name, bool required, const model::Type& type,
                 std::string_view description = {}) {
    parameter(in, name, required, description).schemas.push_back(type_schema(type));
  }
  void header(std::string_view name, std::string_view description) {
    parameter("header", name, false, model::Type{}, description);
  }

  void include_deleted() {
    if (!takes_include_deleted(route_)) return;
    model::Type boolean;
    boolean.kind = Kind::Boolean;
    parameter("query", kIncludeDeleted, false, boolean, "Also entities that are deleted and can be restored");
  }

  void path_parameters(const std::vector<model::Attribute>& attributes) {
    auto name = names_.begin();
    for (const auto& part : route_.segments) {
      if (part.capture.empty()) continue;
      const auto known = std::ranges::find(attributes, part.capture, &model::Attribute::name);
      parameter("path", *name++, true, known != attributes.end() ? known->type : model::Type{});
    }
  }

  // The literal words in the route's query.
  void query_words() {
    for (const auto& part : route_.query) {
      if (part.capture.empty()) parameter("query", part.name, true).words.push_back(part.text);
    }
  }

  // ------------------------------------------------------------------------------------------------ bodies and answers

  void json_body(const std::vector<model::BodyMember>& members, bool required) {
    operation_.body = {.required = required, .content = {{std::string(kJson), {body_schema(members)}}}};
  }

  void answer(std::string_view status, std::string_view description, OpenApiOperation::Schemas schemas = {}) {
    operation_.answers[std::string(status)] = {
        .description = std::string(description), .type = std::string(kJson), .schemas = std::move(schemas)};
  }

  void problems(std::initializer_list<std::string_view> statuses) {
    static const std::map<std::string_view, std::string_view> kMeanings = {
        {"400", "The request is invalid; details lists the mistakes"},
        {"401", "No token, or one that is not valid"},
        {"403", "The caller may see it, but may not do this"},
        {"404", "It does not exist, or this caller may not see it"},
        {"409", "The request conflicts with stored rows"},
        {"412", "If-Match or If-None-Match does not hold"},
        {"413", "The body is too large"},
    };
    for (const auto status : statuses) answer(status, kMeanings.at(status), {reference_to("Problem")});
  }

  // ---------------------------------------------------------------------------------------------------------- entities

  void add_target(const EntityTarget& target) {
    using Word = EntityOperation;
    const auto& entity = *target.entity;
    const auto word = target.operation;
    about(fmt::format("{} {}", route_.label.substr(route_.label.rfind('.') + 1), entity.name), entity.description,
          entity.name, word == Word::Get ? entity.read : model::Access{});
    path_parameters(entity.attributes);
    entity_headers(entity, word);
    include_deleted();
    if (word == Word::Create || word == Word::Update || word == Word::Put) entity_body(entity, word);
    entity_answers(entity, word);
  }

  // Whether an equal version proves that nothing has changed.
  static bool tells_unchanged(const model::Entity& entity) { return entity.versioned && !entity.drifts(); }

  void entity_headers(const model::Entity& entity, EntityOperation word) {
    using Word = EntityOperation;
    if (word == Word::Create) header("Idempotency-Key", "The same key gets the same answer, for a day");
    if (word == Word::Get && tells_unchanged(entity)) header("If-None-Match", "An ETag; 304 while it is current");
    if (word != Word::Get && word != Word::Create && entity.versioned) {
      header("If-Match", "The ETag of the version to change");
    }
    if (word == Word::Put) header("If-None-Match", "*: only create it, never change it");
  }

  void entity_body(const model::Entity& entity, EntityOperation word) {
    using model::BodyOf;
    const auto of = word == EntityOperation::Create ? BodyOf::Create
                    : word == EntityOperation::Put  ? BodyOf::Put
                                                    : BodyOf::Update;
    // A put that creates needs what a create needs, unless it is in the path.
    const auto needed = [&](const model::BodyMember& member) {
      return member.required && !is_in_path(route_, member.attribute->name);
    };
    const auto taken = model::body_members(model_, entity, of == BodyOf::Put ? BodyOf::Create : of);
    json_body(model::body_members(model_, entity, of), std::ranges::any_of(taken, needed));
  }

  void entity_answers(const model::Entity& entity, EntityOperation word) {
    const OpenApiOperation::Schemas it{reference_to(entity.name)};
    switch (word) {
      case EntityOperation::Create:
        answer("201", "Created; Location and ETag are in the head", it);
        return problems({"400", "401", "403", "404", "409"});
      case EntityOperation::Get:
        answer("200", "The entity; ETag is in the head", it);
        if (tells_unchanged(entity)) answer("304", "Not modified: the version is the one in If-None-Match");
        return problems({"400", "401", "404"});
      case EntityOperation::Put: answer("201", "Created; Location and ETag are in the head", it); [[fallthrough]];
      case EntityOperation::Update:
      case EntityOperation::Restore:
        answer("200", "The changed entity", it);
        return problems({"400", "401", "403", "404", "409", "412"});
      case EntityOperation::Delete:
      case EntityOperation::Purge:
        answer("204", "It is gone");
        return problems({"400", "401", "403", "404", "409", "412"});
    }
  }

  // ---------------------------------------------------------------------------------------------------------- patterns

  void add_target(const model::Pattern* pattern) {
    about(pattern->name, pattern->description, "patterns", pattern->access, pattern->within);
    path_parameters(pattern->parameters);
    query_words();
    for (const auto& one : pattern->parameters) {
      if (is_in_path(route_, one.name)) continue;
      const auto part = std::ranges::find(route_.query, one.name, &Route::Part::capture);
      const bool named = part != route_.query.end();
      parameter("query", named ? part->name : one.name, named || must_be_given(one), one.type, one.description);
    }
    if (pattern->order == model::Order::Asked) parameter("query", "order", false).words = {"asc", "desc"};
    if (!pattern->single) page_parameters(*pattern);
    include_deleted();
    OpenApiOperation::Schemas returned;
    for (const auto& shape : model::answer_shapes(*pattern)) returned.push_back(schema_of(shape));
    if (pattern->single) {
      answer("200", "The entity; ETag is in the head", std::move(returned));
    } else {
      answer("200", "One page of the list", {list_of(returned)});
    }
    problems({"400", "401", "404"});
    if (!pattern->access.roles.empty()) problems({"403"});
  }

  void page_parameters(const model::Pattern& pattern) {
    model::Type limit;
    limit.kind = Kind::Integer;
    limit.min = value::Number::from_int(1);
    limit.max = value::Number::from_int(pattern.max_limit);
    parameter("query", "limit", false, limit);
    parameter("query", "nextToken", false, model::Type{}, "The token from the page before");
  }

  // The entity's, with what is joined to it and nested in it.
  std::string schema_of(const model::AnswerShape& shape) const {
    const auto own =
        shape.whole ? reference_to(shape.entity->name) : served_schema(model_, *shape.entity, {.whole = false});
    if (shape.joined.empty() && shape.nested_as.empty()) return own;
    std::string out;
    value::JsonWriter json(out);
    json.begin_object().key("allOf").begin_array().raw(own);
    json.begin_object().key("type").string("object").key("properties").begin_object();
    for (const auto& joined : shape.joined) {
      json.key(joined.as).raw(joined.attributes->empty()
                                  ? reference_to(joined.entity->name)
                                  : served_schema(model_, *joined.entity, {.only = *joined.attributes}));
    }
    if (!shape.nested_as.empty()) {
      OpenApiOperation::Schemas nested;
      for (const auto& child : shape.nested) nested.push_back(schema_of(child));
      json.key(shape.nested_as).begin_object().key("type").string("array").key("items");
      write_any_of(json, nested);
      json.end_object().key("continued").begin_object().key("type").string("boolean");
      json.key("description").string("Its children began on an earlier page").end_object();
    }
    json.end_object();
    if (!shape.nested_as.empty()) json.key("required").begin_array().string(shape.nested_as).end_array();
    json.end_object().end_array().end_object();
    return out;
  }

  static std::string list_of(const OpenApiOperation::Schemas& items) {
    std::string out;
    value::JsonWriter json(out);
    json.begin_object().key("type").string("object").key("required").begin_array().string("items").end_array();
    json.key("properties").begin_object().key("items").begin_object().key("type").string("array").key("items");
    write_any_of(json, items);
    json.end_object().key("nextToken").begin_object().key("type").string("string");
    json.key("description").string("There is another page: send this token to get it").end_object();
    json.end_object().end_object();
    return out;
  }

  // ----------------------------------------------------------------------------------------------------------- actions

  void add_target(const model::Action* action) {
    about(action->name, action->description, "actions", action->access, action->within);
    path_parameters(action->inputs);
    const auto elsewhere = [&](const model::Attribute& input) { return !is_in_path(route_, input.name); };
    const bool in_query = inputs_from_query(*action);
    for (const auto& input : action->inputs) {
      if (in_query && elsewhere(input)) {
        parameter("query", input.name, must_be_given(input), input.type, input.description);
      }
    }
    include_deleted();
    if (route_.method == "POST") header("Idempotency-Key", "The same key gets the same answer, for a day");
    const bool guarded = route_.method != "GET" && runtime::has_versioned_subject(*action);
    if (guarded) header("If-Match", "The ETag of the version that the action changes");
    if (!in_query && std::ranges::any_of(action->inputs, elsewhere)) {
      std::vector<model::BodyMember> members;
      for (const auto& input : action->inputs) {
        if (!elsewhere(input)) continue;
        members.push_back({.attribute = &input, .required = must_be_given(input), .nullable = false, .owner = false});
      }
      json_body(members, std::ranges::any_of(members, &model::BodyMember::required));
    }
    if (takes_raw_body(*action)) {
      operation_.body = {.required = true, .content = {}};
      for (const auto& type : action->accepts) operation_.body->content[type] = {};
    }
    action_answers(*action);
    problems({"400", "401", "403", "404", "409"});
    if (guarded) problems({"412"});
  }

  void action_answers(const model::Action& action) {
    using StepKind = model::Step::Kind;
    if (action.native) {  // C++ decides what it answers
      operation_.answers["2XX"] = {.description = "Done", .type = "*/*", .schemas = {"{}"}};
      return;
    }
    const auto step = std::ranges::find_if(action.steps, [&](const model::Step& s) { return s.as == action.result; });
    const bool answers = action.result && step != action.steps.end() && !step->entities.empty();
    const bool may_be_absent =
        !answers || step->when || step->optional ||
        std::ranges::find(action.steps, StepKind::Delete, &model::Step::kind) != action.steps.end();
    if (may_be_absent)
      answer("204", answers ? "Done; the step with the result was skipped, or the result was deleted" : "Done");
    if (!answers) return;
    OpenApiOperation::Schemas results;
    for (const auto* entity : step->entities) results.push_back(reference_to(entity->name));
    answer(step->kind == StepKind::Create ? "201" : "200", "Done", std::move(results));
  }

  const model::Model& model_;
  const Route& route_;
  const std::vector<std::string>& names_;
  OpenApiOperation operation_;
};

void add_new(std::vector<std::string>& known, std::vector<std::string> more) {
  for (auto& one : more) {
    if (std::ranges::find(known, one) == known.end()) known.push_back(std::move(one));
  }
}

void merge_parameters(std::vector<OpenApiOperation::Parameter>& known, std::vector<OpenApiOperation::Parameter> more) {
  const auto same = [](const OpenApiOperation::Parameter& a) {
    return [&a](const OpenApiOperation::Parameter& b) { return a.in == b.in && a.name == b.name; };
  };
  for (auto& one : known) {
    if (std::ranges::none_of(more, same(one))) one.required = false;
  }
  for (auto& one : more) {
    const auto there = std::ranges::find_if(known, same(one));
    if (there == known.end()) {
      one.required = false;
      known.push_back(std::move(one));
      continue;
    }
    there->required = there->required && one.required;
    if (there->description.empty()) there->description = std::move(one.description);
    add_new(there->schemas, std::move(one.schemas));
    add_new(there->words, std::move(one.words));
    add_new(there->of, std::move(one.of));
  }
}

void merge_body(std::optional<OpenApiOperation::Body>& known, std::optional<OpenApiOperation::Body> more) {
  const bool needed = known && known->required && more && more->required;
  if (!known) known.emplace();
  known->required = needed;
  if (!more) return;
  for (auto& [type, schemas] : more->content) add_new(known->content[type], std::move(schemas));
}

// Which query string means what, when there are several.
std::string description_of(const OpenApiOperation& operation) {
  const auto& choices = operation.choices;
  if (choices.size() == 1) return choices.front().description;
  std::string text = "The query string selects one of these:\n";
  for (const auto& [query, label, description] : choices) {
    text += query.empty() ? fmt::format("\n- otherwise: {}", label) : fmt::format("\n- `?{}`: {}", query, label);
    if (!description.empty()) text += fmt::format(". {}", description);
  }
  return text;
}

std::string description_of(const OpenApiOperation::Parameter& parameter, const OpenApiOperation& operation) {
  if (parameter.of.size() == operation.choices.size()) return parameter.description;
  return fmt::format("{}{}Only for {}", parameter.description, parameter.description.empty() ? "" : " ",
                     fmt::join(parameter.of, ", "));
}

void write_content(value::JsonWriter& json, std::string_view type, const OpenApiOperation::Schemas& schemas) {
  json.key(type).begin_object();
  if (!schemas.empty()) write_any_of(json.key("schema"), schemas);
  json.end_object();
}

void write_parameter(value::JsonWriter& json, const OpenApiOperation::Parameter& parameter,
                     const OpenApiOperation& operation) {
  json.begin_object().key("name").string(parameter.name).key("in").string(parameter.in);
  if (const auto text = description_of(parameter, operation); !text.empty()) json.key("description").string(text);
  if (parameter.required) json.key("required").boolean(true);
  auto schemas = parameter.schemas;
  if (!parameter.words.empty()) schemas.push_back(words_schema(parameter.words));
  write_any_of(json.key("schema"), schemas);
  json.end_object();
}

void write_security(value::JsonWriter& json, const OpenApiOperation& operation) {
  if (!operation.any_public) return;
  json.key("security").begin_array();
  if (!operation.all_public) {  // the public ones, and the others
    json.begin_object().end_object();
    json.begin_object().key("token").begin_array().end_array().end_object();
  }
  json.end_array();
}

}  // namespace

OpenApiOperation describe(const model::Model& model, const Route& route, const std::vector<std::string>& names) {
  return Description(model, route, names).take();
}

void merge(OpenApiOperation& operation, OpenApiOperation more) {
  operation.id = std::move(more.id);
  operation.summary = std::move(more.summary);
  operation.tag = std::move(more.tag);
  std::ranges::move(more.choices, std::back_inserter(operation.choices));
  operation.all_public = operation.all_public && more.all_public;
  operation.any_public = operation.any_public || more.any_public;
  merge_parameters(operation.parameters, std::move(more.parameters));
  if (operation.body || more.body) merge_body(operation.body, std::move(more.body));
  for (auto& [status, answer] : more.answers) {
    auto& known = operation.answers[status];
    if (known.description.empty()) {
      known.description = std::move(answer.description);
      known.type = std::move(answer.type);
    }
    add_new(known.schemas, std::move(answer.schemas));
  }
}

void write_operation(value::JsonWriter& json, const OpenApiOperation& operation) {
  json.begin_object().key("operationId").string(operation.id).key("summary").string(operation.summary);
  if (const auto text = description_of(operation); !text.empty()) json.key("description").string(text);
  json.key("tags").begin_array().string(operation.tag).end_array();
  write_security(json, operation);
  json.key("parameters").begin_array();
  for (const auto& parameter : operation.parameters) write_parameter(json, parameter, operation);
  json.end_array();
  if (operation.body) {
    json.key("requestBody").begin_object().key("required").boolean(operation.body->required);
    json.key("content").begin_object();
    for (const auto& [type, schemas] : operation.body->content) write_content(json, type, schemas);
    json.end_object().end_object();
  }
  json.key("responses").begin_object();
  for (const auto& [status, answer] : operation.answers) {
    json.key(status).begin_object().key("description").string(answer.description);
    if (!answer.schemas.empty()) {
      json.key("content").begin_object();
      write_content(json, answer.type, answer.schemas);
      json.end_object();
    }
    json.end_object();
  }
  json.end_object().end_object();
}

}  // namespace stator::app
