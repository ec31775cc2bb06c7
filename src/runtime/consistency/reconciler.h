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
#include "stator/base/traffic.h"
#include "stator/model/model.h"
#include "stator/model/rows.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/dynamo/write_plan.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/rules/climb.h"
#include "stator/runtime/rules/effects.h"
#include "stator/runtime/rules/migration_notice.h"
#include "stator/runtime/rules/rules.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// A place where the table breaks a rule of the model.
struct RowFinding {
  enum class Kind : std::uint8_t {
    Copy,         // a copy differs from its source
    Derived,      // a derived attribute differs from its expression
    Key,          // a key of the table or of an index, the type or the TTL differs from its rule
    Record,       // a row of an entity with several is missing, different, or should not be there
    Counter,      // a count or sum is not that of the children, or a child has a number above the last one
    Reservation,  // a unique value is not reserved, or for another entity, or for one that does not exist
    Orphan,       // the parent is gone, and the row should be removed or cleared
  };
  Kind kind = Kind::Key;
  std::string entity;
  value::Item key;       // of the row
  std::string what;      // the attribute, record or rule
  std::string expected;  // as JSON; empty: nothing
  std::string found;
  bool repairable = true;  // false: only a person can decide which side is right
};
// The name in a Key finding for a row with another primary key than its template gives.
inline constexpr std::string_view kPrimaryKey = "primary key";
std::string_view finding_name(RowFinding::Kind kind);

// An entity as it lies in the table.
struct StoredEntity {
  const model::Entity* entity = nullptr;
  value::Item key;         // of the main row
  value::Item row;         // the main row
  value::Item attributes;  // its logical attributes
};

struct ReconcileOptions {
  enum class Parents : std::uint8_t {
    Enforced,  // a parent that is gone removes its children, or clears attributes of them
    Copied,    // only copies follow the parents
    Ignored,   // nothing follows the parents: a migration may not have moved them to their places yet
  };
  Parents parents = Parents::Enforced;
  // The parent through this relation was removed: the relation is enforced even where parents need not exist and the
  // child copies nothing from them.
  const model::Parent* removed = nullptr;
  bool purge = false;     // the entity is removed, even if it has parents
  bool thorough = false;  // also reads rows that no change could have touched: every reservation
  // Changes the attributes before anything is computed from them; empty: nothing does.
  std::function<void(const model::Entity&, value::Item&)> adapt;
  // Where else the parent of a child may lie, because a program of another model still writes it there: the parent is
  // gone only when no row lies there, either.  Nullopt: that is unknown, and the child stays.  Empty: it lies nowhere
  // else.
  std::function<std::optional<value::Item>(const model::Entity& child, const model::Parent& relation,
                                           const value::Item& attributes)>
      former_place;
};

// Makes entities agree with the rules of the model.
//
// An entity's row and its parents are read consistently.  The rules compute the expected state of the entity from these
// (rules/effects.h): removed or cleared when a parent is gone; otherwise its copies, derived attributes, keys, other
// records and reservations, and the counters of its parents.  The difference to the table is written as one
// transaction.  It requires everything that it was computed from to be unchanged; when something has changed, the
// entity is read again. Versions never change.
//
// The consistency manager and migration reconcile some entities, verification and repair all of them.  Only the table
// as it is now matters, so reconciling twice, late, or in another order ends in the same state.  Thread-safe.
class Reconciler {
 public:
  // All outlive it.  Without `traffic`, others are taken to use the database all the time.
  Reconciler(const model::Model& model, Dynamo& dynamo, Random& random, const Traffic* traffic = nullptr);

  const model::Model& model() const { return model_; }
  const Rules& rules() const { return rules_; }
  Dynamo& dynamo() const { return dynamo_; }

  // Rows of this type are taken for that record, too: a model that is being replaced has that name for it.  Call it
  // before anything else.
  void accept_type(const std::string& type, const model::Entity& entity, const model::Record& record);
  // Rows lose these attributes, which no model has any longer.  Call it before anything else.
  void forget(const std::set<std::string>& attributes) { forgotten_ = attributes; }
  // The entity and record of a row; nulls when the model has none for it.
  std::pair<const model::Entity*, const model::Record*> type_of(const value::Item& row) const;
  // The entity with this main row; nullopt when it is no main row.
  std::optional<StoredEntity> entity_of(const value::Item& row) const;
  // Reads consistently; nullopt when there is no such entity.
  Result<std::optional<StoredEntity>, Problem> read(const model::Entity& entity, const value::Item& key);

  // The findings about an entity that was read a moment ago.
  Result<std::vector<RowFinding>, Problem> examine(const StoredEntity& stored, const ReconcileOptions& options = {});

  // Writes the difference, and returns the findings.  Begins with `stored`; an entity that has changed since is read
  // again.
  Result<std::vector<RowFinding>, Problem> reconcile(const StoredEntity& stored, const ReconcileOptions& options = {});
  // The same for many entities, several in one transaction where possible.  One that cannot be made right, for example
  // because a key would be too long, does not stop the others; after them, the first such is returned as the problem
  // (Invalid).  Batches are small, with pauses between them, while others use the database.
  Result<void, Problem> reconcile_all(const std::vector<StoredEntity>& stored, const ReconcileOptions& options = {});

