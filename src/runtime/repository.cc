#include "stator/runtime/repository.h"

#include <algorithm>

#include "stator/model/body_shape.h"
#include "stator/model/validate.h"
#include "stator/runtime/object.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/repository_state.h"

namespace stator::runtime {
namespace {

using model::Entity;
using value::Item;

Result<void, Problem> check_version(const model::TableDesign& table, const Draft& draft,
                                    const Precondition& precondition) {
  if (precondition.holds(version_of(table, *draft.after))) return {};
  return version_mismatch();
}

// `given` without immutable attributes that keep their value.
model::PlainObject without_repetitions(const Entity& entity, const Item& now, model::PlainObject given) {
  for (const auto& attribute : entity.attributes) {
    auto* content = given.values.find(attribute.name);
    if (content == nullptr || (!attribute.immutable && attribute.name != entity.owner)) continue;
    std::vector<model::ValueProblem> problems;
    model::check_value(attribute.type, attribute.name, *content, problems);
    const auto* kept = now.find(attribute.name);
    if (problems.empty() && kept != nullptr && *kept == *content) given.values.erase(attribute.name);
  }
  return given;
}

// A caller who may read a parent through a grant, but not write, is told so, and not that the parent does not exist.
Result<bool, Problem> sees_a_parent(Transaction& transaction, const Context& context, const Entity& entity,
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

// The entity that `key` names, for a caller whose operation `access` guards.
Result<Visible, Problem> find_at(Transaction& transaction, const Context& context, const Entity& entity,
                                 const Item& key, const model::Access& access, const Caller& caller,
                                 bool include_deleted) {
  auto found = TRY(find_for(transaction, *context.model, entity, key, access, caller, include_deleted));
  TRY(check_place(entity, key, *found.draft->after));
  return found;
}

// The problem of a caller who creates an entity at a place in the path that belongs to another owner.
Problem not_their_place(Transaction& transaction, const Context& context, const Entity& entity, const Item& attributes,
                        const Caller& caller, std::string_view path) {
  for (const auto& rules : context.rules.of(entity).relations) {
    Item naming;
    for (const auto& [theirs, ours] : rules.relation->by) {
      const auto* content = model::has_parameter(path, ours) ? attributes.find(ours) : nullptr;
      if (content != nullptr) naming.set(theirs, *content);
    }
    if (naming.size() != rules.relation->by.size()) continue;
    const auto found = find_visible(transaction, *context.model, *rules.parent, naming, caller, false);
    if (!found) return found.error();
  }
  return forbidden();
}

// `path`: its parameters are in the address of the request.
Result<Draft*, Problem> create_for(Transaction& transaction, const Context& context, const Entity& entity,
                                   const Item& attributes, const Caller& caller, std::string_view path) {
  transaction.name_by([path = std::string(path)](const Entity& one, const std::string& attribute) {
    return names_in_route(one, path, attribute);
  });
  auto owned = with_owner(transaction, entity, attributes, caller);
  if (!owned && owned.error().kind == ProblemKind::Invalid) {
    auto problem = owned.error();
    if (model::has_parameter(path, problem.details.front().attribute)) {
      return not_their_place(transaction, context, entity, attributes, caller, path);
    }
    // Told with everything else that is wrong.
    auto values = attributes;
    for (auto& more : check_new(entity, values, ValueSource::Request)) problem.details.push_back(std::move(more));
    check_complete(entity, values, problem.details);
    return problem;
  }
  auto given = TRY(std::move(owned));
  // The next number depends on existing rows, so the access to them is checked first.
  const bool numbered = std::any_of(entity.attributes.begin(), entity.attributes.end(),
                                    [](const model::Attribute& attribute) { return attribute.next.has_value(); });
  if (auto values = given; numbered && check_new(entity, values, ValueSource::Request).empty()) {
    const Draft probe{
        .entity = &entity, .key = {}, .before = std::nullopt, .after = std::move(values), .by_user = true};
    TRY(check_parents(transaction, context, probe, caller));
  }
  Draft* draft = TRY(transaction.create(entity, std::move(given), ValueSource::Request));
  TRY(check_parents(transaction, context, *draft, caller));
  TRY(check_copied_owner(*draft, caller));
  return draft;
}

// The problem to report for a create that failed with `problem`.
Problem refused_create(Context& context, const Entity& entity, const Item& attributes, const Caller& caller,
                       const Problem& problem) {
  if (problem.kind != ProblemKind::NotFound) return problem;
  Transaction transaction(context);
  const auto sees = sees_a_parent(transaction, context, entity, attributes, caller);
  if (!sees) return sees.error();
  return *sees ? forbidden() : problem;
}

}  // namespace

Repository::Repository(std::shared_ptr<const model::Model> model, client::Client& client, const Clock& clock,
                       Random& random)
    : state_(std::make_unique<State>(
          State{.context = {.model = model,
                            .dynamo = Dynamo(client, random, clock),
                            .generator = Generator(clock, random),
                            .rules = Rules(*model),
                            .notice = std::make_unique<MigrationNotice>(*model, client, random, clock),
                            .random = random}})) {}

Repository::~Repository() = default;

const model::Model& Repository::model() const { return state_->model(); }
client::Client& Repository::client() const { return state_->context.dynamo.client(); }

bool Precondition::holds(std::optional<std::uint64_t> version) const {
  if (!version) return !present && !versions;
  const auto is_version = [&](std::uint64_t one) { return one == *version; };
  if (absent || std::any_of(other_than.begin(), other_than.end(), is_version)) return false;
  return !versions || std::any_of(versions->begin(), versions->end(), is_version);
}

Result<Object, Problem> Repository::create(const Entity& entity, const Item& attributes, const Caller& caller) {
  const auto build = [&](Transaction& transaction) -> Result<Object, Problem> {
    auto* draft = TRY(create_for(transaction, state_->context, entity, attributes, caller, entity.collection_path()));
    TRY(state_->follow(transaction, *draft));
    return to_object(model(), entity, *draft->after);
  };
  auto created = state_->with_room(entity, attributes, [&] { return runtime::transact(state_->context, build); });
  if (created.ok()) return created;
  return refused_create(state_->context, entity, attributes, caller, created.error());
}

Result<PutResult, Problem> Repository::put(const Entity& entity, const Item& key, const model::PlainObject& given,
                                           const Caller& caller, const Precondition& precondition) {
  auto attributes = key;
  for (const auto& [name, content] : given.values) attributes.set(name, content);
  bool creating = false;
  const auto build = [&](Transaction& transaction) -> Result<PutResult, Problem> {
    auto found = find_at(transaction, state_->context, entity, key, entity.update, caller, true);
    creating = !found;
    if (!creating) {
      auto& draft = *found->draft;
      if (!TRY(transaction.is_present(draft))) return no_such(model(), entity);
      TRY(check_version(model().table, draft, precondition));
      TRY(transaction.change(draft, without_repetitions(entity, *draft.after, given), ValueSource::Request));
      TRY(check_parents(transaction, state_->context, draft, caller));
      TRY(state_->follow(transaction, draft));
      return PutResult{.object = to_object(model(), entity, *draft.after), .created = false};
    }
    const auto why = found.error().kind;
    if (why != ProblemKind::NotFound && why != ProblemKind::Unauthenticated) return found.error();
    const auto created = create_for(transaction, state_->context, entity, attributes, caller, entity.path);
    // It has been read, and is not for this caller.
    if (!created && created.error().code == "Exists") return no_such(model(), entity);
    auto* draft = TRY(created);
    TRY(transaction.retry_when_taken(*draft));
    if (!precondition.holds(std::nullopt)) return version_mismatch("there is no such " + entity.name);
    TRY(state_->follow(transaction, *draft));
    return PutResult{.object = to_object(model(), entity, *draft->after), .created = true};
  };
  auto result = state_->with_room(entity, attributes, [&] { return runtime::transact(state_->context, build); });
  if (result.ok() || !creating) return result;
  return refused_create(state_->context, entity, attributes, caller, result.error());
}

Result<Object, Problem> Repository::get(const Entity& entity, const Item& key, const Caller& caller,
                                        const ReadOptions& options) {
  Transaction transaction(state_->context, options.consistent);
  const auto found = TRY(find_visible(transaction, model(), entity, key, caller, options.include_deleted));
  TRY(check_place(entity, key, *found.draft->after));
  return to_object(model(), entity, std::move(*found.draft->after));
}

Result<Object, Problem> Repository::get_within(const model::Action& action, const Item& inputs, const Caller& caller,
                                               const ReadOptions& options) {
  Transaction transaction(state_->context, options.consistent);
  const auto found = TRY(find_within(transaction, model(), action, inputs, caller, options.include_deleted));
  return to_object(model(), *found.draft->entity, std::move(*found.draft->after));
}

Result<Object, Problem> Repository::update(const Entity& entity, const Item& key, const model::PlainObject& changes,
                                           const Caller& caller, const WriteOptions& options) {
  const auto build = [&](Transaction& transaction) -> Result<Object, Problem> {
    const auto found =
        TRY(find_at(transaction, state_->context, entity, key, entity.update, caller, options.include_deleted));
    TRY(check_version(model().table, *found.draft, options.precondition));
    TRY(transaction.change(*found.draft, changes, ValueSource::Request));
    TRY(check_parents(transaction, state_->context, *found.draft, caller));
    TRY(state_->follow(transaction, *found.draft));
    return to_object(model(), entity, *found.draft->after);
  };
  return state_->with_room(entity, key, [&] { return runtime::transact(state_->context, build); });
}

Result<void, Problem> Repository::remove(const Entity& entity, const Item& key, const Caller& caller,
                                         const WriteOptions& options) {
  return runtime::transact(state_->context, [&](Transaction& transaction) -> Result<void, Problem> {
    const auto found = TRY(find_at(transaction, state_->context, entity, key, entity.remove, caller, false));
    if (entity.append_only) return conflict("AppendOnly", entity.name + " is never removed");
    TRY(check_version(model().table, *found.draft, options.precondition));
    return entity.soft_delete ? transaction.soft_delete(*found.draft) : transaction.remove(*found.draft);
  });
}

Result<Object, Problem> Repository::restore(const Entity& entity, const Item& key, const Caller& caller,
                                            const WriteOptions& options) {
  if (!entity.soft_delete) return not_found(entity.name);
  return runtime::transact(state_->context, [&](Transaction& transaction) -> Result<Object, Problem> {
    const auto found = TRY(find_at(transaction, state_->context, entity, key, entity.remove, caller, true));
    if (is_live(entity, *found.draft->after)) return conflict("NotDeleted", "this " + entity.name + " is not deleted");
    TRY(check_version(model().table, *found.draft, options.precondition));
    TRY(transaction.restore(*found.draft));
    return to_object(model(), entity, *found.draft->after);
  });
}

Result<void, Problem> Repository::purge(const Entity& entity, const Item& key, const Caller& caller,
                                        const WriteOptions& options) {
  if (!entity.soft_delete) return remove(entity, key, caller, options);
  return runtime::transact(state_->context, [&](Transaction& transaction) -> Result<void, Problem> {
    const auto found = TRY(find_at(transaction, state_->context, entity, key, entity.remove, caller, true));
    if (is_live(entity, *found.draft->after)) return conflict("NotDeleted", "this " + entity.name + " is not deleted");
    TRY(check_version(model().table, *found.draft, options.precondition));
    return transaction.remove(*found.draft);
  });
}

void Repository::follow(const Entity& entity, Follow follow) { state_->follows[&entity] = std::move(follow); }

void Repository::make_room(const Entity& entity, MakeRoom make_room) {
  state_->room_makers[&entity] = std::move(make_room);
}

Result<void, Problem> Repository::transact(const std::function<Result<void, Problem>(Transaction&)>& build) {
  return runtime::transact(state_->context, build);
}

}  // namespace stator::runtime
