#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stator/model/model.h"
#include "stator/model/next_place.h"
#include "stator/model/rows.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/dynamo/write_plan.h"
#include "stator/runtime/missing.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/rules/climb.h"
#include "stator/runtime/rules/effects.h"
#include "stator/runtime/rules/limits.h"
#include "stator/runtime/rules/migration_notice.h"
#include "stator/runtime/rules/rules.h"
#include "stator/runtime/write/generator.h"
#include "stator/runtime/write/given.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// The parts that all transactions of one repository share.  Thread-safe.
struct Context {
  std::shared_ptr<const model::Model> model;
  Dynamo dynamo;
  Generator generator;
  Rules rules;
  std::unique_ptr<MigrationNotice> notice;
  Random& random;
};

// One entity inside a transaction: as it was read, and as it is going to be.
struct Draft {
  const model::Entity* entity = nullptr;
  value::Item key;  // of the main row
  // Logical attributes, the version included.  None before: it is being created; none after: removed.
  std::optional<value::Item> before;
  std::optional<value::Item> after;
  bool by_user = false;  // its version counts up

  bool changed() const { return before != after; }
};

// Whether an entity can be seen.
struct Presence {
  // An ancestor has been removed, and the entity is going to be removed, too; or it or an ancestor is unfinished.
  bool gone = false;
  std::set<const Draft*> deleted;  // the entity and its ancestors, as far as they are deleted softly: they hide it

  bool there() const { return !gone && deleted.empty(); }
};

// One user action: the entities that it reads and changes, and the writes that follow from the model's rules.
//
// rules/effects.h computes these writes; the transaction reads the rows that it needs.  Reads are consistent, unless
// the transaction is only going to read.  commit() writes everything at once, on the condition that everything it was
// computed from is unchanged; otherwise nothing is written and the action has to be built again, as transact() below
// does.  Confined to one request; drafts live as long as the transaction.
class Transaction {
 public:
  // The context outlives the transaction.  Without a view of the announced migrations it only reads.
  explicit Transaction(Context& context, bool consistent = true, MigrationNotice::Shared view = {});

  // Says by which names the request gives attributes.  Without it, these are the parameters of the entity's own path.
  void name_by(Naming naming) { naming_ = std::move(naming); }
  // That a parent of `child` is not there, in the words of the request.
  Problem missing_parent(const model::Entity& child, const RelationRules& rules) const;

  // The entity that these attributes name; null when there is none, or its row is of another type.
  Result<Draft*, Problem> load(const model::Entity& entity, const value::Item& naming);
  Result<Draft*, Problem> load_key(const model::Entity& entity, const value::Item& key);

  // Whether the entity and its ancestors are there.
  Result<Presence, Problem> presence(const Draft& draft);
  // Whether the entity is visible to a caller who does not ask for deleted entities.
  Result<bool, Problem> is_present(const Draft& draft);

  // The problem lists all wrong attributes: those that cannot be set, wrong values, missing ones.
  Result<Draft*, Problem> create(const model::Entity& entity, value::Item attributes, ValueSource source);
  // An absent attribute keeps its value, null clears it.  When nothing changes, the version stays.
  Result<void, Problem> change(Draft& draft, const model::PlainObject& changes, ValueSource source);
  // Removes its rows for good, append-only ones too.  The caller has checked access.
  Result<void, Problem> remove(Draft& draft);
  Result<void, Problem> soft_delete(Draft& draft);
  Result<void, Problem> restore(Draft& draft);

  // The commit requires that these attributes are as they were read, or that there is no such row.
  void depend_on(const Draft& draft, const std::set<std::string>& attributes);
  Result<void, Problem> depend_on_absence(const model::Entity& entity, const value::Item& naming);
  // For an entity that is being created: if another request creates it first, the transaction starts again instead of
  // being refused.  Problems: NotFound, when there is one already.
  Result<void, Problem> retry_when_taken(const Draft& draft);

  // Refuses to commit if the transaction has looked at an entity that a migration moves: it may have looked in the
  // wrong place.  Problems: Unavailable.
  Result<void, Problem> check_places() const { return view_->check(looked_at_); }
  Result<WritePlan::Commit, Problem> commit();

 private:
  using Stored = std::pair<value::Item, std::optional<value::Item>>;  // key, row

  Result<void, Problem> depend_on_absence_at(const model::Entity& entity, const value::Item& key);

  // Whether there are still children of a former entity of this name, which are going to be removed: a new one would
  // adopt them.
  Result<bool, Problem> has_orphans(const model::Entity& entity, const value::Item& key, const value::Item& attributes);
  // Whether the plan leads from the parent at `key` to a child with `wanted` attributes.
  Result<bool, Problem> has_child(const model::ChildPlan& plan, const value::Item& key,
                                  const std::function<bool(const value::Item&)>& wanted);
  // Problems: Conflict `InUse`, when there are children that restrict it and were created before it.
  Result<void, Problem> check_unused(const Draft& draft);

  // Problems: NotFound, when the path of a new entity says other things of it than follow from its parents.
  Result<void, Problem> compare(const model::Entity& entity, const value::Item& compared,
                                const value::Item& attributes) const;
  // Adds a problem for each attribute that has to name a new entity and is missing.
  void check_named(const model::Entity& entity, const value::Item& attributes,
                   std::vector<model::ValueProblem>& problems) const;

