#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/model/model.h"
#include "stator/model/report.h"
#include "stator/model/syntax/syntax.h"

// What the passes of resolve() share.
namespace stator::model {

// A model in which every name is declared, and look-ups that report a name which is not there.
struct Resolver {
  Model& model;
  Report& report;

  const Entity* need_entity(const Text& name);
  const Attribute* need_attribute(const Entity& entity, const Text& name);
  // What is inside an attribute: address.city, authors[0].
  void need_path(const Entity& entity, const std::string& attribute, const std::vector<PathStep>& steps,
                 Position position);
  void need_attributes(const Entity& entity, const Written<Template>& text);
  // For an expression over one entity's own attributes, which has no inputs and, since it is computed again and again,
  // generates nothing.
  void need_attributes(const Entity& entity, const Written<Expression>& expression);

  // Reports what is not stored; `user` ("a key") would look at it again in what is.
  void need_stored(const Entity& entity, const Text& name, std::string_view user);
  void need_stored(const Entity& entity, const Written<Expression>& expression, std::string_view user);
};

// Whether rows hold the attribute.
inline bool is_stored(const Attribute& attribute) { return !attribute.transient && !attribute.when_read; }

// Whether `names` give an attribute that names an entity: it is among them, or all that it is derived from; or it is
// the owner, who is the caller.
bool gives(const std::vector<std::string_view>& names, const Entity& entity, std::string_view attribute);

// Who may do both.
Access intersection(const Access& a, const Access& b);

// The passes, in their order.  Each takes a part of the file and what it has become in the model.
void resolve_parents(const EntitySyntax& syntax, Entity& entity, Resolver& resolver);
void resolve_copies(const EntitySyntax& syntax, Entity& entity, Resolver& resolver);
void resolve_numbers(const EntitySyntax& syntax, Entity& entity, Resolver& resolver);
// Gives copies the types of their sources, once all copies are resolved.
void complete_copies(const EntitySyntax& syntax, Entity& entity, Resolver& resolver);
void resolve_entity(const EntitySyntax& syntax, Entity& entity, Resolver& resolver);
void resolve_grant(const GrantSyntax& syntax, Grant& grant, Resolver& resolver);
void resolve_granted(const std::vector<Text>& grants, Resolver& resolver);
void resolve_pattern(const PatternSyntax& syntax, Pattern& pattern, Resolver& resolver);
void resolve_action(const ActionSyntax& syntax, Action& action, Resolver& resolver);
// The entity that a construct works `within`; reports one that the parameters do not name.
const Entity* resolve_within(const Text& entity, const std::vector<Attribute>& parameters, Resolver& resolver);
// Lets bounds of patterns that end where a key goes on stand for all keys that begin with them.
void complete_bounds(Model& model);

}  // namespace stator::model
