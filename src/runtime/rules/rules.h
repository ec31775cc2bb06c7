#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stator/model/added_keys.h"
#include "stator/model/model.h"
#include "stator/runtime/problem.h"

// The rules for writes that follow from a model's declarations, computed once.
namespace stator::runtime {

// A count or sum of a parent, as one relation of its children feeds it.
struct Counter {
  const model::Attribute* attribute = nullptr;  // of the parent
  std::string summed;                           // attribute of the child; empty: children are counted
};

// One relation of a child, with all that depends on it.
struct RelationRules {
  const model::Entity* child = nullptr;
  const model::Parent* relation = nullptr;
  const model::Entity* parent = nullptr;
  std::vector<Counter> counters;
  std::vector<const model::Attribute*> copies;   // of the child
  std::vector<const model::Attribute*> numbers;  // of the child, that the parent gives
  bool in_path = false;                          // the route of the child names the parent
  // The child is visible only while the parent is, and the parent can be deleted softly, or is hidden with its own
  // parent.
  bool can_be_hidden = false;
  // The child's path is below its parent's, and it is removed with the parent.  The child is not found once the parent
  // is gone, although its rows are removed a little later.
  bool is_below = false;

  // Whether the child is found only after a look at the parent.
  bool vanishes() const { return can_be_hidden || is_below; }
  // Whether the child changes when the parent is gone: it is removed, or attributes of it are cleared.
  bool follows_parent() const { return relation->cascades || relation->on_delete == model::OnDelete::Clear; }
};

struct EntityRules {
  const model::Entity* entity = nullptr;
  std::vector<RelationRules> relations;
  // Every relation to this entity as a parent, in the order of the file.
  std::vector<const RelationRules*> children;
  // Attributes that change without the version: counters, sums, copies, attributes that the deletion of a parent
  // clears, and attributes that are declared to drift.
  std::set<std::string> drifting;
  // One set for each computation (a derived attribute, a key, whether a record exists, a unique value, a relation with
  // its sums): the attributes that it reads.  A write that changes one of them repeats the computation with all
  // of them.
  std::vector<std::set<std::string>> computed;
  // All attributes that computations read, and the attributes that parents sum up.
  std::set<std::string> inputs;
  // Counters that no computation reads and that are stored in one row only: they are added to without reading them.
  std::set<std::string> plain_counters;
  // Counters that must be zero before an entity is removed.
  std::set<std::string> restricting;
  // The names that the rules write or the model declares: attributes, the version, keys of the table and its indexes,
  // the type, the TTL. Other attributes of a row are left as they are.
  std::set<std::string> known;
  // Keys that a migration has announced for the programs of its new model; empty: none.
  model::AddedKeys added;
};

// The keys that a migration has announced, by the name of the entity.
using AddedKeysOf = std::map<std::string, model::AddedKeys, std::less<>>;

// Refers to the model.  Constant, so thread-safe.
class Rules {
 public:
  // The model outlives it.  Added keys that the model has itself are left out.
  explicit Rules(const model::Model& model, const AddedKeysOf& added = {});
  Rules(Rules&&) = default;
  Rules(const Rules&) = delete;

  const model::Model& model() const { return *model_; }
  const EntityRules& of(const model::Entity& entity) const { return entities_.at(&entity); }

 private:
  const model::Model* model_;
  std::map<const model::Entity*, EntityRules> entities_;
};

// Whether a child with these attributes has had such a parent: always where one must exist, else when it has a copy of
// one of the parent's attributes.
bool has_had_parent(const RelationRules& rules, const value::Item& attributes);

// Whether an entity with these attributes is not deleted softly.  Only live ones count in their parents.
bool is_live(const model::Entity& entity, const value::Item& attributes);

// False while native actions are still writing the entity: no caller sees it or its dependants.
bool is_finished(const model::Entity& entity, const value::Item& attributes);

// Whether an entity, or one of its ancestors, can be deleted softly: then it may be hidden without being gone.
bool can_be_hidden(const model::Entity& entity);

}  // namespace stator::runtime
