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
#include "stator/runtime/problem.h"
#include "stator/runtime/rules.h"
#include "stator/runtime/write/generator.h"
#include "stator/runtime/write/given.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// What all transactions of one repository share.  Thread-safe.
struct Context {
  std::shared_ptr<const model::Model> model;
  Dynamo dynamo;
  Generator generator;
  Rules rules;
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

enum class Presence : std::uint8_t {
  There,
  Deleted,  // it is deleted softly, or something that it belongs to is
  Gone,     // something that it belongs to has been removed, and it is going to be
};

// One user action being put together: what it reads, what becomes of it, and all that follows from the model's rules: records,
// counters, sums, copies, reservations, checks of parents.
//
// Reads are consistent, unless it is only going to read.  commit() writes everything at once, conditioned on what it was computed from; when that has changed,
// nothing is written and the action has to be put together again (transact() below does).  Confined to one request; drafts
// live as long as the transaction.
class Transaction {
 public:
  explicit Transaction(Context& context, bool consistent = true);  // the context outlives the transaction

  // The entity that these attributes name; null when there is none, or its row is of another type.
  Result<Draft*, Problem> load(const model::Entity& entity, const value::Item& naming);
  Result<Draft*, Problem> load_key(const model::Entity& entity, const value::Item& key);

  // Whether it is there, as far as that is up to what it belongs to.
  Result<Presence, Problem> presence(const Draft& draft);
  // Whether it is there for those who do not ask for deleted things.
  Result<bool, Problem> is_present(const Draft& draft);

  // Problems are told all at once: attributes that cannot be set, wrong values, missing ones.
  Result<Draft*, Problem> create(const model::Entity& entity, value::Item attributes, Source source);
  // Absent keeps, null clears.  A change that changes nothing leaves the version alone.
  Result<void, Problem> change(Draft& draft, const model::PlainObject& changes, Source source);
  // Removes its rows for good, append-only ones too: who asks has been asked whether that may be.
  Result<void, Problem> remove(Draft& draft);
  Result<void, Problem> soft_delete(Draft& draft);
  Result<void, Problem> restore(Draft& draft);

  // The commit depends on these attributes of an entity being as they were read, or on no row being there.
  void depend_on(const Draft& draft, const std::set<std::string>& attributes);
  Result<void, Problem> depend_on_absence(const model::Entity& entity, const value::Item& naming);
  // For what is being created: if somebody else creates it first, it is put together again, not refused.  Problems: NotFound,
  // when there is one already.
  Result<void, Problem> retry_when_taken(const Draft& draft);

  Result<WritePlan::Commit, Problem> commit();

 private:
  using Stored = std::pair<value::Item, std::optional<value::Item>>;  // key, row

  Result<void, Problem> depend_on_absence_at(const model::Entity& entity, const value::Item& key);

  // Whether something is still there that went with a former one of this name: a new one would adopt it.
  Result<bool, Problem> has_heirs(const model::Entity& entity, const value::Item& key, const value::Item& attributes);
  // Whether a child of that relation is there whose attributes are `wanted`.
  Result<bool, Problem> has_child(const model::Entity& child, const model::Parent& relation,
                                  const model::ChildPlan& plan, const value::Item& key,
                                  const std::function<bool(const value::Item&)>& wanted);
  // Problems: Conflict `InUse`, when children that restrict it came before it.
  Result<void, Problem> check_unused(const Draft& draft);

  // Tells of what is to name a new entity and was not given.
  void check_named(const model::Entity& entity, const value::Item& attributes,
                   std::vector<model::ValueProblem>& problems) const;

  Draft* find(const value::Item& key);
  Result<const std::optional<value::Item>*, Problem> read(const value::Item& key);

  // Copies and derived attributes of `to`, which takes the place of `from`.
  Result<void, Problem> compute(const model::Entity& entity, const std::optional<value::Item>& from, value::Item& to);
  Result<void, Problem> derive(const model::Entity& entity, const std::optional<value::Item>& from, value::Item& to);
  Result<void, Problem> copy(const model::Entity& entity, const RelationRules& rules,
                             const std::optional<value::Item>& from, value::Item& to);
  // Gives absent attributes that have a `next` their numbers, where it is known in which order.  True when one of them names the
  // entity.  Problems: Conflict `Full`; Invalid, when a required one is still absent.
  Result<bool, Problem> fill_next(const model::Entity& entity, const std::optional<value::Item>& from, value::Item& to);
  Result<std::optional<value::Number>, Problem> last_number(const model::NextPlace& place,
                                                            const model::NextRange& range);
  // The commit depends on the parent that counts those of this order: two that count on from the same number cannot both go through.
  Result<void, Problem> hold_count(const model::Entity& entity, const model::NextPlace& place,
                                   const value::Item& attributes);
  // Takes numbers away that nobody gave and that belong to an order in which `to` is not any more.
  Result<void, Problem> leave_orders(const model::Entity& entity, const value::Item& from, value::Item& to,
                                     const value::Item& given);
  // `to` becomes what the draft is going to be, as a user's change, unless it is the model that changes what drifts.  `given` are
  // the values that were given for it.
  Result<void, Problem> change_to(Draft& draft, value::Item to, Source source = Source::Request,
                                  const value::Item& given = {});
  // The same for what is deleted softly and restored: it keeps its numbers, also while it is in no order.
  Result<void, Problem> change_with_numbers(Draft& draft, value::Item to);
  // The same with its effects on parents, whoever changes it.
  Result<void, Problem> shift(Draft& draft, std::optional<value::Item> to, unsigned depth = 0);
  Result<void, Problem> shift_relation(const model::Entity& entity, const RelationRules& rules,
                                       const std::optional<value::Item>& from, const std::optional<value::Item>& to,
                                       unsigned depth);
  Result<void, Problem> require_parent(const RelationRules& rules, const value::Item& key);
  Result<void, Problem> count(const RelationRules& rules, const value::Item& key, const Counter& counter,
                              const value::Number& amount, bool required, unsigned depth);

  // Problems: Invalid, when a check of the entity objects to what it has become; Conflict `CheckFailed`, when children had part in that.
  Result<void, Problem> check(const Draft& draft);
  Result<void, Problem> plan(const Draft& draft);
  Result<void, Problem> plan_rows(const Draft& draft);
  Result<void, Problem> plan_reservations(const Draft& draft);
  void require_unchanged(const Draft& draft);
  void plan_difference(const model::Entity& entity, const model::Row& from, const model::Row& to);

  Context& context_;
  const model::Model& model_;
  const bool consistent_;
  WritePlan plan_;
  std::deque<Draft> drafts_;
  std::deque<Stored> stored_;
};

inline constexpr unsigned kCommitAttempts = 30;

// Puts a transaction together with `build`, commits it, and does so again while races are lost.  `build` takes a Transaction& and
// returns a Result; its last value is the result.
template <typename Build>
auto transact(Context& context, Build&& build) -> decltype(build(std::declval<Transaction&>())) {
  for (unsigned attempt = 1;; ++attempt) {
    Transaction transaction(context);
    auto built = build(transaction);
    if (!built) return built;
    const auto commit = transaction.commit();
    if (!commit) return Problem(commit.error());
    if (*commit == WritePlan::Commit::Written) return built;
    if (attempt == kCommitAttempts) {
      return Problem{ProblemKind::Conflict, "Contention", "others are changing the same thing; try again", {}};
    }
    back_off(attempt, context.random, context.dynamo.clock());
  }
}

// The version of an entity's attributes; 0 when it has none.
std::uint64_t version_of(const model::TableDesign& table, const value::Item& attributes);

}  // namespace stator::runtime
