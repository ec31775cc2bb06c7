#include <fmt/format.h>

#include <algorithm>

#include "stator/model/check/checked_pattern.h"
#include "stator/model/check/rules.h"

namespace stator::model {
namespace {

// -------------------------------------------------------------------------------------------------------------- grants

std::vector<std::string> parameter_names(const std::vector<Attribute>& attributes) {
  std::vector<std::string> names;
  for (const auto& attribute : attributes) names.push_back(attribute.name);
  return names;
}

// The attributes that find the pointer of a grant and that a request does not give; empty: it gives all.
std::vector<std::string> not_given(const Grant& grant, const std::vector<std::string>& given) {
  std::vector<std::string> missing;
  for (const auto& [pointers, asked] : grant.key) {
    if (asked != "me" && !contains(given, asked)) missing.push_back(asked);
  }
  return missing;
}

// Why a grant never lets anybody in at `entity`, which a request with these parameters names; empty: it can.
std::string why_unusable(const Grant& grant, const Entity& entity, const std::vector<std::string>& given) {
  if (const auto missing = not_given(grant, given); !missing.empty())
    return fmt::format("its pointer is looked up by {}, which the request does not give", listed(missing));
  std::vector<std::string> lacking;
  for (const auto& [pointers, asked] : grant.key) {
    if (asked != "me" && entity.find_attribute(asked) == nullptr) lacking.push_back(asked);
  }
  for (const auto& [ours, pointers] : grant.gives) {
    if (entity.find_attribute(ours) == nullptr) lacking.push_back(ours);
  }
  if (lacking.empty()) return {};
  return fmt::format("it is about rows with {}, and {} has no such attribute", listed(lacking), entity.name);
}

// The same for a pattern: about what it is within, or about what it returns.
std::string why_unusable(const Grant& grant, const Pattern& pattern) {
  const auto given = parameter_names(pattern.parameters);
  if (pattern.within != nullptr) return why_unusable(grant, *pattern.within, given);
  const auto missing = not_given(grant, given);
  if (missing.empty()) return {};
  return fmt::format("its pointer is looked up by {}, which is no parameter", listed(missing));
}

std::string why_unusable(const Grant& grant, const Action& action) {
  if (action.within == nullptr) return "a grant is about one entity, and the action is `within` none";
  return why_unusable(grant, *action.within, parameter_names(action.inputs));
}

void report_unusable(const Report::About& about, const std::string& grant, const std::string& why, Report& findings) {
  if (why.empty()) return;
  findings.error(about, fmt::format("the grant {} lets no caller in: {}", grant, why),
                 fmt::format("put the attributes that find the pointer of {0} into the route, and name the entity with "
                             "`within`; or remove {0}",
                             grant));
}

// Access that is written; what follows from entities includes grants that are for other routes.
void find_unusable_grants(const Model& model, Report& findings) {
  const auto look_at = [&](const auto& part) {
    if (!part.own_access) return;
    const Report::About about{.code = "unusable-grant", .subject = part.name, .position = part.access.position};
    for (const auto* grant : part.access.grants)
      report_unusable(about, grant->name, why_unusable(*grant, part), findings);
  };
  for (const auto& pattern : model.patterns) {
    if (!pattern.path.empty()) look_at(pattern);
  }
  for (const auto& action : model.actions) look_at(action);
}

// --------------------------------------------------------------------------------------------------- rows that are
// seen

// Whether the partition is that of the caller, or of what the pattern is within (see may_see() in the runtime).
bool is_keyed_by_owner(const Pattern& pattern, const Entity& entity) {
  return std::any_of(pattern.partition.begin(), pattern.partition.end(), [&](const PatternCondition& condition) {
    const auto names = condition.operands.front().attributes();
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name == "me" || (pattern.within != nullptr && (name == entity.owner || pattern.within->is_named_by(name)));
    });
  });
}

bool gives_owner(const Grant& grant, const Entity& entity) {
  return std::any_of(grant.gives.begin(), grant.gives.end(),
                     [&](const auto& pair) { return pair.first == entity.owner; });
}

bool can_be_seen(const Pattern& pattern, const Entity& entity) {
  const auto& access = pattern.access;
  if (access.anyone || access.signed_in || access.anyone_when || !access.roles.empty()) return true;
  const bool keyed = is_keyed_by_owner(pattern, entity);
  if (access.owner && (entity.owner || keyed)) return true;
  return std::any_of(access.grants.begin(), access.grants.end(), [&](const Grant* grant) {
    return why_unusable(*grant, pattern).empty() && (entity.owner ? gives_owner(*grant, entity) : keyed);
  });
}

void find_unseen_rows(const Pattern& pattern, Report& findings) {
  if (pattern.path.empty()) return;
  for (const auto& row : returned_rows(pattern)) {
    if (can_be_seen(pattern, *row.entity)) continue;
    const bool own = std::any_of(
        pattern.partition.begin(), pattern.partition.end(),
        [](const PatternCondition& condition) { return contains(condition.operands.front().attributes(), "me"); });
    findings.error({.code = "unseen-rows", .subject = pattern.name, .position = pattern.position},
                   fmt::format("its answer is always empty, because no caller may see a {}: its access admits only "
                               "owners and grants, and neither applies to these rows",
                               row.name()),
                   own ? "write `access: signed-in`: its key has {me}, so callers get only the rows with their own name"
                       : "give it its own `access`, or parameters that find the pointers of its grants");
  }
}

// -------------------------------------------------------------------------------------------------------------- owners

// Whether that attribute alone names an entity among those of its owner.
bool is_name(const Entity& entity, const std::string& attribute) {
  auto names = entity.identity;
  if (attribute != entity.owner) std::erase_if(names, [&](const std::string& name) { return name == entity.owner; });
  return names == std::vector{attribute};
}

