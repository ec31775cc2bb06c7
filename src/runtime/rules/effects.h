#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stator/model/model.h"
#include "stator/model/rows.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/rules/limits.h"
#include "stator/runtime/rules/rules.h"
#include "stator/value/attribute_value.h"

// The effects of a change of one entity by a model's rules, as plain data.  Pure: no table, no time, no randomness.
//
//   derive_attributes, copy_attributes, clear_attributes   the attributes of the entity itself
//   effects_of                                             its rows, and the attributes that these were computed from
//   effects_on_parents                                     the parents that have to exist, and their counters
//
// A request (Transaction) and the Reconciler read rows, compute the effects here, and write them.  A request applies
// the effects on parents at once, so that its next step sees them, and the effects on rows when it commits.
namespace stator::runtime {

// ----------------------------------------------------------------------------------------- the entity's own attributes

// Computes the derived attributes of `after`.  `before`: the entity before the change; null: it is new.  A derived
// attribute with a transient input keeps its value from before unless the input is given.
Result<void> derive_attributes(const model::Entity& entity, const value::Item* before, value::Item& after);

// Gives the child the copies that its parent has for it.  A null parent: the child has no copies.
void copy_attributes(const RelationRules& rules, const value::Item* parent, value::Item& child);

// Removes the attributes that `on_delete: clear` names from the child; attributes with a default get their default.
// Returns whether anything changed.
bool clear_attributes(const model::Parent& relation, value::Item& attributes);

// --------------------------------------------------------------------------------------------------- the entity's rows

inline constexpr std::string_view kReservationOwner = "Of";  // the attribute of a reservation with its owner's key

// How one attribute of a row changes.  Null: it is absent.  Refers to the two rows.
struct AttributeChange {
  std::string name;
  const value::AttributeValue* from = nullptr;
  const value::AttributeValue* to = nullptr;

  // How much a counter changes: it is added to rather than set, because others count at the same time.  Nullopt: it is
  // set.
  std::optional<value::Number> addition(const model::Entity& entity) const;
};
// The attributes that differ, by name.
std::vector<AttributeChange> differences(const value::Item& from, const value::Item& to);

// A row that the entity has before a change or after it, or both.
struct RowEffect {
  enum class Action : std::uint8_t {
    None,
    Put,     // nothing lies there
    Update,  // differences() are written
    Remove,
    Blocked,  // a row of another entity is there
  };

  const model::Record* record = nullptr;  // null: the row is a reservation
  const model::Unique* unique = nullptr;  // the rule of a reservation
  value::Item key;
  std::optional<value::Item> from;  // none: there is none before
  std::optional<value::Item> to;    // none: there is none after
  std::string_view mark;            // the attribute that tells the row's owner: the type, or the owner of a reservation

  // The action that makes the row correct when `found` is stored at its key.  A request trusts the rules, and passes
  // `from`.
  Action action(const std::optional<value::Item>& found) const;
};

// The effects of a change on the rows of its entity.
struct Effects {
  // First the rows that exist after the change, the main row in front, then the removed ones.  Reservations come last.
  std::vector<RowEffect> rows;
  // Attributes from before that the changes were computed from.  They must still have their values when the rows are
  // written.
  std::set<std::string> inputs;
  // Counters that must be zero: the entity is removed or deleted softly, and children restrict that.
  std::set<std::string> must_be_zero;
};

// An entity before or after a change.
struct EntityState {
  const value::Item* attributes = nullptr;  // logical ones, derived included; null: there is none
  const value::Item* key = nullptr;         // of the main row, where it is known
};

// Errors: Validation: an attribute of the main key is missing, or a key would be too long.
Result<Effects> effects_of(const Rules& rules, const model::Entity& entity, const EntityState& before,
                           const EntityState& after);

// ------------------------------------------------------------------------------------------------------------- parents

// The problem of counters that are summed up over more than kMaxCounterDepth generations.
Problem counters_too_deep(const model::Entity& entity);

struct CounterChange {
  const model::Attribute* counter = nullptr;  // of the parent
  value::Number amount;
  bool plain = false;  // it can be added to without reading the parent
};

// The effect of a change on one parent.
struct ParentEffect {
  const RelationRules* rules = nullptr;
  value::Item key;
  bool required = false;                // the entity comes to this parent, which must exist
  std::vector<CounterChange> counters;  // counters that change
};

// The parents that gain or lose the entity, or get other sums.  An entity that is deleted softly belongs to no parent.
//
// Attributes that cannot be a parent's key lead to no parent.  Errors: Validation, where the change sets such ones.
Result<std::vector<ParentEffect>> effects_on_parents(const Rules& rules, const model::Entity& entity,
                                                     const value::Item* before, const value::Item* after);

// The amount that one child adds to a counter of its parent.
value::Number counted_amount(const Counter& counter, const value::Item& child);

// The value of a counter; zero when it is absent or no number.
value::Number counter_value(const value::Item& attributes, const std::string& name);

// Adds to the counters in `parent`.  Errors: Validation: a sum has too many digits.
Result<void> add_to_counters(const std::vector<CounterChange>& counters, value::Item& parent);

}  // namespace stator::runtime
