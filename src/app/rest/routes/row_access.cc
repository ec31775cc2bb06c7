#include "stator/app/rest/routes/row_access.h"

#include <algorithm>

#include "stator/runtime/access.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/write/transaction.h"

namespace stator::app {
namespace {

using runtime::Caller;
using runtime::Problem;
using runtime::ProblemKind;
using runtime::Transaction;
using value::Item;

// A body above this costs more to decode than it costs to read the rows that its path names.
constexpr std::size_t kLargeBody = std::size_t{64} << 10;

// Parents that the path names, as the create will look for them.
Result<void, Problem> check_named_parents(Transaction& transaction, const model::Model& model,
                                          const model::Entity& entity, const Item& attributes, const Caller& caller) {
  for (const auto& relation : entity.parents) {
    const auto& parent = *relation.to;
    if (!relation.must_exist || relation.when || runtime::lets_in(parent.read, caller)) continue;
    Item naming;
    for (const auto& [theirs, ours] : relation.by) {
      if (const auto* content = attributes.find(ours)) naming.set(theirs, *content);
    }
    const bool named = std::ranges::all_of(relation.by, [&](const auto& pair) {
      return naming.find(pair.first) != nullptr || parent.owner == pair.first;
    });
    if (!named) continue;
    const auto found = runtime::find_visible(transaction, model, parent, naming, caller, false);
    if (!found) return found.error();
  }
  return {};
}

// Whether the path says all that these grants are looked up by; the body may have the rest.
bool names_grants(const std::vector<const model::Grant*>& grants, const Item& named) {
  return std::ranges::all_of(grants, [&](const model::Grant* grant) {
    return std::ranges::all_of(
        grant->key, [&](const auto& pair) { return pair.second == "me" || named.find(pair.second) != nullptr; });
  });
}

Result<void, Problem> check_create(Transaction& transaction, const model::Model& model, const model::Entity& entity,
                                   const Item& named, const Caller& caller) {
  if (!names_grants(entity.create.grants, named)) return {};
  const auto owned = runtime::with_owner(transaction, entity, named, caller);
  if (!owned && owned.error().kind != ProblemKind::Invalid) return owned.error();
  return check_named_parents(transaction, model, entity, owned ? *owned : named, caller);
}

Result<void, Problem> check_target(Transaction& transaction, const model::Model& model, const EntityTarget& target,
                                   const Item& named, const Caller& caller) {
  using Operation = EntityOperation;
  const auto& entity = *target.entity;
  if (target.operation == Operation::Create) return check_create(transaction, model, entity, named, caller);
  if (target.operation != Operation::Update && target.operation != Operation::Put) return {};
  if (!names_grants(entity.update.grants, named) || !names_grants(entity.read.grants, named)) {
    return {};
  }
  const bool put = target.operation == Operation::Put;
  const auto found = runtime::find_for(transaction, model, entity, named, entity.update, caller, put);
  if (found) return runtime::check_place(entity, named, *found->draft->after);
  const auto why = found.error().kind;
  const bool may_be_created = put && (why == ProblemKind::NotFound || why == ProblemKind::Unauthenticated);
  if (!may_be_created) return found.error();
  return check_create(transaction, model, entity, named, caller);
}

Result<void, Problem> check_target(Transaction& transaction, const model::Model& model, const model::Action* action,
                                   const Item& named, const Caller& caller) {
  TRY(runtime::check_caller(action->access, caller));
  // Only where the path names it: what the body has to say of it is not known yet.
  const auto* within = action->within;
  if (within == nullptr || within->path.empty() || !action->path.starts_with(within->path)) return {};
  if (!names_grants(action->access.grants, named) || !names_grants(within->read.grants, named)) {
    return {};
  }
  TRY(runtime::find_within(transaction, model, *action, named, caller, false));
  return {};
}

Result<void, Problem> check_target(Transaction& /*transaction*/, const model::Model& /*model*/,
                                   const model::Pattern* /*pattern*/, const Item& /*named*/, const Caller& /*caller*/) {
  return {};
}

Result<void, Problem> check_caller_of(const EntityTarget& target, const Caller& caller) {
  if (caller.subject || caller.system) return {};
  const auto& entity = *target.entity;
  switch (target.operation) {
    case EntityOperation::Create: return runtime::check_caller(entity.create, caller);
    case EntityOperation::Update: return runtime::check_caller(entity.update, caller);
    case EntityOperation::Put:
      if (runtime::check_caller(entity.create, caller)) return {};
      return runtime::check_caller(entity.update, caller);
    default: return {};
  }
}
Result<void, Problem> check_caller_of(const model::Action* action, const Caller& caller) {
  return runtime::check_caller(action->access, caller);
}
Result<void, Problem> check_caller_of(const model::Pattern* /*pattern*/, const Caller& /*caller*/) { return {}; }

}  // namespace

Result<void, Problem> check_caller(const Route& route, const Caller& caller) {
  return std::visit([&](const auto& target) { return check_caller_of(target, caller); }, route.target);
}

Result<void, Problem> check_rows_first(runtime::Repository& repository, const Route& route, const Item& named,
                                       const RestCall& call) {
  if (call.body.size() <= kLargeBody) return {};
  return repository.transact([&](Transaction& transaction) {
    return std::visit(
        [&](const auto& target) { return check_target(transaction, repository.model(), target, named, call.caller()); },
        route.target);
  });
}

}  // namespace stator::app
