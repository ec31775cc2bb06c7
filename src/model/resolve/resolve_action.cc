#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "stator/model/resolve/resolver.h"

namespace stator::model {
namespace {

Attribute* find_input(Action& action, std::string_view name) {
  const auto found = std::find_if(action.inputs.begin(), action.inputs.end(),
                                  [&](const Attribute& input) { return input.name == name; });
  return found == action.inputs.end() ? nullptr : &*found;
}

// The access rule for the effect of such a step; null: it changes nothing.
Access Entity::* access_to(Step::Kind kind) {
  switch (kind) {
    case Step::Kind::Create: return &Entity::create;
    case Step::Kind::Update: return &Entity::update;
    case Step::Kind::Delete: return &Entity::remove;
    default: return nullptr;
  }
}

// Follows an action from step to step, so that each sees the names of those before it.
class ActionResolver {
 public:
  ActionResolver(const ActionSyntax& syntax, Action& action, Resolver& resolver)
      : syntax_(syntax), action_(action), resolver_(resolver), report_(resolver.report) {}

  void resolve() {
    for (std::size_t i = 0; i < action_.steps.size(); ++i) {
      for (const auto& name : syntax_.steps[i].entities) {
        if (const Entity* entity = resolver_.need_entity(name)) action_.steps[i].entities.push_back(entity);
      }
    }
    for (std::size_t i = 0; i < action_.steps.size(); ++i) resolve_step(syntax_.steps[i], action_.steps[i]);
    if (const auto& route = syntax_.route) {
      for (const auto& name : route->parameters) need_input(name, place_in_template(route->text, name), true);
    }
    if (syntax_.result) need_name(*syntax_.result);
  }

  // Without a word of its own, an action is for those who may do each of its writes; without writes, its reads.
  void infer_access() {
    std::optional<Access> access;
    const auto add_all = [&](const auto& member_of) {
      for (const auto& step : action_.steps) {
        const auto member = member_of(step.kind);
        if (member == nullptr) continue;
        for (const Entity* entity : step.entities)
          access = access ? intersection(*access, entity->*member) : entity->*member;
      }
    };
    add_all(access_to);
    if (!access) add_all([](Step::Kind) { return &Entity::read; });
    if (access) action_.access = *access;
  }

 private:
  using Entities = std::vector<const Entity*>;

  std::vector<std::string_view> known_names() const {
    std::vector<std::string_view> known;
    for (const auto& [as, step] : names_) known.push_back(as);
    return known;
  }

  // The step before that has this name; null when there is none.
  const Step* need_name(const Text& name) {
    const auto found = names_.find(name.text);
    if (found != names_.end()) return found->second;
    report_.unknown(name.position, "unknown-step",
                    fmt::format("no step before has read or created anything as {}", name.text), name.text,
                    known_names());
    return nullptr;
  }

  void resolve_step(const StepSyntax& written, Step& step) {
    const bool changes = step.kind == Step::Kind::Update || step.kind == Step::Kind::Delete;
    const Step* changed = changes && written.as ? need_name(*written.as) : nullptr;
    if (changed != nullptr) step.entities = changed->entities;
    // In `set` of an update, a bare name is an attribute of the updated entity.
    const Entities* own = step.kind == Step::Kind::Update && changed != nullptr ? &step.entities : nullptr;
    for (const auto& condition : written.conditions) resolve_expression(condition, nullptr);
    for (const auto& assignment : written.key) resolve_expression(assignment.value, nullptr);
    for (const auto& assignment : written.set) resolve_expression(assignment.value, own);
    for (const Entity* entity : step.entities) {
      for (const auto& assignment : written.key) need_key(assignment.attribute, *entity);
      for (const auto& assignment : written.set) resolver_.need_attribute(*entity, assignment.attribute);
    }
    if (!changes && written.as) names_.emplace(step.as, &step);
  }

  void resolve_expression(const Written<Expression>& expression, const Entities* own) {
    visit_names(expression, [&](const Expression::Node& node, Position position) {
      if (node.op == Expression::Node::Op::Path) return resolve_path(node, position, own);
      if (node.name != "me" && node.name != "now") need_input(node.name, position, false);
    });
  }

