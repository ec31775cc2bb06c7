#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "stator/model/resolve/resolver.h"
#include "stator/model/validate.h"

namespace stator::model {
namespace {

// Follows an action from step to step, so that each sees the names of those before it.
class ActionResolver {
 public:
  ActionResolver(const ActionSyntax& syntax, Action& action, Resolver& resolver)
      : action_(action), steps_(syntax.steps), resolver_(resolver), report_(resolver.report) {}

  void resolve(const std::optional<Route>& route, const std::optional<Text>& result) {
    for (std::size_t i = 0; i < steps_.size(); ++i) resolve_step(steps_[i], action_.steps[i]);
    if (route) {
      for (const auto& name : route->parameters) need_input(name, place_in_template(route->text, name), true);
    }
    for (const auto& input : action_.inputs) {
      if (used_.count(input.name) == 0)
        report_.error(input.position, "unused-input",
                      fmt::format("{} is in no route and no expression of {}", input.name, action_.name));
    }
    if (result) need_name(*result);
  }

  // Without a word of its own, an action is for those who may do each of its writes; without writes, its reads.
  void infer_access() {
    std::optional<Access> access;
    const auto add = [&](const Access& next) { access = access ? intersection(*access, next) : next; };
    for (const auto& step : steps_) {
      if (step.step.kind == Step::Kind::Create) each(step.entities, [&](const Entity& e) { add(e.create); });
      if (step.step.kind == Step::Kind::Update) each(named(step.step.as), [&](const Entity& e) { add(e.update); });
      if (step.step.kind == Step::Kind::Delete) each(named(step.step.as), [&](const Entity& e) { add(e.remove); });
    }
    if (!access) {
      for (const auto& step : steps_) each(step.entities, [&](const Entity& e) { add(e.read); });
    }
    if (access) action_.access = *access;
  }

 private:
  template <typename Visit>
  void each(const std::vector<Text>& entities, const Visit& visit) const {
    for (const auto& name : entities) {
      if (const Entity* entity = resolver_.model.find_entity(name.text)) visit(*entity);
    }
  }

  // The entities that a name of an earlier step can stand for.
  std::vector<Text> named(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? std::vector<Text>() : found->second->entities;
  }

  const StepSyntax* need_name(const Text& name) {
    const auto found = names_.find(name.text);
    if (found != names_.end()) return found->second;
    std::vector<std::string_view> known;
    for (const auto& [as, step] : names_) known.push_back(as);
    report_.unknown(name.position, "unknown-step",
                    fmt::format("no step before has read or created anything as {}", name.text), name.text, known);
    return nullptr;
  }

  void resolve_step(const StepSyntax& written, Step& step) {
    for (const auto& name : written.entities) {
      if (const Entity* entity = resolver_.need_entity(name)) step.entities.push_back(entity);
    }
    const bool changes = step.kind == Step::Kind::Update || step.kind == Step::Kind::Delete;
    if (changes && written.as) need_name(*written.as);
    // What an update sets may speak of the attributes of what it updates by their names alone.
    const std::vector<Text> own = step.kind == Step::Kind::Update ? named(step.as) : std::vector<Text>();
    for (const auto& condition : written.conditions) check_expression(condition, {});
    for (const auto& assignment : written.key) check_expression(assignment.value, {});
    for (const auto& assignment : written.set) check_expression(assignment.value, own);
    if (step.kind == Step::Kind::Read) each(written.entities, [&](const Entity& e) { check_key(written, e); });
    if (step.kind == Step::Kind::Create) {
      each(written.entities, [&](const Entity& e) {
        if (written.appends && !e.append_only) refuse_append(written, e);
        check_set(written, e);
      });
    }
    if (step.kind == Step::Kind::Update) {
      each(own, [&](const Entity& e) {
        if (e.append_only) refuse_append_only(written, e);
        check_set(written, e);
      });
    }
    if (step.kind == Step::Kind::Delete) {
      each(named(step.as), [&](const Entity& e) {
        if (e.append_only) refuse_append_only(written, e);
      });
    }
    if (!changes && written.as && !names_.emplace(step.as, &written).second)
      report_.error(written.as->position, "repeated-word", fmt::format("a step before is called {} already", step.as));
  }