  // A page of a parent's children through one relation.  `start` is where the last page ended.
  struct ChildPage {
    std::vector<StoredEntity> children;
    std::optional<value::Item> next;
  };
  Result<ChildPage, Problem> children(const StoredEntity& parent, const RelationRules& relation,
                                      const std::optional<value::Item>& start);

  // Counters of an entity that differ from its children.  Exact while children are created and removed: the children
  // are collected until two collections in a row agree and the counter has not changed between them.
  // `unkept`: counters that child writes do not maintain.  They are recounted without waiting for a stable count.
  Result<std::vector<RowFinding>, Problem> recount(const StoredEntity& stored, bool repair,
                                                   const std::set<const model::Attribute*>* unkept = nullptr);

  // Removes the other rows and reservations of an entity that has lost its main row.
  Result<std::vector<RowFinding>, Problem> sweep_remains(const StoredEntity& gone);

 private:
  // A plan, and the rows that it is computed from.
  struct Reconciliation {
    Reconciliation(const model::TableDesign& table, MigrationNotice::Shared announced)
        : view(std::move(announced)), plan(table) {}
    const Rules& rules() const { return view->rules; }
    MigrationNotice::Shared view;                            // its rules compute the rows of the entities
    std::map<std::string, std::optional<value::Item>> rows;  // by key: as they were read
    // A parent with a counter that more depends on than the attribute: keys, other rows, sums of its own parents.
    struct Parent {
      StoredEntity stored;
      value::Item attributes;  // with the changed counters
    };
    std::map<std::string, Parent> parents;  // by key; plan_parents() plans each once, when all its changes are known
    WritePlan plan;
    std::vector<RowFinding> findings;
  };
  struct Expectation {
    bool gone = false;
    value::Item attributes;
    // The parents that were looked at, and their attributes.  The plan requires the sources of copies to be unchanged.
    struct Seen {
      const RelationRules* rules = nullptr;
      value::Item key;
      std::optional<value::Item> attributes;
    };
    std::vector<Seen> parents;
  };

  Result<void, Problem> fetch(Reconciliation& work, const std::vector<value::Item>& keys);
  Result<const std::optional<value::Item>*, Problem> row(Reconciliation& work, const value::Item& key);
  Result<std::optional<StoredEntity>, Problem> entity_at(Reconciliation& work, const model::Entity& entity,
                                                         const value::Item& key);

  // Whether a parent that is not in its place is gone.  The plan then requires its former place to be empty, too.
  Result<bool, Problem> is_gone(Reconciliation& work, const StoredEntity& child, const RelationRules& rules,
                                const ReconcileOptions& options, Expectation& expectation);
  Result<Expectation, Problem> expect(Reconciliation& work, const StoredEntity& stored,
                                      const ReconcileOptions& options);
  // Plans one entity.  After the last one of a batch comes plan_parents().
  Result<void, Problem> plan(Reconciliation& work, const StoredEntity& stored, const ReconcileOptions& options);
  Result<void, Problem> plan_parents(Reconciliation& work);
  // The most rows that plan_parents() adds to the plan.
  static std::size_t rows_of_parents(const Reconciliation& work);
  // Plans the changes from the stored entity to these attributes; null: the entity is removed.  False: there are none.
  Result<bool, Problem> plan_change(Reconciliation& work, const StoredEntity& stored, const value::Item* to,
                                    const ReconcileOptions& options);
  Result<Reconciliation, Problem> begin_reconciliation();
  bool plan_main_row(Reconciliation& work, const StoredEntity& stored, const value::Item& to);
  Result<bool, Problem> plan_move(Reconciliation& work, const StoredEntity& stored, const RowEffect& to);
  // All rows but the main one.  Reservations that stay are examined only when thorough.
  Result<bool, Problem> plan_rows(Reconciliation& work, const model::Entity& entity, const std::vector<RowEffect>& rows,
                                  bool thorough);
  // Plans the changes of the parents' counters when an entity changes.  False: there are none.
  Result<bool, Problem> plan_counters(Reconciliation& work, const model::Entity& entity, const value::Item& from,
                                      const value::Item* to);
  Result<std::optional<ChangedParent>, Problem> adjust_counters(Reconciliation& work, const ParentEffect& effect);
  // The plan requires every attribute that something is computed from to be unchanged.
  void require_unchanged(Reconciliation& work, const StoredEntity& stored);

  struct Collection {
    std::map<std::string, value::Number> totals;  // by counter; of a last number, the greatest that a child has
    std::set<std::string> unknown;                // counters of children that no index finds; the checker warns of them
    std::size_t fingerprint = 0;                  // of every child and its amounts
  };
  Result<Collection, Problem> collect(const StoredEntity& parent);

  const model::Model& model_;
  Dynamo& dynamo_;
  Random& random_;
  const Traffic* const traffic_;
  Rules rules_;
  MigrationNotice notice_;
  std::map<std::string, std::pair<const model::Entity*, const model::Record*>> accepted_types_;
  std::set<std::string> forgotten_;
};

// A key as a person reads it: {"PK":{"S":"..."},"SK":{"S":"..."}}.
std::string key_text(const value::Item& key);

}  // namespace stator::runtime
