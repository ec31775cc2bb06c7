#include <fmt/format.h>

#include <algorithm>

#include "stator/model/syntax/parse.h"

namespace stator::model {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kMethods{{
    {"get", "GET"},
    {"post", "POST"},
    {"put", "PUT"},
    {"patch", "PATCH"},
    {"delete", "DELETE"},
}};

// `append` is the create of something append_only.
constexpr std::string_view kAppend = "append";
constexpr std::array kStepKinds{
    Choice<Step::Kind>("read", Step::Kind::Read),     Choice<Step::Kind>("check", Step::Kind::Check),
    Choice<Step::Kind>("create", Step::Kind::Create), Choice<Step::Kind>(kAppend, Step::Kind::Create),
    Choice<Step::Kind>("update", Step::Kind::Update), Choice<Step::Kind>("delete", Step::Kind::Delete),
};

// ------------------------------------------------------------------------------------------------------------- reading

std::vector<AssignmentSyntax> parse_assignments(const YamlNode& node, std::string_view what, Report& report) {
  std::vector<AssignmentSyntax> assignments;
  for (const auto& item : read_members(node, what, report)) {
    if (auto value = read_expression(item, report))
      assignments.push_back({.attribute = item.key, .value = std::move(*value)});
  }
  return assignments;
}

std::vector<Assignment> plain(const std::vector<AssignmentSyntax>& written) {
  std::vector<Assignment> assignments;
  for (const auto& assignment : written)
    assignments.push_back({.attribute = assignment.attribute.text, .value = assignment.value.value});
  return assignments;
}

Failure parse_failure(const YamlNode& node, Report& report) {
  Failure failure;
  Words words(node, "else", report);
  if (const YamlNode* status = words.find("status"))
    failure.status =
        static_cast<int>(read_integer(*status, "the status of a failed check", {.min = 400, .max = 499}, report)
                             .value_or(failure.status));
  if (const YamlNode* code = words.find("code")) {
    if (const auto text = read_text(*code, "the code of a failed check", report)) failure.code = text->text;
  }
  if (const YamlNode* message = words.need("message")) {
    if (const auto text = read_text(*message, "the message of a failed check", report)) failure.message = text->text;
  }
  words.done();
  return failure;
}

// The kind of a step is the first word among these that it has.
std::optional<std::pair<Step::Kind, const YamlNode*>> parse_step_kind(const YamlNode& node, Words& words,
                                                                      std::vector<Text>& others, Report& report) {
  std::optional<std::pair<Step::Kind, const YamlNode*>> found;
  for (const auto& [word, kind] : kStepKinds) {
    const YamlNode* value = words.find(word);
    if (value == nullptr) continue;
    if (found) {
      others.push_back(value->key);
    } else {
      found.emplace(kind, value);
    }
  }
  if (!found && node.is_map())
    report.error(node.position, "missing-word", "a step is a read, check, create, append, update or delete");
  return found;
}

std::optional<StepSyntax> parse_step(const YamlNode& node, Report& report) {
  Words words(node, "a step", report);
  StepSyntax written;
  const auto kind = parse_step_kind(node, words, written.others, report);
  if (!kind) return std::nullopt;
  const auto& [what, value] = *kind;
  Step& step = written.step;
  step.kind = what;
  step.position = node.position;
  const auto take_name = [&](std::string_view word) {
    if (const YamlNode* as = words.find(word)) written.as = read_text(*as, word, report);
    if (written.as && !check_name(*written.as, "the name of a step", report)) written.as.reset();
  };
  const auto take_set = [&](const YamlNode* set) {
    if (set != nullptr) written.set = parse_assignments(*set, "set", report);
  };
  switch (what) {
    case Step::Kind::Read:
      written.entities = read_texts(*value, "the entity to read", report);
      take_name("as");
      if (const YamlNode* key = words.find("key")) written.key = parse_assignments(*key, "key", report);
      if (const YamlNode* flag = words.find("optional"))
        step.optional = read_boolean(*flag, "optional", report).value_or(false);
      break;
    case Step::Kind::Check:
      if (auto that = read_expression(*value, report)) {
        step.that = that->value;
        written.conditions.push_back(std::move(*that));
      }
      if (const YamlNode* failure = words.need("else")) step.failure = parse_failure(*failure, report);
      break;
    case Step::Kind::Create:
      if (auto entity = read_text(*value, "the entity to create", report))
        written.entities.push_back(std::move(*entity));
      written.appends = value->key.text == kAppend;
      take_name("as");
      take_set(words.need("set"));
      break;
    case Step::Kind::Update:
      written.as = read_text(*value, "the step to update", report);
      take_set(words.need("set"));
      break;
    case Step::Kind::Delete: written.as = read_text(*value, "the step to delete", report); break;
  }
  if (const YamlNode* when = words.find("when")) {
    if (auto expression = read_expression(*when, report)) {
      step.when = expression->value;
      written.conditions.push_back(std::move(*expression));
    }
  }
  words.done();
  if (written.as) step.as = written.as->text;
  step.key = plain(written.key);
  step.set = plain(written.set);
  return written;
}

// --------------------------------------------------------------------------------------------------------- native ones

// A native action has a route, inputs and access like any other action, so that requests are checked and documented
// alike.
void parse_native(Words& words, ActionSyntax& written) {
  for (const std::string_view word : {"steps", "result"}) {
    if (const YamlNode* value = words.find(word)) written.not_native.push_back(value->key);
  }
}

void parse_accepts(Words& words, ActionSyntax& written, Report& report) {
  const YamlNode* accepts = words.find("accepts");
  if (accepts == nullptr) return;
  written.accepts = accepts->key.position;
  const auto types = read_texts(*accepts, "a media type", report);
  for (const auto& type : types) {
    const auto slash = type.text.find('/');
    const bool no_body = type.text == "none";
    if (no_body && types.size() > 1) written.no_bodies.push_back(type.position);
    if (!no_body && (slash == 0 || slash == std::string::npos || slash + 1 == type.text.size()))
      report.error(type.position, "wrong-type", fmt::format("\"{}\" is no media type such as text/csv", type.text));
    written.action.accepts.push_back(type.text);
  }
}

}  // namespace