  void refuse_append(const StepSyntax& written, const Entity& entity) {
    report_.error(written.entities.front().position, "append-only",
                  fmt::format("{} is not append_only, so nothing is appended: write create", entity.name));
  }

  void refuse_append_only(const StepSyntax& written, const Entity& entity) {
    report_.error(written.as->position, "append-only",
                  fmt::format("{} is append_only: its rows are created and never changed", entity.name));
  }

  void check_expression(const Written<Expression>& expression, const std::vector<Text>& own) {
    visit_names(expression, [&](const Expression::Node& node, Position position) {
      if (node.op == Expression::Node::Op::Path) return check_path(node, position, own);
      if (node.name != "me" && node.name != "now") need_input(node.name, position, false);
    });
  }

  // The first name of a path is a step's, or an attribute of what is updated.
  void check_path(const Expression::Node& path, Position position, const std::vector<Text>& own) {
    if (names_.count(path.name) == 0) {
      if (!own.empty()) return check_attribute(path.name, path.steps, position, own);
      std::vector<std::string_view> known;
      for (const auto& [as, step] : names_) known.push_back(as);
      report_.unknown(position, "unknown-step",
                      fmt::format("no step before has read or created anything as {}; an input is written :{}",
                                  path.name, path.name),
                      path.name, known);
      return;
    }
    if (path.steps.empty()) return;
    const auto* attribute = std::get_if<std::string>(&path.steps.front());
    if (attribute == nullptr) {
      report_.error(position, "wrong-type", fmt::format("{} is an entity, not a list", path.name));
    } else {
      check_attribute(*attribute, {path.steps.begin() + 1, path.steps.end()}, position, named(path.name));
    }
  }

  // Of entities of which one was read, at least one has the attribute.
  void check_attribute(const std::string& name, const std::vector<PathStep>& steps, Position position,
                       const std::vector<Text>& entities) {
    if (name == resolver_.model.table.version_attribute) return;
    const Entity* first = nullptr;
    const Entity* having = nullptr;
    each(entities, [&](const Entity& entity) {
      if (first == nullptr) first = &entity;
      if (having == nullptr && entity.find_attribute(name) != nullptr) having = &entity;
    });
    const Entity* entity = having != nullptr ? having : first;
    if (entity != nullptr) resolver_.need_path(*entity, name, steps, position);
  }

  // An input that the file does not list is the attribute of that name of an entity in the steps.
  void need_input(const std::string& name, Position position, bool is_in_path) {
    used_.insert(name);
    const auto known = std::find_if(action_.inputs.begin(), action_.inputs.end(),
                                    [&](const Attribute& input) { return input.name == name; });
    if (known != action_.inputs.end()) {
      known->required = known->required || is_in_path;
      return;
    }
    const Attribute* attribute = nullptr;
    std::vector<std::string_view> names;
    for (const auto& step : steps_) {
      each(step.entities, [&](const Entity& entity) {
        if (attribute == nullptr) attribute = entity.find_attribute(name);
        for (const auto& candidate : entity.attributes) names.push_back(candidate.name);
      });
    }
    if (attribute == nullptr) {
      report_.unknown(position, "unknown-input",
                      fmt::format("nothing says what {} is: no entity in the steps has such an attribute, and `input` "
                                  "does not list it",
                                  name),
                      name, names);
      return;
    }
    Attribute input;
    input.name = name;
    input.description = attribute->description;
    input.type = attribute->type;
    input.required = is_in_path || attribute->required;
    input.position = position;
    action_.inputs.push_back(std::move(input));
  }

  void check_key(const StepSyntax& written, const Entity& entity) {
    const auto identity = entity.identity(resolver_.model.table);
    for (const auto& assignment : written.key) {
      if (std::find(identity.begin(), identity.end(), assignment.attribute.text) != identity.end()) continue;
      const std::vector<std::string_view> known(identity.begin(), identity.end());
      report_.unknown(assignment.attribute.position, "unknown-key",
                      fmt::format("{} is not in the key of {}, which is made from {}", assignment.attribute.text,
                                  entity.name, spelled_out(known)),
                      assignment.attribute.text, known);
    }
  }

