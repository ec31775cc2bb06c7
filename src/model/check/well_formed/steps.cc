#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "stator/model/check/well_formed/well_formed.h"
#include "stator/model/validate.h"

namespace stator::model {
namespace {

bool assigns(const std::vector<Assignment>& assignments, const std::string& attribute) {
  return std::any_of(assignments.begin(), assignments.end(),
                     [&](const Assignment& assignment) { return assignment.attribute == attribute; });
}

// A read needs all that names the entity.
void check_key(const Step& step, const Entity& entity, Report& report) {
  for (const auto& name : entity.identity) {
    if (name != entity.owner && !assigns(step.key, name))
      report.error(step.position, "missing-key",
                   fmt::format("the key of {} is made from {}, which `key` does not give", entity.name, name),
                   fmt::format("{}: \":{}\"", name, name));
  }
}

// A create that leaves out what is required fails every time.
void check_complete(const Step& step, const Entity& entity, Report& report) {
  for (const auto& attribute : entity.attributes) {
    const bool is_filled = attribute.default_value || attribute.generated != Generated::No || attribute.updated ||
                           attribute.derived || attribute.count || attribute.sum || attribute.copy_of ||
                           attribute.next || attribute.name == entity.owner;
    if (attribute.required && !assigns(step.set, attribute.name) && !is_filled)
      report.error(step.position, "missing-attribute",
                   fmt::format("{}.{} is required, and `set` does not give it", entity.name, attribute.name),
                   fmt::format("{}: \"...\"", attribute.name));
  }
}

// Only append_only entities can be appended, and their rows are never changed.
void check_append_only(const StepSyntax& syntax, const Step& step, const Entity& entity, Report& report) {
  const bool changes = step.kind == Step::Kind::Update || step.kind == Step::Kind::Delete;
  if (syntax.appends && !entity.append_only)
    report.error(syntax.entities.front().position, "append-only",
                 fmt::format("{} is not append_only, so nothing is appended: write create", entity.name));
  if (changes && entity.append_only)
    report.error(syntax.as->position, "append-only",
                 fmt::format("{} is append_only: its rows are created and never changed", entity.name));
}

// A literal that is set, whatever decides that it is, has to be a value of the attribute.
void check_literals(const Entity& entity, const Attribute& attribute, const Expression::Node& node, const Text& source,
                    Report& report) {
  if (node.op == Expression::Node::Op::Literal && node.value) {
    auto content = *node.value;
    std::vector<ValueProblem> problems;
    check_value(attribute.type, attribute.name, content, problems);
    for (const auto& problem : problems)
      report.error(source.at(node.column - 1), "bad-value",
                   fmt::format("{}.{} {}", entity.name, problem.attribute, problem.problem));
  }
  if (node.op != Expression::Node::Op::Call) return;
  const bool is_if = node.function == Function::If;
  if (!is_if && node.function != Function::IfNotExists && node.function != Function::Coalesce) return;
  for (std::size_t i = is_if ? 1 : 0; i < node.operands.size(); ++i)
    check_literals(entity, attribute, node.operands[i], source, report);
}

void check_set(const StepSyntax& syntax, const Entity& entity, Report& report) {
  for (const auto& [name, value] : syntax.set) {
    const Attribute* attribute = entity.find_attribute(name.text);
    if (attribute == nullptr) continue;
    const bool counted = attribute->count || attribute->sum || attribute->last;
    if (attribute->derived || counted || attribute->copy_of || attribute->is_numbered())
      report.error(name.position, "computed-attribute",
                   fmt::format("{}.{} is {}; no step sets it", entity.name, attribute->name,
                               attribute->derived         ? "derived"
                               : attribute->copy_of       ? "a copy"
                               : attribute->is_numbered() ? "a number that its parent gives"
                                                          : "counted"));
    else
      check_literals(entity, *attribute, value.value.root(), value.source, report);
  }
}

void check_action(const ActionSyntax& syntax, const Action& action, Report& report) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < action.steps.size(); ++i) {
    const auto& written = syntax.steps[i];
    const auto& step = action.steps[i];
    for (const auto* entity : step.entities) {
      check_append_only(written, step, *entity, report);
      check_set(written, *entity, report);
      if (step.kind == Step::Kind::Read) check_key(step, *entity, report);
      if (step.kind == Step::Kind::Create) check_complete(step, *entity, report);
    }
    const bool names_it = step.kind == Step::Kind::Read || step.kind == Step::Kind::Create;
    if (names_it && written.as && !names.insert(step.as).second)
      report.error(written.as->position, "repeated-word", fmt::format("a step before is called {} already", step.as));
  }
}

}  // namespace

void check_steps(const Syntax& syntax, const Model& model, Report& report) {
  for (std::size_t i = 0; i < model.actions.size(); ++i) check_action(syntax.actions[i], model.actions[i], report);
}

}  // namespace stator::model
