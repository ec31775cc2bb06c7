#pragma once

#include <string>
#include <vector>

#include "stator/model/model.h"
#include "stator/runtime/rules/rules.h"

// Effects of a migration on programs that still run with the old model, and on programs of the new model beside them.
namespace stator::runtime {

// A pattern or an entity that does not find all rows while programs of both models run.
struct Blindness {
  std::string name;  // of a pattern, or of an entity that is not found by its own key
  std::string text;  // for people: the rows that are not found, and why
};

// Patterns of the old model that do not find rows in their new form, and entities whose rows move.
std::vector<Blindness> blind_old_programs(const model::Model& from, const model::Model& to);
// Lists of the old model that find every row, in another order.
std::vector<std::string> reordered_patterns(const model::Model& from, const model::Model& to);
// Lines for the new model, as YAML with comments, with which the patterns of blind_old_programs() still find all rows.
// Empty: no lines are needed.
std::string way_to_keep_seeing(const model::Model& from, const model::Model& to);

// The keys of new indexes that programs of the old model can write, and the patterns of the new model that do not find
// all rows of old programs because these cannot.
struct NewKeys {
  AddedKeysOf added;
  std::vector<Blindness> blind;
};
NewKeys keys_for_old_programs(const model::Model& from, const model::Model& to);

// How an attribute is computed; empty: it is not.
std::string computation_of(const model::Attribute& attribute);

}  // namespace stator::runtime
