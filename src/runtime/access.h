#pragma once

#include <optional>
#include <string>

#include "stator/model/model.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/repository.h"
#include "stator/runtime/write/transaction.h"

// Who may do what.  What a caller may not see is not there: existence is not told.
namespace stator::runtime {

// An entity that the caller may see.
struct Visible {
  Draft* draft = nullptr;
  const model::Grant* grant = nullptr;  // through which it is seen; null: directly
};

// Whether `access` lets the caller in whatever the row: public, signed in, a role, or the system itself.
bool lets_in(const model::Access& access, const Caller& caller);
// Whether it does for an entity with these attributes: as above, or the caller owns it, or it is public by its own
// attributes.
Result<bool, Problem> lets_in(const model::Access& access, const model::Entity& entity, const value::Item& attributes,
                              const Caller& caller);
// What to answer somebody whom `access` does not let in at all: nullopt when it depends on the row.
std::optional<Problem> shut_out(const model::Access& access, const Caller& caller);

// What the pointer of a grant gives when these attributes are asked for; nullopt when the caller has no such pointer.
Result<std::optional<value::Item>, Problem> look_up(Transaction& transaction, const model::Grant& grant,
                                                    const value::Item& asked, const Caller& caller);

// The entity that the attributes name, the caller being its owner unless they say otherwise; through a grant when there
// is no such row of the caller's.  With `include_deleted`, what is deleted is there for those who may delete it, and
// what belongs to it for those who may read that and delete it.  Problems: NotFound, Unauthenticated.
Result<Visible, Problem> find_visible(Transaction& transaction, const model::Model& model, const model::Entity& entity,
                                      const value::Item& naming, const Caller& caller, bool include_deleted);

// `seen` with the grant that allows the caller what `access` guards; nullopt when none does.  A caller who sees the row
// because it is public, or through another grant, may have such a grant, too.  `naming` found the row.
Result<std::optional<Visible>, Problem> admitted(Transaction& transaction, const Visible& seen,
                                                 const value::Item& naming, const model::Access& access,
                                                 const Caller& caller, bool include_deleted);

// The same for somebody who wants to do what `access` guards.  Problems: Forbidden, too.
Result<Visible, Problem> find_for(Transaction& transaction, const model::Model& model, const model::Entity& entity,
                                  const value::Item& naming, const model::Access& access, const Caller& caller,
                                  bool include_deleted);

// What an action is within, for a caller whom its access lets in; `inputs` name it.  For a native action, `access` is
// checked on this entity.  For an action of steps, a caller who sees the entity directly is let in here; each step then
// checks its own rows.  Problems: NotFound, Unauthenticated, Forbidden.
Result<Visible, Problem> find_within(Transaction& transaction, const model::Model& model, const model::Action& action,
                                     const value::Item& inputs, const Caller& caller, bool include_deleted);

// That the row is where its path is, also where that says more than its name: /shelves/{shelfId}/stickers/{code} is on
// that shelf.  Whose it is, is another question.
Result<void, Problem> check_place(const model::Entity& entity, const value::Item& key, const value::Item& row);

// That the caller may see every parent that `draft` has now and did not have before.  Who could point at somebody
// else's rows would learn that they are there, get copies of what is in them, and count in them.  Problems: as if the
// parent was not there.
Result<void, Problem> check_parents(Transaction& transaction, const Context& context, const Draft& draft,
                                    const Caller& caller);

// `attributes` of a new entity with the owner that it is going to have.  Problems: Unauthenticated, Forbidden, Invalid.
Result<value::Item, Problem> with_owner(Transaction& transaction, const model::Entity& entity,
                                        const value::Item& attributes, const Caller& caller);

// The owner of a new entity is a copy from its parent.  A caller who may create only as the owner must be that owner.
Result<void, Problem> check_copied_owner(const Draft& draft, const Caller& caller);

}  // namespace stator::runtime
