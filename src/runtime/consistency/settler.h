#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/base/random.h"
#include "stator/model/model.h"
#include "stator/model/rows.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/dynamo/write_plan.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/rules.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// Something in the table that is not what the rules say.
struct Finding {
  enum class Kind : std::uint8_t {
    Copy,         // a copy differs from its source
    Derived,      // a derived attribute differs from its expression
    Key,          // a key of the table or of an index, the type or the TTL is not what its rule gives
    Record,       // a row of an entity with several is missing, different, or should not be there
    Counter,      // a count or sum is not that of the children
    Reservation,  // a unique value is not claimed, is claimed by somebody else, or by nobody who is there
    Orphan,       // the parent is gone, and the row should be gone or cleared
  };
  Kind kind = Kind::Key;
  std::string entity;
  value::Item key;       // of the row
  std::string what;      // the attribute, record or rule
  std::string expected;  // as JSON; empty: nothing
  std::string found;
  bool repairable = true;  // false: only a person can say which side is right
};
std::string_view finding_name(Finding::Kind kind);

// An entity as it lies in the table.
struct StoredEntity {
  const model::Entity* entity = nullptr;
  value::Item key;         // of the main row
  value::Item row;         // the main row
  value::Item attributes;  // what it means
};

struct SettleOptions {
  enum class Parents : std::uint8_t {
    Enforced,  // a parent that is gone takes its children along, or clears them
    Copied,    // only copies follow the parents
    Ignored,   // nothing follows the parents, which may not be where they are going to be
  };
  Parents parents = Parents::Enforced;
  // Its parent was removed: this relation is enforced even where parents need not exist and nothing in the child is copied from them.
  const model::Parent* removed = nullptr;
  bool purge = false;     // the entity is to go, whatever its parents are
  bool thorough = false;  // also reads what no change could have touched: every reservation
  // What becomes of the attributes before anything is computed from them; empty: nothing.
  std::function<void(const model::Entity&, value::Item&)> adapt;
  // Where a parent may be that is not in its place, because somebody still writes it there: it is gone only when nothing is there,
  // either.  Nullopt: then nobody knows whether it has ever been, and the child stays.  Empty: it is nowhere else.
  std::function<std::optional<value::Item>(const model::Entity& child, const model::Parent& relation,
                                           const value::Item& attributes)>
      former_place;
};

// Brings entities to what the rules say of them.
//
// From an entity's row and its parents, read consistently, follows what it should be: gone or cleared when a parent is gone, with
// the parents' values in its copies, its derived attributes, its keys, its other records, its reservations; and what that changes
// in its parents' counters.  The difference to what lies there is one transaction, conditioned on everything it was computed
// from, so a change that comes in between is seen, and the entity looked at again.  It never moves a version.
//
// The consistency manager, repair and migration are this, applied to some entities or to all.  Because only the table as it is
// matters, doing it twice, late, or in another order ends in the same state.  Thread-safe.
class Settler {
 public:
  // All outlive it.
  Settler(const model::Model& model, Dynamo& dynamo, Random& random);

  const model::Model& model() const { return model_; }
  const Rules& rules() const { return rules_; }
  Dynamo& dynamo() const { return dynamo_; }

  // Rows of this type are that record's, too: what a model that is being replaced calls it.  Before anything else is asked.
  void accept_type(const std::string& type, const model::Entity& entity, const model::Record& record);
  // The entity and record of a row; nulls when it is none of the model's.
  std::pair<const model::Entity*, const model::Record*> type_of(const value::Item& row) const;
  // The entity whose main row this is; nullopt when it is none.
  std::optional<StoredEntity> entity_of(const value::Item& row) const;
  // Consistently; nullopt when no such entity is there.
  Result<std::optional<StoredEntity>, Problem> read(const model::Entity& entity, const value::Item& key);

  // What is wrong with it.  `stored` is as it was read a moment ago.
  Result<std::vector<Finding>, Problem> examine(const StoredEntity& stored, const SettleOptions& options = {});

  // Makes it right, and tells what was wrong and could be repaired.  `stored` is where to begin; what has changed is read again.
  Result<std::vector<Finding>, Problem> settle(const StoredEntity& stored, const SettleOptions& options = {});
  // The same for many of one entity, several in one transaction where that goes.  One that cannot be made right, because a key would
  // be too long, say, does not keep the others from it; the first such is the problem (Invalid) in the end.
  Result<void, Problem> settle_all(const std::vector<StoredEntity>& stored, const SettleOptions& options = {});

