#pragma once

#include <optional>
#include <string>

#include "stator/model/model.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/repository.h"
#include "stator/runtime/write/transaction.h"

// Access rules.  A row that the caller may not see is reported as absent, so that its existence stays secret.
namespace stator::runtime {

// An entity that the caller may see.
struct Visible {
  Draft* draft = nullptr;
  const model::Grant* grant = nullptr;  // through which it is seen; null: directly
};

// Whether `access` lets the caller in for every row: public, signed in, a role, or the system itself.
bool lets_in(const model::Access& access, const Caller& caller);
// Whether `access` lets the caller in for an entity with these attributes: for every row, as its owner, or because the
// condition of `public` is true for them.
Result<bool, Problem> lets_in(const model::Access& access, const model::Entity& entity, const value::Item& attributes,
                              const Caller& caller);
// Refuses a caller whom `access` lets in for no row.  It accepts a caller for whom the answer depends on the row.
// Problems: Unauthenticated, Forbidden.
Result<void, Problem> check_caller(const model::Access& access, const Caller& caller);

// Looks up the pointer of a grant for a row with the attributes `asked`, and returns the attributes that the grant
// gives.  nullopt: the caller has no such pointer.
Result<std::optional<value::Item>, Problem> look_up(Transaction& transaction, const model::Grant& grant,
                                                    const value::Item& asked, const Caller& caller);

// The entity that the attributes name.  Without an owner among them, the caller is the owner; if the caller has no such
// row, grants of other owners are tried.  `include_deleted`: a deleted entity is found by callers who may delete it,
// and its dependants by callers who may also read them.  Problems: NotFound, Unauthenticated.
Result<Visible, Problem> find_visible(Transaction& transaction, const model::Model& model, const model::Entity& entity,
                                      const value::Item& naming, const Caller& caller, bool include_deleted);

// `seen` with a grant that `access` names and that lets the caller in; nullopt when there is none.  It can be another
// grant than the one through which the caller sees the row.  `naming`: the attributes by which the row was found.
Result<std::optional<Visible>, Problem> admitted(Transaction& transaction, const Visible& seen,
                                                 const value::Item& naming, const model::Access& access,
                                                 const Caller& caller, bool include_deleted);

// Like find_visible(), for an operation that `access` guards.  Problems: also Forbidden.
Result<Visible, Problem> find_for(Transaction& transaction, const model::Model& model, const model::Entity& entity,
                                  const value::Item& naming, const model::Access& access, const Caller& caller,
                                  bool include_deleted);

// The entity that an action is `within`, for a caller whom the action's access lets in; `inputs` name the entity.  For
// a native action, `access` is checked on this entity.  For an action of steps, a caller who sees the entity directly
// is let in here; each step then checks its own rows.  Problems: NotFound, Unauthenticated, Forbidden.
Result<Visible, Problem> find_within(Transaction& transaction, const model::Model& model, const model::Action& action,
                                     const value::Item& inputs, const Caller& caller, bool include_deleted);

// Checks that the row has the attributes that its path gives, also those that are not in its key: the sticker of
// /shelves/{shelfId}/stickers/{code} must be on that shelf.  Does not check the owner.
Result<void, Problem> check_place(const model::Entity& entity, const value::Item& key, const value::Item& row);

// Checks that the caller may see every parent that `draft` has now and did not have before.  Without this check, a
// caller could point at rows of others, and so learn that they exist, copy their attributes and change their counters.
// Problems: the same as for a parent that does not exist.
Result<void, Problem> check_parents(Transaction& transaction, const Context& context, const Draft& draft,
                                    const Caller& caller);

// Adds the owner to the attributes of a new entity.  Problems: Unauthenticated, Forbidden, Invalid.
Result<value::Item, Problem> with_owner(Transaction& transaction, const model::Entity& entity,
                                        const value::Item& attributes, const Caller& caller);

// The owner of a new entity is a copy from its parent.  A caller who may create only as the owner must be that owner.
Result<void, Problem> check_copied_owner(const Draft& draft, const Caller& caller);

}  // namespace stator::runtime