void parse_action(const YamlNode& node, Syntax& syntax, Report& report) {
  if (!check_name(node.key, "the name of an action", report, Dashes::Yes)) return;
  ActionSyntax written;
  Action& action = written.action;
  action.name = node.key.text;
  action.position = node.key.position;
  Words words(node, "an action", report);
  action.description = parse_description(words, report);
  for (const auto& [word, method] : kMethods) {
    const YamlNode* value = words.find(word);
    if (value == nullptr) continue;
    if (!action.path.empty()) {
      written.other_routes.push_back(value->key);
      continue;
    }
    written.route = parse_route(*value, QueryString::Refused, report);
    action.method = method;
    if (written.route) action.path = written.route->text.text;
  }
  if (const YamlNode* inputs = words.find("input")) {
    for (const auto& item : read_members(*inputs, "`input`", report)) {
      if (auto input = parse_plain_attribute(item, "an input", syntax, report))
        action.inputs.push_back(std::move(*input));
    }
  }
  if (const YamlNode* native = words.find("native"))
    action.native = read_boolean(*native, "native", report).value_or(false);
  if (action.native) parse_native(words, written);
  parse_accepts(words, written, report);
  const YamlNode* list = action.native ? nullptr : words.need("steps");
  if (list != nullptr) {
    for (const auto& item : read_list(*list)) {
      if (auto step = parse_step(item, report)) written.steps.push_back(std::move(*step));
    }
  }
  for (const auto& step : written.steps) action.steps.push_back(step.step);
  const auto take = [&](std::string_view word) -> std::optional<Text> {
    const YamlNode* value = words.find(word);
    return value == nullptr ? std::nullopt : read_text(*value, word, report);
  };
  written.result = take("result");
  if (written.result) action.result = written.result->text;
  written.within = take("within");
  if (const YamlNode* access = words.find("access")) {
    auto who = parse_access(*access, report);
    written.has_access = true;
    action.access = std::move(who.access);
    written.grants = std::move(who.grants);
    if (who.anyone_when) written.condition = who.anyone_when->source.position;
  }
  words.done();
  syntax.actions.push_back(std::move(written));
}

}  // namespace stator::model