  void check_set(const StepSyntax& written, const Entity& entity) {
    for (const auto& assignment : written.set) {
      const Attribute* attribute = resolver_.need_attribute(entity, assignment.attribute);
      if (attribute == nullptr) continue;
      const bool counted = attribute->count || attribute->sum || attribute->last;
      if (attribute->derived || counted || attribute->copy_of || attribute->is_numbered())
        report_.error(assignment.attribute.position, "computed-attribute",
                      fmt::format("{}.{} is {}; no step sets it", entity.name, attribute->name,
                                  attribute->derived         ? "derived"
                                  : attribute->copy_of       ? "a copy"
                                  : attribute->is_numbered() ? "a number that its parent gives"
                                                             : "counted"));
      else
        check_literals(entity, *attribute, assignment.value.value.root(), assignment.value.source);
    }
  }

  // A literal that is set, whatever decides that it is, has to be a value of the attribute.
  void check_literals(const Entity& entity, const Attribute& attribute, const Expression::Node& node,
                      const Text& source) {
    if (node.op == Expression::Node::Op::Literal && node.value) {
      auto content = *node.value;
      std::vector<ValueProblem> problems;
      check_value(attribute.type, attribute.name, content, problems);
      for (const auto& problem : problems)
        report_.error(source.at(node.column - 1), "bad-value",
                      fmt::format("{}.{} {}", entity.name, problem.attribute, problem.problem));
    }
    if (node.op != Expression::Node::Op::Call) return;
    const bool is_if = node.function == Function::If;
    if (!is_if && node.function != Function::IfNotExists && node.function != Function::Coalesce) return;
    for (std::size_t i = is_if ? 1 : 0; i < node.operands.size(); ++i)
      check_literals(entity, attribute, node.operands[i], source);
  }

  Action& action_;
  const std::vector<StepSyntax>& steps_;
  Resolver& resolver_;
  Report& report_;
  std::map<std::string, const StepSyntax*, std::less<>> names_;
  std::set<std::string, std::less<>> used_;
};

// Names in the route that `input` does not list are attributes of `within`.
void resolve_native(const ActionSyntax& syntax, Action& action, Resolver& resolver) {
  const auto& route = syntax.route;
  const Entity* entity = syntax.within ? resolver.model.find_entity(syntax.within->text) : nullptr;
  for (const auto& name : route ? route->parameters : std::vector<std::string>()) {
    const auto known = std::find_if(action.inputs.begin(), action.inputs.end(),
                                    [&](const Attribute& input) { return input.name == name; });
    if (known != action.inputs.end()) {
      known->required = true;
      continue;
    }
    const auto place = place_in_template(route->text, name);
    const Attribute* attribute = entity == nullptr ? nullptr : entity->find_attribute(name);
    if (attribute == nullptr) {
      resolver.report.error(place, "unknown-input",
                            fmt::format("nothing says what {} is: `input` does not list it, and it is no attribute of "
                                        "what the action is `within`",
                                        name));
      continue;
    }
    Attribute input;
    input.name = name;
    input.description = attribute->description;
    input.type = attribute->type;
    input.required = true;
    input.position = place;
    action.inputs.push_back(std::move(input));
  }
  if (syntax.has_access) return;
  if (entity == nullptr) {
    action.access.signed_in = true;
  } else {
    action.access = action.method == "GET" ? entity->read : entity->update;
  }
}

}  // namespace

void resolve_action(const ActionSyntax& syntax, Action& action, Resolver& resolver) {
  action.own_access = syntax.has_access;
  if (action.native) {
    resolve_native(syntax, action, resolver);
  } else {
    ActionResolver steps(syntax, action, resolver);
    steps.resolve(syntax.route, syntax.result);
    if (!syntax.has_access) steps.infer_access();
  }
  if (syntax.within) action.within = resolve_within(*syntax.within, action.inputs, resolver);
}

}  // namespace stator::model
