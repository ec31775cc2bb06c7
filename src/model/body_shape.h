#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stator/model/model.h"

// The attributes of an entity in requests and answers.
namespace stator::model {

// Whether a path has this parameter: /books/{bookId} has bookId.
bool has_parameter(std::string_view path, std::string_view name);

enum class BodyOf : std::uint8_t { Create, Put, Update };

// An attribute that the body of a request can have.
struct BodyMember {
  const Attribute* attribute = nullptr;
  bool required = false;
  bool nullable = false;  // null clears it, or gives it its default again
  bool owner = false;
};

// The members of the body of a request for an entity, in the order of the model.  The names in the path are not among
// them.  In a create and in a put, the owner is the last member and may be left out: then it is the caller.  A caller
// with a grant can give the owner that granted the right to create.
std::vector<BodyMember> body_members(const Model& model, const Entity& entity, BodyOf of);

// Whether every answer that has the whole entity has the attribute.
bool is_always_served(const Model& model, const Entity& entity, const Attribute& attribute);

// Whether an answer can have the attribute.
inline bool is_served(const Attribute& attribute) { return !attribute.hidden && !attribute.transient; }

}  // namespace stator::model