// The entity, no user, that is named by this attribute of another; null when there is none.
const Entity* named_by(const Model& model, const Entity& holder, const std::string& attribute, unsigned depth = 0) {
  if (depth == kMostGenerations) return nullptr;
  for (const auto& relation : holder.parents) {
    for (const auto& [theirs, ours] : relation.by) {
      if (ours != attribute) continue;
      if (relation.to->owner == theirs) return nullptr;
      if (is_name(*relation.to, theirs)) return relation.to;
      if (const auto* further = named_by(model, *relation.to, theirs, depth + 1)) return further;
    }
  }
  // Without a relation, only its name tells what the attribute refers to. An entity that another owner has is no user.
  const auto named = std::find_if(model.entities.begin(), model.entities.end(), [&](const Entity& entity) {
    return &entity != &holder && entity.owner && entity.owner != attribute && is_name(entity, attribute);
  });
  return named == model.entities.end() ? nullptr : &*named;
}

// The owner is compared with the subject of a token, which is chosen elsewhere and can be any name.
void find_foreign_owners(const Model& model, const Entity& entity, Report& findings) {
  const auto* attribute = entity.owner_attribute;
  const auto* holder = &entity;
  while (attribute != nullptr && attribute->copy_of) {
    holder = attribute->copy_of->through->to;
    attribute = attribute->copy_of->from;
    if (attribute->name == holder->owner) return;  // that is looked at there
  }
  if (attribute == nullptr) return;
  const bool is_its_name = holder != &entity && is_name(*holder, attribute->name);
  const auto* named = is_its_name ? holder : named_by(model, *holder, attribute->name);
  if (named == nullptr) return;
  findings.error({.code = "owner-not-user", .subject = entity.name, .position = entity.position},
                 fmt::format("its owner, {}, is the name of a {}: any caller with that name as its subject owns it",
                             *entity.owner, named->name),
                 fmt::format("let the owner hold the subject of a user; if a {0} is a user, write `owner: {1}` in {0}",
                             named->name, named->identity.back()));
}

// ------------------------------------------------------------------------------------------------ creating and
// deleting

bool lets_anyone(const Access& access) {
  return access.anyone || access.signed_in || access.owner || access.anyone_when || !access.roles.empty() ||
         !access.grants.empty();
}

bool has_native(const Model& model) {
  return std::any_of(model.actions.begin(), model.actions.end(), [](const Action& action) { return action.native; });
}

bool creates_by_route(const Entity& entity) { return entity.has_operation("create") || entity.has_operation("put"); }

// A model without routes that create is only about the table; other programs fill it.
void find_never_created(const Model& model, Report& findings) {
  const auto& entities = model.entities;
  const bool offers = !model.actions.empty() || std::any_of(entities.begin(), entities.end(), creates_by_route);
  if (!offers || has_native(model)) return;
  for (const auto& entity : entities) {
    if (creates_by_route(entity) && lets_anyone(entity.create)) continue;
    const bool by_action = std::any_of(model.actions.begin(), model.actions.end(),
                                       [&](const Action& action) { return action.creates(entity); });
    if (by_action) continue;
    findings.warning(
        {.code = "never-created", .subject = entity.name, .position = entity.position},
        fmt::format("nothing creates a {}: {}, and no action does", entity.name,
                    creates_by_route(entity) ? "its access lets nobody create one" : "it has no route that does"),
        "give it a path, with `create` among its operations and in its access, or an action that creates it");
  }
}

bool deletes(const Action& action, const Entity& entity) {
  return std::any_of(action.steps.begin(), action.steps.end(), [&](const Step& step) {
    return step.kind == Step::Kind::Delete &&
           std::find(step.entities.begin(), step.entities.end(), &entity) != step.entities.end();
  });
}

// Whether callers who may delete it still may do so when it is deleted: a pointer that is deleted itself gives nothing.
bool lets_back(const Entity& entity) {
  auto access = entity.remove;
  std::erase_if(access.grants, [&](const Grant* grant) { return grant->pointer == &entity; });
  return lets_anyone(access);
}

void find_one_way_deletions(const Model& model, const Entity& entity, Report& findings) {
  const auto& rule = entity.soft_delete;
  if (!rule || rule->keep || has_native(model)) return;
  const bool by_route = entity.has_operation("delete") && lets_anyone(entity.remove);
  const bool by_action = std::any_of(model.actions.begin(), model.actions.end(),
                                     [&](const Action& action) { return deletes(action, entity); });
  if (!by_route && !by_action) return;
  const bool has_way_back = entity.has_operation("restore") || entity.has_operation("purge");
  if (has_way_back && lets_back(entity)) return;
  findings.warning({.code = "one-way-deletion", .subject = entity.name, .position = rule->position},
                   has_way_back ? fmt::format("a {} can be deleted, and then no caller may restore or purge it: its "
                                              "`delete` access lets no caller in after the deletion",
                                              entity.name)
                                : fmt::format("a {} can be deleted, and stays for ever: no route restores or purges it",
                                              entity.name),
                   has_way_back ? "add the callers who may restore and purge it to the access for `delete`"
                                : "add `restore` or `purge` to its operations, or say with `keep` when it is removed");
}

}  // namespace

void check_access(const Model& model, Report& findings) {
  find_unusable_grants(model, findings);
  for (const auto& pattern : model.patterns) find_unseen_rows(pattern, findings);
  for (const auto& entity : model.entities) {
    find_foreign_owners(model, entity, findings);
    find_one_way_deletions(model, entity, findings);
  }
  find_never_created(model, findings);
}

}  // namespace stator::model
