#include "stator/runtime/missing.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/model/body_shape.h"
#include "stator/model/report.h"

namespace stator::runtime {
namespace {

using model::Entity;
using model::Model;

constexpr std::string_view kNoSuchParent = "NoSuchParent";

// "POST /profile": the request with which callers create their own; empty when there is none.
std::string how_to_create(const Model& model, const Entity& entity) {
  if (!entity.create.owner && !entity.create.signed_in && !entity.create.anyone) return {};
  for (const auto& route : entity.routes()) {
    if (route.operation == "create" || route.operation == "put") return fmt::format("{} {}", route.method, route.path);
  }
  for (const auto& action : model.actions) {
    if (action.creates(entity)) return fmt::format("{} {}", action.method, action.path);
  }
  return {};
}

// The word for an entity whose path has no name at its end: /books/{bookId}/cover is a cover.  "me" is no such word.
std::string noun_in(std::string_view path, const Entity& entity) {
  constexpr std::size_t kShortestWord = 3;
  const auto word = path.substr(path.rfind('/') + 1);
  const bool is_word = word.size() >= kShortestWord && word.find_first_of("{?") == std::string_view::npos;
  return is_word ? std::string(word) : entity.name;
}

// Somebody lacks an entity that each caller has one of.
std::string own_one_missing(const Model& model, const Entity& entity, std::string_view path) {
  const auto noun = noun_in(path, entity);
  if (entity.soft_delete) return fmt::format("you have no {}", noun);  // it may be there, and deleted
  const auto how = how_to_create(model, entity);
  if (how.empty()) return fmt::format("you have no {} yet", noun);
  return fmt::format("you have no {} yet: create it with {}", noun, how);
}

// How a request asks for an entity.
enum class AskedFor : std::uint8_t {
  ByName,  // /books/{bookId}
  Own,     // /profile: there is one for each caller
  Here,    // /books/{bookId}/cover: there is one at this place
};

AskedFor asked_for(const Entity& entity, std::string_view path) {
  if (path.empty() || path.ends_with('}')) return AskedFor::ByName;
  const bool own = entity.owner && path.find('{') == std::string_view::npos;
  return own ? AskedFor::Own : AskedFor::Here;
}

}  // namespace

Problem no_such(const std::vector<const Entity*>& entities) {
  std::vector<std::string> names;
  for (const auto* entity : entities) names.push_back(entity->name);
  return not_found(model::spelled_out(names, "or"));
}

Problem no_such_at(const Model& model, const Entity& entity, std::string_view path) {
  auto problem = not_found(entity.name);
  switch (asked_for(entity, path)) {
    case AskedFor::ByName: break;
    case AskedFor::Own: problem.message = own_one_missing(model, entity, path); break;
    case AskedFor::Here: problem.message = fmt::format("there is no {} here", noun_in(path, entity)); break;
  }
  return problem;
}

Problem no_such(const Model& model, const Entity& entity) { return no_such_at(model, entity, entity.path); }

Problem no_own(const Model& model, const Entity& entity) {
  auto problem = not_found(entity.name);
  const bool one_each = asked_for(entity, entity.path) == AskedFor::Own;
  problem.message = own_one_missing(model, entity, one_each ? entity.path : std::string_view());
  return problem;
}

std::vector<GivenName> names_in_route(const Entity& entity, std::string_view path, const std::string& attribute) {
  if (model::has_parameter(path, attribute)) return {{attribute, NamedIn::Address}};
  const auto* declared = entity.find_attribute(attribute);
  if (declared == nullptr || entity.owner == attribute) return {{attribute, NamedIn::Elsewhere}};
  std::vector<GivenName> names;
  const auto add = [&](const std::string& source) {
    for (auto& name : names_in_route(entity, path, source)) names.push_back(std::move(name));
  };
  if (declared->derived) {
    for (const auto& source : declared->derived->paths()) add(source);
  } else if (declared->copy_of) {
    for (const auto& [theirs, ours] : declared->copy_of->through->by) add(ours);
  } else {
    names.push_back({attribute, declared->computed() ? NamedIn::Elsewhere : NamedIn::Body});
  }
  return names;
}

Problem missing_parent(const Model& model, const Entity& child, const RelationRules& rules, const Naming& naming) {
  const auto& parent = *rules.parent;
  const auto& by = rules.relation->by;
  const auto is_owner = [&](const auto& pair) { return child.owner == pair.second; };
  // Where nobody creates for others, the owner is the caller.
  if (std::all_of(by.begin(), by.end(), is_owner) && child.create.grants.empty()) {
    auto problem = no_own(model, parent);
    if (!child.path.empty()) return problem;
    problem.kind = ProblemKind::Conflict;
    problem.code = kNoSuchParent;
    return problem;
  }
  std::vector<GivenName> names;
  for (const auto& pair : by) {
    for (auto& name : naming(child, pair.second)) names.push_back(std::move(name));
  }
  const auto any = [&](NamedIn origin) {
    return std::any_of(names.begin(), names.end(), [&](const GivenName& name) { return name.named_in == origin; });
  };
  const auto origin = any(NamedIn::Body)      ? NamedIn::Body
                      : any(NamedIn::Address) ? NamedIn::Address
                                              : NamedIn::Elsewhere;
  std::vector<model::ValueProblem> details;
  for (auto& [name, from] : names) {
    const bool told = std::any_of(details.begin(), details.end(),
                                  [&](const model::ValueProblem& detail) { return detail.attribute == name; });
    if (from == origin && name != child.owner && !told) details.push_back({name, "names no " + parent.name});
  }
  auto problem = not_found(parent.name);
  problem.details = std::move(details);
  if (origin == NamedIn::Address) return problem;
  problem.kind = origin == NamedIn::Body ? ProblemKind::Invalid : ProblemKind::Conflict;
  problem.code = kNoSuchParent;
  return problem;
}

}  // namespace stator::runtime
