#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "stator/model/check/well_formed/well_formed.h"

namespace stator::model {
namespace {

// Parameters that every list has beside its own.
constexpr std::array<std::string_view, 2> kPageParameters{"limit", "nextToken"};

void check_parameters(const std::vector<ParameterUse>& uses, const Pattern& pattern, Report& report) {
  for (const auto& parameter : pattern.parameters) {
    const bool is_used =
        std::any_of(uses.begin(), uses.end(), [&](const ParameterUse& use) { return use.name == parameter.name; });
    if (!is_used)
      report.error(parameter.position, "unused-parameter",
                   fmt::format("{} is in no route, key or filter of {}", parameter.name, pattern.name));
    const bool is_taken =
        std::find(kPageParameters.begin(), kPageParameters.end(), parameter.name) != kPageParameters.end() ||
        (pattern.order == Order::Asked && parameter.name == "order");
    if (is_taken)
      report.error(parameter.position, "reserved-name",
                   fmt::format("{} means something else in the query string of every list", parameter.name));
  }
}

void check_returns(const Pattern& pattern, Report& report) {
  for (auto returned = pattern.returns.begin(); returned != pattern.returns.end(); ++returned) {
    const bool is_repeated = std::any_of(pattern.returns.begin(), returned,
                                         [&](const Returned& earlier) { return earlier.record == returned->record; });
    if (is_repeated)
      report.error(returned->position, "repeated-word", fmt::format("{} is returned twice", returned->entity->name));
  }
}

// A nested entity must be returned, and the children must lead to the parent.
void check_nest(const NestSyntax& syntax, const Pattern& pattern, Report& report) {
  const Nest& nest = *pattern.nest;
  const auto check_returned = [&](const Entity* entity, const Text& name) {
    const bool is_returned = std::any_of(pattern.returns.begin(), pattern.returns.end(),
                                         [&](const Returned& returned) { return returned.entity == entity; });
    if (entity != nullptr && !is_returned)
      report.error(name.position, "not-returned",
                   fmt::format("{} does not return {}, so it cannot nest it", pattern.name, name.text));
  };
  if (syntax.parent) check_returned(nest.parent, *syntax.parent);
  if (nest.parent != nullptr && syntax.as && nest.parent->find_attribute(nest.as) != nullptr)
    report.error(syntax.as->position, "contradiction",
                 fmt::format("{} has an attribute {} already", nest.parent->name, nest.as));
  for (std::size_t i = 0; i < nest.children.size(); ++i) {
    const auto& [child, relation] = nest.children[i];
    check_returned(child, syntax.children[i]);
    if (relation != nullptr && relation->to != nest.parent)
      report.error(syntax.relation->position, "wrong-relation",
                   fmt::format("{}.{} leads to {}, not to {}", child->name, relation->name, relation->entity,
                               nest.parent->name));
  }
}

// The entity that a construct works within has to be named by its parameters.
void check_within(const std::optional<Text>& name, const Entity* within, const std::vector<Attribute>& parameters,
                  Report& report) {
  if (within == nullptr) return;
  for (const auto& part : within->identity) {
    if (!gives(names_of(parameters), *within, part))
      report.error(name->position, "within-unnamed",
                   fmt::format("the key of {} is made from {}, which nothing here gives", within->name, part),
                   fmt::format("{{{}}}, in the route", part));
  }
}

void check_inputs(const ActionSyntax& syntax, const Action& action, Report& report) {
  std::set<std::string> used;
  if (syntax.route) used.insert(syntax.route->parameters.begin(), syntax.route->parameters.end());
  const auto add = [&](const Written<Expression>& expression) {
    for (auto& name : expression.value.inputs()) {
      if (name != "me" && name != "now") used.insert(std::move(name));
    }
  };
  for (const auto& step : syntax.steps) {
    for (const auto& condition : step.conditions) add(condition);
    for (const auto* assignments : {&step.key, &step.set}) {
      for (const auto& assignment : *assignments) add(assignment.value);
    }
  }
  for (const auto& input : action.inputs) {
    if (!used.contains(input.name))
      report.error(input.position, "unused-input",
                   fmt::format("{} is in no route and no expression of {}", input.name, action.name));
  }
}

}  // namespace

void check_operations(const Syntax& syntax, const Model& model, Report& report) {
  for (std::size_t i = 0; i < model.patterns.size(); ++i) {
    const auto& written = syntax.patterns[i];
    const auto& pattern = model.patterns[i];
    check_returns(pattern, report);
    if (pattern.consistent && pattern.index != nullptr && !pattern.index->local)
      report.error(*written.consistent, "contradiction", "a global index cannot be read consistently");
    if (written.nest) check_nest(*written.nest, pattern, report);
    check_parameters(written.uses, pattern, report);
    check_within(written.within, pattern.within, pattern.parameters, report);
  }
  for (std::size_t i = 0; i < model.actions.size(); ++i) {
    const auto& written = syntax.actions[i];
    const auto& action = model.actions[i];
    if (!action.native) check_inputs(written, action, report);
    check_within(written.within, action.within, action.inputs, report);
  }
}

}  // namespace stator::model
