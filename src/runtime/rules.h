#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "stator/model/model.h"
#include "stator/runtime/problem.h"

// What a model's declarations mean for its writes, worked out once.
namespace stator::runtime {

// An attribute of a parent that moves when a child comes, goes or changes.
struct Counter {
  const model::Attribute* attribute = nullptr;  // of the parent
  std::string summed;                           // of the child; empty: children are counted
};

// One relation of a child, with all that depends on it.
struct RelationRules {
  const model::Parent* relation = nullptr;
  const model::Entity* parent = nullptr;
  std::vector<Counter> counters;
  std::vector<const model::Attribute*> copies;  // of the child
  bool in_path = false;                         // the route of the child names the parent
  // The child is there only while the parent is, and that can be deleted softly, or with its own parent.
  bool can_be_hidden = false;
  // The path of the child is below the parent's, with which it goes.  So nothing is found there once the parent is gone, although
  // the child itself goes only after it.
  bool is_below = false;

  bool goes_along = false;  // the child goes when the parent has gone
  // Children can be there before their parent: its counters and their copies are made right once it has come.
  bool can_precede = false;

  // Whether the child is to be found only after a look at the parent.
  bool vanishes() const { return can_be_hidden || is_below; }
  std::vector<std::string> pointers;  // attributes of the child to blame when there is no such parent
};

// A parent that is not there, or not for the caller: 404 when the address of the request names it, else the request is at odds
// with what there is.
Problem missing_parent(const RelationRules& rules);

struct EntityRules {
  const model::Entity* entity = nullptr;
  std::vector<RelationRules> relations;
  std::set<std::string> identity;
  // Part of its name is generated, so there is never another of that name.  Of what comes again a version alone says little about
  // what was read before: within a millisecond it may begin as the former one did.
  bool comes_once = false;
  // Attributes that change without the version: counters, sums, copies, what the deletion of a parent clears, and what is declared
  // to drift.
  std::set<std::string> drifting;
  // For each thing that is computed from attributes (a derived attribute, a key, whether a record exists, a unique value, a
  // relation and what it sums up): those attributes.  Whoever changes one of them computes the thing anew from all of them.
  std::vector<std::set<std::string>> computed;
  // Counters that are in no computation and in one row only: they can be added to without reading them.
  std::set<std::string> plain_counters;
  // Counters that must be zero before a row can go.
  std::set<std::string> restricting;
};

// Refers to the model.  Constant, so thread-safe.
class Rules {
 public:
  explicit Rules(const model::Model& model);  // outlives it

  const EntityRules& of(const model::Entity& entity) const { return entities_.at(&entity); }
  // Whether anything can belong to it.
  bool has_children(const model::Entity& entity) const { return parents_.contains(&entity); }

 private:
  std::map<const model::Entity*, EntityRules> entities_;
  std::set<const model::Entity*> parents_;
};

// Whether a child with these attributes has had such a parent: always where it must, else when it has a copy of something of the parent's.
bool has_had_parent(const RelationRules& rules, const value::Item& attributes);

// Whether an entity with these attributes is there for anybody: soft-deleted ones are not.  Only live ones count in their parents.
bool is_live(const model::Entity& entity, const value::Item& attributes);

// Whether an entity, or what it belongs to, can be deleted softly: then it may be hidden without being gone.
bool can_be_hidden(const model::Model& model, const model::Entity& entity);

}  // namespace stator::runtime
