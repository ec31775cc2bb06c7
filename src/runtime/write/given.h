#pragma once

#include <cstdint>
#include <vector>

#include "stator/model/model.h"
#include "stator/model/validate.h"
#include "stator/value/attribute_value.h"

// What somebody gave for an entity, checked against its attributes.
namespace stator::runtime {

// Whose values they are.  A request may set what the model leaves to requests; the model's own steps set internal and
// generated attributes, too.  Nobody sets what is derived, counted, copied or numbered by a parent.
enum class Source : std::uint8_t { Request, Model };

// For a new entity: brings values into their one spelling, and tells all that cannot be set or is wrong.  What is
// missing is check_complete's question, once defaults are in.
std::vector<model::ValueProblem> check_new(const model::Entity& entity, value::Item& attributes, Source source);

// What the path of a request says of attributes that follow from others, such as a copy of the parent's.  It is
// compared with what they become, not set.
bool is_only_compared(const model::Entity& entity, const model::Attribute& attribute);

// For an entity that is there: the same, and nothing that names it, owns it or is immutable can change.
std::vector<model::ValueProblem> check_changes(const model::Entity& entity, model::PlainObject& changes, Source source);

// Required attributes that are not there, as far as somebody has to give them: what has a default or a `next` is
// filled.
void check_complete(const model::Entity& entity, const value::Item& attributes,
                    std::vector<model::ValueProblem>& problems);

// What the entity's own checks object to, and derived values that are not of their type: keys and patterns rely on it.
// Both are asked about what differs from `before`; null: about everything.  Of a model's change, checks are asked at
// the end of the action.
void check_whole(const model::Entity& entity, const value::Item* before, const value::Item& after, Source source,
                 std::vector<model::ValueProblem>& problems);

// What cannot be derived, told of what it is derived from and was given: a product of too many digits, for one.
std::vector<model::ValueProblem> explain_underivable(const model::Entity& entity, const value::Item* before,
                                                     const value::Item& after);

// What checks have against an entity at the end of an action that changed something they read, if only a counter.
// `before` is null: it is new.  If a check was false before the action and only counters changed, a change that brings
// the counter nearer to a true check is accepted.
struct Objections {
  std::vector<model::ValueProblem> problems;
  bool counted = false;  // children have come, gone or changed
};
Objections check_end(const model::Entity& entity, const value::Item* before, const value::Item& after);

// Parameters of a pattern, inputs of an action: known, of their type, required ones there, defaults filled in.
std::vector<model::ValueProblem> check_inputs(const std::vector<model::Attribute>& declared, value::Item& inputs);

}  // namespace stator::runtime
