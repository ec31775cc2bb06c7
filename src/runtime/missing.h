#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/model/model.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/rules/rules.h"

// Problems about an entity that does not exist, in the words of the request.
namespace stator::runtime {

// The entity does not exist, or the caller may not see it.
Problem no_such(const model::Model& model, const model::Entity& entity);
// The same for an entity that a pattern with this path returns.
Problem no_such_at(const model::Model& model, const model::Entity& entity, std::string_view path);
// None of these entities exists.
Problem no_such(const std::vector<const model::Entity*>& entities);
// The caller has no such entity, of which each caller has one.  Tells how to create it.
Problem no_own(const model::Model& model, const model::Entity& entity);

// Where a request gives the value of an attribute.
enum class NamedIn : std::uint8_t {
  Address,    // in its path
  Body,       // in its body, or in its query string
  Elsewhere,  // it follows from the caller, or from other rows
};
struct GivenName {
  std::string name;  // that the request has for it
  NamedIn named_in = NamedIn::Elsewhere;
};
// By which names a request gives an attribute of an entity.  A derived attribute can come from several.
using Naming = std::function<std::vector<GivenName>(const model::Entity& entity, const std::string& attribute)>;

// The names of attributes in a request, if its address has the parameters of `path`.
std::vector<GivenName> names_in_route(const model::Entity& entity, std::string_view path, const std::string& attribute);

// A parent of `child` does not exist, or is hidden from the caller.  NotFound when the address of the request names it;
// Invalid when the body does; Conflict when neither does.
Problem missing_parent(const model::Model& model, const model::Entity& child, const RelationRules& rules,
                       const Naming& naming);

}  // namespace stator::runtime
