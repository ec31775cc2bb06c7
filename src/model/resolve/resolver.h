#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/model/model.h"
#include "stator/model/report.h"
#include "stator/model/syntax/syntax.h"

// Functions that the passes of resolve() share.
namespace stator::model {

// A model in which every name is declared, and look-ups that report a name which is not there.
struct Resolver {
  Model& model;
  std::vector<PathUse>& paths;  // paths that were found are added
  Report& report;

  const Entity* need_entity(const Text& name);
  const Attribute* need_attribute(const Entity& entity, const Text& name);
  const Parent* need_parent(const Entity& entity, const Text& relation);
  std::vector<const Grant*> need_grants(const std::vector<Text>& names);
  // A path into an attribute: address.city, authors[0].
  void need_path(const Entity& entity, const std::string& attribute, const std::vector<PathStep>& steps,
                 Position position);
  void need_attributes(const Entity& entity, const Written<Template>& text);
  // For an expression over one entity's own attributes, which has no inputs.
  void need_attributes(const Entity& entity, const Written<Expression>& expression);
};

// A parameter or input that the file does not list is an attribute of an entity.
Attribute parameter_from(const Attribute& attribute, bool required, Position position);

// The access of callers whom both lists let in.
Access intersection(const Access& a, const Access& b);

// The passes, in their order.  Each takes a part of the file and its counterpart in the model.
// Sets the operations of an entity: those that it lists, or all but put; in both cases only those that it can have.
void complete_operations(const EntitySyntax& syntax, Entity& entity, Resolver& resolver);
void resolve_parents(const EntitySyntax& syntax, Entity& entity, Resolver& resolver);
// Of copies, and of numbers that parents give.
void resolve_sources(const EntitySyntax& syntax, Entity& entity, Resolver& resolver);
// Gives copies the types of their sources, once all copies are resolved.
void complete_copies(const EntitySyntax& syntax, Entity& entity, Resolver& resolver);
void resolve_entity(const EntitySyntax& syntax, Entity& entity, Resolver& resolver);
void resolve_granted(const EntitySyntax& syntax, Entity& entity, Resolver& resolver);
void resolve_grant(const GrantSyntax& syntax, Grant& grant, Resolver& resolver);
void resolve_pattern(const PatternSyntax& syntax, Pattern& pattern, Resolver& resolver);
void resolve_action(const ActionSyntax& syntax, Action& action, Resolver& resolver);
// Lets bounds of patterns that end where a key goes on stand for all keys that begin with them.
void complete_bounds(Model& model);

// The facts that model.h calls derived.  For a model without errors.
void derive_always_there(Model& model);
void derive_relations(Model& model);

}  // namespace stator::model