  // The children of one parent through one relation, page by page, each read consistently.  `start` is where the last page
  // ended.
  struct ChildPage {
    std::vector<StoredEntity> children;
    std::optional<value::Item> next;
  };
  Result<ChildPage, Problem> children(const StoredEntity& parent, const model::Entity& child,
                                      const model::Parent& relation, const std::optional<value::Item>& start);

  // Counts and sums of an entity's children that are not what they should be.  Safe while children come and go: the children are
  // collected until two collections in a row agree while the counter stands still.  Those counters in `unkept` that whoever
  // changes children does not keep need not wait for that: they are as old as the collection anyway.
  Result<std::vector<Finding>, Problem> recount(const StoredEntity& stored, bool repair,
                                                const std::set<const model::Attribute*>* unkept = nullptr);

  // What an entity that has gone has left behind: other rows and reservations.
  Result<std::vector<Finding>, Problem> sweep_remains(const StoredEntity& gone);

 private:
  // What one plan is computed from, and the plan.
  struct Work {
    explicit Work(const model::TableDesign& table) : plan(table) {}
    std::map<std::string, std::optional<value::Item>> rows;  // by key: as they were read
    std::map<std::string, value::Item> pending;  // by key: attributes of parents that the plan itself changes
    WritePlan plan;
    std::vector<Finding> findings;
  };
  struct Expectation {
    bool gone = false;
    value::Item attributes;
    // The parents that were looked at, with what they have; a copy's source is part of what the plan is conditioned on.
    struct Seen {
      const RelationRules* rules = nullptr;
      value::Item key;
      std::optional<value::Item> attributes;
    };
    std::vector<Seen> parents;
  };

  Result<void, Problem> fetch(Work& work, const std::vector<value::Item>& keys);
  Result<const std::optional<value::Item>*, Problem> row(Work& work, const value::Item& key);
  Result<std::optional<StoredEntity>, Problem> entity_at(Work& work, const model::Entity& entity,
                                                         const value::Item& key);

  // Whether a parent that is not in its place is gone; where it could be instead is then part of what the plan is conditioned on.
  Result<bool, Problem> is_gone(Work& work, const StoredEntity& child, const RelationRules& rules,
                                const SettleOptions& options, Expectation& expectation);
  Result<Expectation, Problem> expect(Work& work, const StoredEntity& stored, const SettleOptions& options);
  Result<void, Problem> plan(Work& work, const StoredEntity& stored, const SettleOptions& options);
  // From what lies there to these attributes, or to nothing.
  Result<bool, Problem> plan_change(Work& work, const StoredEntity& stored, const std::optional<value::Item>& to,
                                    const SettleOptions& options, unsigned depth);
  bool plan_main_row(Work& work, const StoredEntity& stored, const model::Row& to);
  Result<bool, Problem> plan_move(Work& work, const StoredEntity& stored, const model::Row& to);
  Result<bool, Problem> plan_records(Work& work, const StoredEntity& stored, const std::vector<model::Row>& from,
                                     const std::vector<model::Row>& to);
  Result<bool, Problem> plan_reservations(Work& work, const StoredEntity& stored, const std::optional<value::Item>& to,
                                          bool thorough);
  Result<bool, Problem> plan_counters(Work& work, const StoredEntity& stored, const std::optional<value::Item>& to,
                                      unsigned depth);
  Result<void, Problem> count(Work& work, const RelationRules& rules, const value::Item& parent_key,
                              const value::Item* from, const value::Item* to, unsigned depth);
  void require_unchanged(Work& work, const StoredEntity& stored, bool wholly);

  struct Collection {
    std::map<std::string, value::Number> totals;  // by counter
    std::set<std::string> unknown;                // counters of children that no index finds; the checker warns of them
    std::size_t fingerprint = 0;                  // of every child and what it adds
  };
  Result<Collection, Problem> collect(const StoredEntity& parent);

  const model::Model& model_;
  Dynamo& dynamo_;
  Random& random_;
  Rules rules_;
  std::map<std::string, std::pair<const model::Entity*, const model::Record*>> accepted_types_;
};

// A key as a person reads it: {"PK":{"S":"..."},"SK":{"S":"..."}}.
std::string key_text(const value::Item& key);

}  // namespace stator::runtime
