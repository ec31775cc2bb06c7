#include "stator/runtime/repository.h"

#include <algorithm>

#include "stator/model/validate.h"
#include "stator/runtime/object.h"
#include "stator/runtime/parts.h"
#include "stator/runtime/problems.h"

namespace stator::runtime {
namespace {

using model::Entity;
using value::Item;

Outcome<Done> check_version(const model::Table& table, const Draft& draft, const Precondition& precondition) {
  if (precondition.holds(version_of(table, *draft.after))) return Done{};
  return version_mismatch();
}

// `given` without what cannot be changed and is not going to.
model::PlainObject without_repetitions(const Entity& entity, const Item& now, model::PlainObject given) {
  for (const auto& attribute : entity.attributes) {
    auto* content = given.values.find(attribute.name);
    if (content == nullptr || (!attribute.immutable && attribute.name != entity.owner)) continue;
    std::vector<model::Problem> problems;
    model::check_value(attribute.type, attribute.name, *content, problems);
    const auto* kept = now.find(attribute.name);
    if (problems.empty() && kept != nullptr && *kept == *content) given.values.erase(attribute.name);
  }
  return given;
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

// What `key` names, for somebody who wants to do what `access` guards.
Outcome<Visible> find_at(Transaction& transaction, const Context& context, const Entity& entity, const Item& key,
                         const model::Access& access, const Caller& caller, bool include_deleted) {
  auto found = ATTEMPT(find_for(transaction, *context.model, entity, key, access, caller, include_deleted));
  ATTEMPT(check_place(entity, key, *found.draft->after));
  return found;
}

Outcome<Draft*> create_for(Transaction& transaction, const Context& context, const Entity& entity,
                           const Item& attributes, const Caller& caller) {
  auto owned = with_owner(transaction, *context.model, entity, attributes, caller);
  if (!owned && owned.problem().kind == ProblemKind::Invalid) {  // told with all else that is wrong
    auto problem = owned.problem();
    auto values = attributes;
    for (auto& more : check_new(entity, values, Source::Request)) problem.details.push_back(std::move(more));
    check_complete(entity, values, problem.details);
    return problem;
  }
  auto given = ATTEMPT(std::move(owned));
  // A number that goes on from the last one tells of what is there, so whose it is comes first.
  const bool numbered = std::any_of(entity.attributes.begin(), entity.attributes.end(),
                                    [](const model::Attribute& attribute) { return attribute.next.has_value(); });
  if (auto values = given; numbered && check_new(entity, values, Source::Request).empty()) {
    const Draft probe{
        .entity = &entity, .key = {}, .before = std::nullopt, .after = std::move(values), .by_user = true};
    ATTEMPT(check_parents(transaction, context, probe, caller));
  }
  Draft* draft = ATTEMPT(transaction.create(entity, std::move(given), Source::Request));
  ATTEMPT(check_parents(transaction, context, *draft, caller));
  ATTEMPT(check_copied_owner(*draft, caller));
  return draft;
}

// What to tell of a create that failed with `problem`.
Problem refused_create(Context& context, const Entity& entity, const Item& attributes, const Caller& caller,
                       const Problem& problem) {
  if (problem.kind != ProblemKind::NotFound) return problem;
  Transaction transaction(context);
  const auto sees = sees_a_parent(transaction, context, entity, attributes, caller);
  if (!sees) return sees.problem();
  return *sees ? forbidden() : problem;
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

bool Precondition::holds(std::optional<std::uint64_t> version) const {
  if (!version) return !present && !versions;
  const auto is_version = [&](std::uint64_t one) { return one == *version; };
  if (absent || std::any_of(other_than.begin(), other_than.end(), is_version)) return false;
  return !versions || std::any_of(versions->begin(), versions->end(), is_version);
}

Outcome<Object> Repository::create(const Entity& entity, const Item& attributes, const Caller& caller) {
  const auto build = [&](Transaction& transaction) -> Outcome<Object> {
    auto* draft = ATTEMPT(create_for(transaction, parts_->context, entity, attributes, caller));
    ATTEMPT(parts_->follow(transaction, *draft));
    return to_object(model(), entity, *draft->after);
  };
  auto created = parts_->with_room(entity, attributes, [&] { return runtime::transact(parts_->context, build); });
  if (created.ok()) return created;
  return refused_create(parts_->context, entity, attributes, caller, created.problem());
}

Outcome<PutResult> Repository::put(const Entity& entity, const Item& key, const model::PlainObject& given,
                                   const Caller& caller, const Precondition& precondition) {
  auto attributes = key;
  for (const auto& [name, content] : given.values) attributes.set(name, content);
  bool creating = false;
  const auto build = [&](Transaction& transaction) -> Outcome<PutResult> {
    auto found = find_at(transaction, parts_->context, entity, key, entity.update, caller, true);
    creating = !found;
    if (!creating) {
      auto& draft = *found->draft;
      if (!ATTEMPT(transaction.is_present(draft))) return not_found(entity.name);
      ATTEMPT(check_version(model().table, draft, precondition));
      ATTEMPT(transaction.change(draft, without_repetitions(entity, *draft.after, given), Source::Request));
      ATTEMPT(check_parents(transaction, parts_->context, draft, caller));
      ATTEMPT(parts_->follow(transaction, draft));
      return PutResult{.object = to_object(model(), entity, *draft.after), .created = false};
    }
    const auto why = found.problem().kind;
    if (why != ProblemKind::NotFound && why != ProblemKind::Unauthenticated) return found.problem();
    const auto created = create_for(transaction, parts_->context, entity, attributes, caller);
    // It has been read, and is not for this caller.
    if (!created && created.problem().code == "Exists") return not_found(entity.name);
    auto* draft = ATTEMPT(created);
    ATTEMPT(transaction.retry_when_taken(*draft));
    if (!precondition.holds(std::nullopt)) return version_mismatch("there is no such " + entity.name);
    ATTEMPT(parts_->follow(transaction, *draft));
    return PutResult{.object = to_object(model(), entity, *draft->after), .created = true};
  };
  auto result = parts_->with_room(entity, attributes, [&] { return runtime::transact(parts_->context, build); });
  if (result.ok() || !creating) return result;
  return refused_create(parts_->context, entity, attributes, caller, result.problem());
}

Outcome<Object> Repository::get(const Entity& entity, const Item& key, const Caller& caller,
                                const ReadOptions& options) {
  Transaction transaction(parts_->context, options.consistent);
  const auto found = ATTEMPT(find_visible(transaction, model(), entity, key, caller, options.include_deleted));
  ATTEMPT(check_place(entity, key, *found.draft->after));
  return to_object(model(), entity, std::move(*found.draft->after));
}

Outcome<Object> Repository::get_within(const model::Action& action, const Item& inputs, const Caller& caller,
                                       const ReadOptions& options) {
  Transaction transaction(parts_->context, options.consistent);
  const auto found = ATTEMPT(find_within(transaction, model(), action, inputs, caller, options.include_deleted));
  return to_object(model(), *found.draft->entity, std::move(*found.draft->after));
}

Outcome<Object> Repository::update(const Entity& entity, const Item& key, const model::PlainObject& changes,
                                   const Caller& caller, const WriteOptions& options) {
  const auto build = [&](Transaction& transaction) -> Outcome<Object> {
    const auto found =
        ATTEMPT(find_at(transaction, parts_->context, entity, key, entity.update, caller, options.include_deleted));
    ATTEMPT(check_version(model().table, *found.draft, options.precondition));
    ATTEMPT(transaction.change(*found.draft, changes, Source::Request));
    ATTEMPT(check_parents(transaction, parts_->context, *found.draft, caller));
    ATTEMPT(parts_->follow(transaction, *found.draft));
    return to_object(model(), entity, *found.draft->after);
  };
  return parts_->with_room(entity, key, [&] { return runtime::transact(parts_->context, build); });
}

Outcome<Done> Repository::remove(const Entity& entity, const Item& key, const Caller& caller,
                                 const WriteOptions& options) {
  return runtime::transact(parts_->context, [&](Transaction& transaction) -> Outcome<Done> {
    const auto found = ATTEMPT(find_at(transaction, parts_->context, entity, key, entity.remove, caller, false));
    if (entity.append_only) return conflict("AppendOnly", entity.name + " is never removed");
    ATTEMPT(check_version(model().table, *found.draft, options.precondition));
    return entity.soft_delete ? transaction.soft_delete(*found.draft) : transaction.remove(*found.draft);
  });
}

Outcome<Object> Repository::restore(const Entity& entity, const Item& key, const Caller& caller,
                                    const WriteOptions& options) {
  if (!entity.soft_delete) return not_found(entity.name);
  return runtime::transact(parts_->context, [&](Transaction& transaction) -> Outcome<Object> {
    const auto found = ATTEMPT(find_at(transaction, parts_->context, entity, key, entity.remove, caller, true));
    if (is_live(entity, *found.draft->after)) return conflict("NotDeleted", "this " + entity.name + " is not deleted");
    ATTEMPT(check_version(model().table, *found.draft, options.precondition));
    ATTEMPT(transaction.restore(*found.draft));
    return to_object(model(), entity, *found.draft->after);
  });
}

Outcome<Done> Repository::purge(const Entity& entity, const Item& key, const Caller& caller,
                                const WriteOptions& options) {
  if (!entity.soft_delete) return remove(entity, key, caller, options);
  return runtime::transact(parts_->context, [&](Transaction& transaction) -> Outcome<Done> {
    const auto found = ATTEMPT(find_at(transaction, parts_->context, entity, key, entity.remove, caller, true));
    if (is_live(entity, *found.draft->after)) return conflict("NotDeleted", "this " + entity.name + " is not deleted");
    ATTEMPT(check_version(model().table, *found.draft, options.precondition));
    return transaction.remove(*found.draft);
  });
}

void Repository::follow(const Entity& entity, Follow follow) { parts_->follows[&entity] = std::move(follow); }

void Repository::make_room(const Entity& entity, MakeRoom make_room) {
  parts_->room_makers[&entity] = std::move(make_room);
}

Outcome<Done> Repository::transact(const std::function<Outcome<Done>(Transaction&)>& build) {
  return runtime::transact(parts_->context, build);
}

}  // namespace stator::runtime
