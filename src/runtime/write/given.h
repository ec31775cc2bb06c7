#pragma once

#include <cstdint>
#include <vector>

#include "stator/model/model.h"
#include "stator/model/validate.h"
#include "stator/value/attribute_value.h"

// Checks of the values that a request or a step gives for an entity.
namespace stator::runtime {

// Where values come from.  A request cannot set internal and generated attributes; steps of the model's actions can.
// Neither can set attributes that are derived, counted, copied or numbered by a parent.
enum class ValueSource : std::uint8_t { Request, Model };

// For a new entity: brings values into their one spelling, and returns a problem for each value that is wrong or cannot
// be set.  check_complete() reports missing values, after defaults are filled in.
std::vector<model::ValueProblem> check_new(const model::Entity& entity, value::Item& attributes, ValueSource source);

// Whether a value in the path of a request is compared with the attribute and not set: the attribute is computed, such
// as a copy of a parent's attribute.
bool is_only_compared(const model::Entity& entity, const model::Attribute& attribute);

// Like check_new(), for an entity that exists: its key, its owner and immutable attributes cannot change.
std::vector<model::ValueProblem> check_changes(const model::Entity& entity, model::PlainObject& changes,
                                               ValueSource source);

// Reports required attributes that are missing and that a caller must give.  An attribute with a default or a `next` is
// filled in.
void check_complete(const model::Entity& entity, const value::Item& attributes,
                    std::vector<model::ValueProblem>& problems);

// Reports checks of the entity that are false, and derived values that do not fit their type, because keys and patterns
// rely on the type.  Looks only at attributes that differ from `before`; null: at all.  After a step of an action, the
// checks wait for the end of the action.
void check_whole(const model::Entity& entity, const value::Item* before, const value::Item& after, ValueSource source,
                 std::vector<model::ValueProblem>& problems);

// For derived attributes that cannot be computed, such as a product with too many digits: a problem for each given
// attribute that they are derived from.
std::vector<model::ValueProblem> explain_underivable(const model::Entity& entity, const value::Item* before,
                                                     const value::Item& after);

// The checks that are false at the end of an action, among those that read an attribute or a counter which the action
// has changed.  `before` is null: the entity is new.  If a check was false before the action and only counters changed,
// a change that brings the counter nearer to a true check is accepted.
struct Objections {
  std::vector<model::ValueProblem> problems;
  bool counted = false;  // children have come, gone or changed
};
Objections check_end(const model::Entity& entity, const value::Item* before, const value::Item& after);

// Parameters of a pattern, inputs of an action: known, of their type, required ones there, defaults filled in.
std::vector<model::ValueProblem> check_inputs(const std::vector<model::Attribute>& declared, value::Item& inputs);

}  // namespace stator::runtime