  // The first name of a path is a step's, or an attribute of what is updated.
  void resolve_path(const Expression::Node& path, Position position, const Entities* own) {
    const auto step = names_.find(path.name);
    if (step == names_.end()) {
      if (own != nullptr) return need_attribute(path.name, path.steps, position, *own);
      report_.unknown(position, "unknown-step",
                      fmt::format("no step before has read or created anything as {}; an input is written :{}",
                                  path.name, path.name),
                      path.name, known_names());
      return;
    }
    if (path.steps.empty()) return;
    const auto* attribute = std::get_if<std::string>(&path.steps.front());
    if (attribute == nullptr) {
      resolver_.paths.push_back({.what = path.name, .attribute = nullptr, .steps = path.steps, .position = position});
    } else {
      need_attribute(*attribute, {path.steps.begin() + 1, path.steps.end()}, position, step->second->entities);
    }
  }

  // Of entities of which one was read, at least one has the attribute.
  void need_attribute(const std::string& name, const std::vector<PathStep>& steps, Position position,
                      const Entities& entities) {
    if (entities.empty() || name == resolver_.model.table.version_attribute) return;
    const auto having = std::find_if(entities.begin(), entities.end(),
                                     [&](const Entity* entity) { return entity->find_attribute(name) != nullptr; });
    resolver_.need_path(having != entities.end() ? **having : *entities.front(), name, steps, position);
  }

  void need_input(const std::string& name, Position position, bool is_in_path) {
    if (Attribute* known = find_input(action_, name)) {
      known->required = known->required || is_in_path;
      return;
    }
    const Attribute* attribute = nullptr;
    std::vector<std::string_view> names;
    for (const auto& step : action_.steps) {
      for (const Entity* entity : step.entities) {
        if (attribute == nullptr) attribute = entity->find_attribute(name);
        for (const auto& candidate : entity->attributes) names.push_back(candidate.name);
      }
    }
    if (attribute != nullptr) {
      action_.inputs.push_back(parameter_from(*attribute, is_in_path || attribute->required, position));
      return;
    }
    report_.unknown(position, "unknown-input",
                    fmt::format("{} is unknown: no entity in the steps has such an attribute, and `input` "
                                "does not list it",
                                name),
                    name, names);
  }

  void need_key(const Text& name, const Entity& entity) {
    if (entity.is_named_by(name.text)) return;
    const std::vector<std::string_view> known(entity.identity.begin(), entity.identity.end());
    report_.unknown(
        name.position, "unknown-key",
        fmt::format("{} is not in the key of {}, which is made from {}", name.text, entity.name, spelled_out(known)),
        name.text, known);
  }

  const ActionSyntax& syntax_;
  Action& action_;
  Resolver& resolver_;
  Report& report_;
  std::map<std::string, const Step*, std::less<>> names_;
};

// Names in the route that `input` does not list are attributes of `within`.
void resolve_native(const ActionSyntax& syntax, Action& action, Resolver& resolver) {
  const auto& route = syntax.route;
  const Entity* entity = action.within;
  for (const auto& name : route ? route->parameters : std::vector<std::string>()) {
    if (Attribute* known = find_input(action, name)) {
      known->required = true;
      continue;
    }
    const auto place = place_in_template(route->text, name);
    const Attribute* attribute = entity == nullptr ? nullptr : entity->find_attribute(name);
    if (attribute != nullptr) {
      action.inputs.push_back(parameter_from(*attribute, true, place));
      continue;
    }
    resolver.report.error(
        place, "unknown-input",
        fmt::format("{} is unknown: `input` does not list it, and it is no attribute of the entity in `within`", name));
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
  action.access.grants = resolver.need_grants(syntax.grants);
  if (syntax.within) action.within = resolver.need_entity(*syntax.within);
  if (action.native) return resolve_native(syntax, action, resolver);
  ActionResolver steps(syntax, action, resolver);
  steps.resolve();
  if (!syntax.has_access) steps.infer_access();
}

}  // namespace stator::model