  Draft* find(const value::Item& key);
  Result<const std::optional<value::Item>*, Problem> read(const value::Item& key);

  // Copies and derived attributes of `to`, which takes the place of `from`.
  Result<void, Problem> compute(const model::Entity& entity, const std::optional<value::Item>& from, value::Item& to);
  Result<void, Problem> derive(const model::Entity& entity, const std::optional<value::Item>& from, value::Item& to);
  Result<void, Problem> copy(const model::Entity& entity, const RelationRules& rules,
                             const std::optional<value::Item>& from, value::Item& to);
  // Gives absent attributes with a `next` their numbers, where their order is known.  True when one of them names the
  // entity.  Problems: Conflict `Full`; Invalid, when a required one is still absent.
  Result<bool, Problem> fill_next(const model::Entity& entity, const std::optional<value::Item>& from, value::Item& to);
  // The next number of an order; nullopt when the entity is in none.
  Result<std::optional<value::Number>, Problem> number_in_order(const model::Entity& entity,
                                                                const model::Attribute& attribute,
                                                                const value::Item& attributes);
  Result<std::optional<value::Number>, Problem> last_number(const model::NextPlace& place,
                                                            const model::NextRange& range);
  // The first number from `number` on that no other row of the order has reserved.  The commit requires that it stays
  // so.
  Result<value::Number, Problem> unreserved_number(const model::Entity& entity, const model::Attribute& attribute,
                                                   value::Item attributes, value::Number number);
  // The number that the parent gives, which it then has as its last one; nullopt when there is no parent.
  Result<std::optional<value::Number>, Problem> number_of_parent(const model::Entity& entity,
                                                                 const model::Attribute& attribute,
                                                                 const value::Item& attributes);
  // The greatest number that a child of the parent has: of a parent that was created before it gave numbers.
  Result<std::optional<value::Number>, Problem> greatest_number(const Draft& parent, const model::Attribute& counter);
  // The commit requires that the parent's count of this order is unchanged: two requests cannot both take the same
  // number.
  Result<void, Problem> hold_count(const model::Entity& entity, const model::NextPlace& place,
                                   const value::Item& attributes);
  // Removes numbers that were not given and that belong to an order which `to` has left.
  Result<void, Problem> leave_orders(const model::Entity& entity, const value::Item& from, value::Item& to,
                                     const value::Item& given);
  // Changes the draft to `to`, as a user's change: the version counts up, unless the model changes only attributes that
  // drift.  `given` are the values that were given.
  Result<void, Problem> change_to(Draft& draft, value::Item to, ValueSource source = ValueSource::Request,
                                  const value::Item& given = {});
  // The same for a soft deletion and its restoration: numbers are kept, also while the entity is in no order.
  Result<void, Problem> change_with_numbers(Draft& draft, value::Item to);
  // Gives the draft these attributes, and adjusts its parents.  nullopt: the entity is removed.
  Result<void, Problem> apply(Draft& draft, std::optional<value::Item> to);
  Result<void, Problem> require_parent(const model::Entity& child, const RelationRules& rules, const value::Item& key);
  Result<std::optional<ChangedParent>, Problem> adjust_counters(const ParentEffect& effect);

  // Problems: Invalid, when a check of the entity does not hold; Conflict `CheckFailed`, when children had part in
  // that.
  Result<void, Problem> check(const Draft& draft);
  // Plans the rows of all drafts.
  Result<void, Problem> plan();
  void plan_row(const model::Entity& entity, RowEffect& row);
  void plan_change(const model::Entity& entity, const value::Item& key, const AttributeChange& change);
  // Makes the plan require that the attributes which the effects were computed from are unchanged.
  void require_unchanged(const Draft& draft, const Effects& effects);

  Context& context_;
  const model::Model& model_;
  const bool consistent_;
  const MigrationNotice::Shared view_;  // null: it only reads
  const Rules& rules_;
  std::set<const model::Entity*> looked_at_;
  WritePlan plan_;
  Naming naming_;
  std::deque<Draft> drafts_;
  std::deque<Stored> stored_;
};

// Builds a transaction with `build` and commits it. If others have changed rows that it read, or a migration was
// announced, this is repeated, up to kCommitAttempts times.  `build` takes a Transaction& and returns a Result; its
// last value is the result.
template <typename Build>
auto transact(Context& context, Build&& build) -> decltype(build(std::declval<Transaction&>())) {
  for (unsigned attempt = 1;; ++attempt) {
    const auto view = context.notice->look();
    if (!view) return Problem(view.error());
    Transaction transaction(context, true, *view);
    auto built = build(transaction);
    if (auto places = transaction.check_places(); !places) return std::move(places).error();
    if (!built) return built;
    const auto commit = transaction.commit();
    if (!commit) return Problem(commit.error());
    if (*commit == WritePlan::Commit::Written) return built;
    if (attempt == kCommitAttempts) {
      return conflict(std::string(kContention), "others are changing the same thing; try again");
    }
    back_off(attempt, context.random, context.dynamo.clock());
  }
}

// The problem of an entity whose key is taken.
Problem exists_already(const model::Model& model, const model::Entity& entity);

// The version of an entity's attributes; 0 when it has none.
std::uint64_t version_of(const model::TableDesign& table, const value::Item& attributes);

}  // namespace stator::runtime
