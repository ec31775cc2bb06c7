#include "stator/runtime/repository.h"

#include "stator/runtime/object.h"
#include "stator/runtime/parts.h"
#include "stator/runtime/problems.h"

namespace stator::runtime {
namespace {

using model::Entity;
using value::Item;

Outcome<Done> check_version(const model::Table& table, const Draft& draft, const WriteOptions& options) {
  if (!options.expected_version || *options.expected_version == version_of(table, *draft.after)) return Done{};
  return Problem{ProblemKind::PreconditionFailed, "VersionMismatch", "it has been changed since", {}};
}

// Somebody who may read a parent through a grant, and not write, is told so rather than that the parent is not there.
Outcome<bool> sees_a_parent(Transaction& transaction, const Context& context, const Entity& entity,
                            const Item& attributes, const Caller& caller) {
  for (const auto& rules : context.rules.of(entity).relations) {
    if (rules.parent->read.grants.empty()) continue;
    Item naming;
    for (const auto& [theirs, ours] : rules.relation->by) {
      const auto* content = attributes.find(ours);
      if (content != nullptr && rules.parent->owner != theirs) naming.set(theirs, *content);
    }
    const auto found = find_visible(transaction, *context.model, *rules.parent, naming, caller, false);
    if (found.ok() && found->grant != nullptr) return true;
  }
  return false;
}

}  // namespace

Repository::Repository(std::shared_ptr<const model::Model> model, client::Client& client, const Clock& clock,
                       Random& random)
    : parts_(std::make_unique<Parts>(Parts{.context = {.model = model,
                                                       .dynamo = Dynamo(client, random),
                                                       .generator = Generator(clock, random),
                                                       .rules = Rules(*model),
                                                       .random = random}})) {}

Repository::~Repository() = default;

const model::Model& Repository::model() const { return parts_->model(); }
client::Client& Repository::client() const { return parts_->context.dynamo.client(); }

Outcome<Object> Repository::create(const Entity& entity, const Item& attributes, const Caller& caller) {
  auto created = runtime::transact(parts_->context, [&](Transaction& transaction) -> Outcome<Object> {
    auto owned = ATTEMPT(with_owner(transaction, model(), entity, attributes, caller));
    auto* draft = ATTEMPT(transaction.create(entity, std::move(owned), Source::Request));
    ATTEMPT(check_parents(transaction, parts_->context, *draft, caller));
    ATTEMPT(check_copied_owner(*draft, caller));
    ATTEMPT(parts_->follow(transaction, *draft));
    return to_object(model(), entity, *draft->after);
  });
  if (!created && created.problem().kind == ProblemKind::NotFound) {
    Transaction transaction(parts_->context);
    if (ATTEMPT(sees_a_parent(transaction, parts_->context, entity, attributes, caller))) return forbidden();
  }
  return created;
}

Outcome<Object> Repository::get(const Entity& entity, const Item& key, const Caller& caller,
                                const ReadOptions& options) {
  Transaction transaction(parts_->context, options.consistent);
  const auto found = ATTEMPT(find_visible(transaction, model(), entity, key, caller, options.include_deleted));
  return to_object(model(), entity, std::move(*found.draft->after));
}

Outcome<Object> Repository::update(const Entity& entity, const Item& key, const model::PlainObject& changes,
                                   const Caller& caller, const WriteOptions& options) {
  return runtime::transact(parts_->context, [&](Transaction& transaction) -> Outcome<Object> {
    const auto found =
        ATTEMPT(find_for(transaction, model(), entity, key, entity.update, caller, options.include_deleted));
    ATTEMPT(check_version(model().table, *found.draft, options));
    ATTEMPT(transaction.change(*found.draft, changes, Source::Request));
    ATTEMPT(check_parents(transaction, parts_->context, *found.draft, caller));
    ATTEMPT(parts_->follow(transaction, *found.draft));
    return to_object(model(), entity, *found.draft->after);
  });
}

Outcome<Done> Repository::remove(const Entity& entity, const Item& key, const Caller& caller,
                                 const WriteOptions& options) {
  return runtime::transact(parts_->context, [&](Transaction& transaction) -> Outcome<Done> {
    const auto found = ATTEMPT(find_for(transaction, model(), entity, key, entity.remove, caller, false));
    if (entity.append_only) return conflict("AppendOnly", entity.name + " is never removed");
    ATTEMPT(check_version(model().table, *found.draft, options));
    return entity.soft_delete ? transaction.soft_delete(*found.draft) : transaction.remove(*found.draft);
  });
}

Outcome<Object> Repository::restore(const Entity& entity, const Item& key, const Caller& caller,
                                    const WriteOptions& options) {
  if (!entity.soft_delete) return not_found(entity.name);
  return runtime::transact(parts_->context, [&](Transaction& transaction) -> Outcome<Object> {
    const auto found = ATTEMPT(find_for(transaction, model(), entity, key, entity.remove, caller, true));
    if (is_live(entity, *found.draft->after)) return conflict("NotDeleted", "this " + entity.name + " is not deleted");
    ATTEMPT(check_version(model().table, *found.draft, options));
    ATTEMPT(transaction.restore(*found.draft));
    return to_object(model(), entity, *found.draft->after);
  });
}

Outcome<Done> Repository::purge(const Entity& entity, const Item& key, const Caller& caller,
                                const WriteOptions& options) {
  if (!entity.soft_delete) return remove(entity, key, caller, options);
  return runtime::transact(parts_->context, [&](Transaction& transaction) -> Outcome<Done> {
    const auto found = ATTEMPT(find_for(transaction, model(), entity, key, entity.remove, caller, true));
    if (is_live(entity, *found.draft->after)) return conflict("NotDeleted", "this " + entity.name + " is not deleted");
    ATTEMPT(check_version(model().table, *found.draft, options));
    return transaction.remove(*found.draft);
  });
}

void Repository::follow(const Entity& entity, Follow follow) { parts_->follows[&entity] = std::move(follow); }

Outcome<Done> Repository::transact(const std::function<Outcome<Done>(Transaction&)>& build) {
  return runtime::transact(parts_->context, build);
}

}  // namespace stator::runtime
