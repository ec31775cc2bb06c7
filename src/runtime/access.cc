#include "stator/runtime/access.h"

#include <algorithm>

#include "stator/model/rows.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {
namespace {

using model::Entity;
using model::Grant;
using model::Model;
using value::AttributeValue;
using value::Item;

template <typename T>
bool contains(const std::vector<T>& list, const T& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool owns(const Entity& entity, const Item& attributes, const Caller& caller) {
  if (!entity.owner || !caller.subject) return false;
  const auto* owner = attributes.find(*entity.owner);
  return owner != nullptr && *owner == AttributeValue::string(*caller.subject);
}

// Adds an attribute and the attributes that it is derived from.
void add_with_sources(const Entity& entity, const std::string& name, std::vector<std::string>& names) {
  if (contains(names, name)) return;
  names.push_back(name);
  const auto* attribute = entity.find_attribute(name);
  if (attribute == nullptr || !attribute->derived) return;
  for (const auto& source : attribute->derived->paths()) add_with_sources(entity, source, names);
}

// The attributes that name an entity in their one spelling; nullopt when no entity can have such ones.
std::optional<Item> normalised(const Entity& entity, const Item& naming) {
  const auto& identity = entity.identity;
  std::vector<std::string> names;
  for (const auto& name : identity) add_with_sources(entity, name, names);
  Item named;
  std::vector<model::ValueProblem> problems;
  for (const auto& name : names) {
    const auto* content = naming.find(name);
    if (content == nullptr) continue;
    auto& value = named.set(name, *content);
    if (const auto* attribute = entity.find_attribute(name)) model::check_value(attribute->type, name, value, problems);
  }
  if (!problems.empty()) return std::nullopt;
  const bool any_derived = std::any_of(identity.begin(), identity.end(), [&](const std::string& name) {
    const auto* attribute = entity.find_attribute(name);
    return attribute != nullptr && attribute->derived;
  });
  if (!any_derived) return named;
  auto derived = named;
  if (!model::derive(entity, derived).ok()) return std::nullopt;
  for (const auto& name : identity) {
    const auto* content = derived.find(name);
    if (content != nullptr && named.find(name) == nullptr) named.set(name, *content);
  }
  return named;
}

Item with_default_owner(const Entity& entity, Item naming, const Caller& caller) {
  if (entity.owner && caller.subject && naming.find(*entity.owner) == nullptr) {
    naming.set(*entity.owner, AttributeValue::string(*caller.subject));
  }
  return naming;
}

// The row of that name, unless an entity that it belongs to is gone. Without `include_deleted`, also not if the row or
// such an entity is deleted softly.
Result<Draft*, Problem> find_row(Transaction& transaction, const Entity& entity, const Item& naming,
                                 bool include_deleted) {
  const auto named = normalised(entity, naming);
  if (!named) return nullptr;
  auto loaded = transaction.load(entity, *named);
  if (!loaded && loaded.error().kind == ProblemKind::Invalid) return nullptr;  // no key can be made from this
  auto* draft = TRY(std::move(loaded));
  if (draft == nullptr) return nullptr;
  const auto presence = TRY(transaction.presence(*draft));
  return presence.there() || (include_deleted && !presence.gone) ? draft : nullptr;
}

// Whether the caller may read it.  The condition of a public row is checked with the sources of its copies: the items
// of a list that was just made private are hidden at once, before their copies change.
Result<bool, Problem> may_read(Transaction& transaction, const Model& model, const Entity& entity,
                               const Item& attributes, const Caller& caller) {
  const auto& access = entity.read;
  if (!TRY(lets_in(access, entity, attributes, caller))) return false;
  const bool by_condition = access.anyone_when && !lets_in(access, caller) && !owns(entity, attributes, caller);
  if (!by_condition) return true;
  auto now = attributes;
  for (const auto& name : access.anyone_when->paths()) {
    const auto* attribute = entity.find_attribute(name);
    if (attribute == nullptr || !attribute->copy_of) continue;
    const auto& parent = *attribute->copy_of->through;
    const auto key = TRY(checked(model::parent_key(model, entity, parent, attributes)));
    const auto* source = key ? TRY(transaction.load_key(*parent.to, *key)) : nullptr;
    const auto* content = source == nullptr ? nullptr : source->after->find(attribute->copy_of->attribute);
    if (content != nullptr)
      now.set(name, *content);
    else
      now.erase(name);
  }
  return lets_in(access, entity, now, caller);
}

// Whether a grant is about a row: the row has the values of the pointer, those that the grant gives and those of its
// key.
bool is_meant(const Grant& grant, const Item& gives, const Item& asked, const Item& row) {
  const auto same = [&](const std::string& name, const AttributeValue* content) {
    const auto* found = row.find(name);
    return found != nullptr && content != nullptr && *found == *content;
  };
  return std::all_of(gives.begin(), gives.end(), [&](const auto& given) { return same(given.name, &given.value); }) &&
         std::all_of(grant.key.begin(), grant.key.end(), [&](const auto& pair) {
           return pair.second == "me" || same(pair.second, asked.find(pair.second));
         });
}

// The pointer of a grant, and the attributes that it gives.
struct Pointer {
  const Draft* draft = nullptr;
  Item gives;
};

// The caller's pointer for these attributes.  With `include_deleted`, an entity that the pointer belongs to may be
// deleted; the pointer itself is not.
Result<std::optional<Pointer>, Problem> find_pointer(Transaction& transaction, const Grant& grant, const Item& asked,
                                                     const Caller& caller, bool include_deleted) {
  if (!caller.subject) return std::optional<Pointer>();
  Item naming;
  for (const auto& [theirs, ours] : grant.key) {
    if (ours == "me") {
      naming.set(theirs, AttributeValue::string(*caller.subject));
    } else if (const auto* content = asked.find(ours)) {
      naming.set(theirs, *content);
    }
  }
  const auto* found = TRY(find_row(transaction, *grant.pointer, naming, include_deleted));
  if (found == nullptr || !is_live(*grant.pointer, *found->after)) return std::optional<Pointer>();
  Pointer pointer{.draft = found, .gives = {}};
  for (const auto& [ours, theirs] : grant.gives) {
    if (const auto* content = found->after->find(theirs)) pointer.gives.set(ours, *content);
  }
  return std::optional(std::move(pointer));
}

// The row that a pointer of the caller's leads to; null when there is none.  A pointer may be hidden by the deletion
// that hides the row, such as that of a tenant to which both belong, and by no other.
Result<Draft*, Problem> find_through(Transaction& transaction, const Entity& entity, const Grant& grant,
                                     const Item& naming, const Caller& caller, bool include_deleted) {
  const auto pointer = TRY(find_pointer(transaction, grant, naming, caller, include_deleted));
  if (!pointer) return nullptr;
  auto theirs = naming;
  for (const auto& [attribute, content] : pointer->gives) theirs.set(attribute, content);
  auto* draft = TRY(find_row(transaction, entity, theirs, include_deleted));
  if (draft == nullptr || !is_meant(grant, pointer->gives, naming, *draft->after)) return nullptr;
  const auto hides_pointer = TRY(transaction.presence(*pointer->draft)).deleted;
  const auto hides_row = TRY(transaction.presence(*draft)).deleted;
  return std::ranges::includes(hides_row, hides_pointer) ? draft : nullptr;
}

// Whether the caller may delete an entity that is deleted already, and so restore and purge it.
Result<bool, Problem> may_remove(Transaction& transaction, const Draft& deleted, const Caller& caller) {
  const auto& access = deleted.entity->remove;
  if (TRY(lets_in(access, *deleted.entity, *deleted.after, caller))) return true;
  for (const auto* grant : access.grants) {
    if (TRY(find_through(transaction, *deleted.entity, *grant, *deleted.after, caller, true)) == &deleted) {
      return true;
    }
  }
  return false;
}

// A deleted row, and the rows below it, exist only for callers who may delete it.
Result<bool, Problem> may_look_behind(Transaction& transaction, const Draft& draft, const Caller& caller) {
  for (const auto* deleted : TRY(transaction.presence(draft)).deleted) {
    if (!TRY(may_remove(transaction, *deleted, caller))) return false;
  }
  return true;
}

Problem not_admitted(const Caller& caller) { return caller.subject ? forbidden() : unauthenticated(); }

}  // namespace

bool lets_in(const model::Access& access, const Caller& caller) {
  if (caller.system || access.anyone) return true;
  if (access.signed_in && caller.subject) return true;
  return std::any_of(caller.roles.begin(), caller.roles.end(),
                     [&](const std::string& role) { return contains(access.roles, role); });
}

Result<bool, Problem> lets_in(const model::Access& access, const Entity& entity, const Item& attributes,
                              const Caller& caller) {
  if (lets_in(access, caller) || (access.owner && owns(entity, attributes, caller))) return true;
  if (!access.anyone_when) return false;
  const model::Expression::Scope scope{
      .attribute = [&](std::string_view name) { return attributes.find(name); }, .input = {}, .generate = {}};
  return checked(access.anyone_when->holds(scope));
}

Result<void, Problem> check_caller(const model::Access& access, const Caller& caller) {
  if (lets_in(access, caller) || access.anyone_when) return {};
  if (!caller.subject) return unauthenticated();
  if (access.owner || !access.grants.empty()) return {};
  return forbidden();
}

Result<std::optional<Item>, Problem> look_up(Transaction& transaction, const Grant& grant, const Item& asked,
                                             const Caller& caller) {
  auto pointer = TRY(find_pointer(transaction, grant, asked, caller, false));
  return pointer ? std::optional(std::move(pointer->gives)) : std::nullopt;
}

Result<Visible, Problem> find_visible(Transaction& transaction, const Model& model, const Entity& entity,
                                      const Item& naming, const Caller& caller, bool include_deleted) {
  const auto own = with_default_owner(entity, naming, caller);
  // A caller who may delete a row sees it after its deletion, even if `read` does not allow that.
  const auto is_deleted = [&](const Draft& found) { return !is_live(entity, *found.after); };
  auto* draft = TRY(find_row(transaction, entity, own, include_deleted));
  if (draft != nullptr) {
    const auto& row = *draft->after;
    const bool lets = is_deleted(*draft) ? TRY(lets_in(entity.remove, entity, row, caller))
                                         : TRY(may_read(transaction, model, entity, row, caller));
    if (lets && TRY(may_look_behind(transaction, *draft, caller))) {
      return Visible{.draft = draft, .grant = nullptr};
    }
  }
  auto grants = entity.read.grants;
  if (include_deleted) grants.insert(grants.end(), entity.remove.grants.begin(), entity.remove.grants.end());
  for (const auto* grant : grants) {
    auto* shared = TRY(find_through(transaction, entity, *grant, naming, caller, include_deleted));
    if (shared == nullptr || (!is_deleted(*shared) && !contains(entity.read.grants, grant))) continue;
    if (TRY(may_look_behind(transaction, *shared, caller))) return Visible{.draft = shared, .grant = grant};
  }
  const bool would_help = !entity.read.anyone && !caller.subject && !caller.system && !entity.read.anyone_when;
  if (would_help) return unauthenticated();
  const bool of_others = entity.owner && own.find(*entity.owner) != nullptr && !owns(entity, own, caller);
  return of_others ? not_found(entity.name) : no_such(model, entity);
}

Result<std::optional<Visible>, Problem> admitted(Transaction& transaction, const Visible& seen, const Item& naming,
                                                 const model::Access& access, const Caller& caller,
                                                 bool include_deleted) {
  const auto& entity = *seen.draft->entity;
  if (TRY(lets_in(access, entity, *seen.draft->after, caller))) return std::optional(seen);
  if (seen.grant != nullptr && contains(access.grants, seen.grant)) return std::optional(seen);
  for (const auto* grant : access.grants) {
    const auto* found = TRY(find_through(transaction, entity, *grant, naming, caller, include_deleted));
    if (found == seen.draft) return std::optional(Visible{.draft = seen.draft, .grant = grant});
  }
  return std::optional<Visible>();
}

Result<Visible, Problem> find_for(Transaction& transaction, const Model& model, const Entity& entity,
                                  const Item& naming, const model::Access& access, const Caller& caller,
                                  bool include_deleted) {
  auto found = find_visible(transaction, model, entity, naming, caller, include_deleted);
  if (found) {
    const auto let_in = TRY(admitted(transaction, *found, naming, access, caller, include_deleted));
    if (!let_in) return not_admitted(caller);
    return *let_in;
  }
  // Something that one may change without being able to see it.
  const auto own = with_default_owner(entity, naming, caller);
  auto* draft = TRY(find_row(transaction, entity, own, false));
  if (draft != nullptr && TRY(lets_in(access, entity, *draft->after, caller))) {
    return Visible{.draft = draft, .grant = nullptr};
  }
  for (const auto* grant : access.grants) {
    auto* shared = TRY(find_through(transaction, entity, *grant, naming, caller, false));
    if (shared != nullptr) return Visible{.draft = shared, .grant = grant};
  }
  return found;
}

Result<Visible, Problem> find_within(Transaction& transaction, const Model& model, const model::Action& action,
                                     const Item& inputs, const Caller& caller, bool include_deleted) {
  const auto& entity = *action.within;
  const auto seen = TRY(find_visible(transaction, model, entity, inputs, caller, include_deleted));
  if (!entity.path.empty() && action.path.starts_with(entity.path)) {
    TRY(check_place(entity, inputs, *seen.draft->after));
  }
  const auto let_in = TRY(admitted(transaction, seen, inputs, action.access, caller, include_deleted));
  if (let_in) return *let_in;
  // Each step checks its own rows: they can be the caller's own although the entity in `within` is another owner's.
  if (!action.native && seen.grant == nullptr) return seen;
  return not_admitted(caller);
}

Result<void, Problem> check_place(const Entity& entity, const Item& key, const Item& row) {
  for (const auto& [name, content] : key) {
    const auto* attribute = entity.find_attribute(name);
    const bool in_path = entity.path.find("{" + name + "}") != std::string::npos;
    if (attribute == nullptr || !in_path || name == entity.owner) continue;
    auto asked = content;
    std::vector<model::ValueProblem> problems;
    model::check_value(attribute->type, name, asked, problems);
    const auto* found = row.find(name);
    if (!problems.empty() || found == nullptr || *found != asked) return not_found(entity.name);
  }
  return {};
}

namespace {

Result<bool, Problem> is_in_unfinished(Transaction& transaction, const Model& model, const RelationRules& rules,
                                       const Draft& draft) {
  const auto key = TRY(checked(model::parent_key(model, *draft.entity, *rules.relation, *draft.after)));
  const auto* parent = key ? TRY(transaction.load_key(*rules.parent, *key)) : nullptr;
  return parent != nullptr && parent->after && !is_finished(*rules.parent, *parent->after);
}

}  // namespace

Result<void, Problem> check_parents(Transaction& transaction, const Context& context, const Draft& draft,
                                    const Caller& caller) {
  const auto& entity = *draft.entity;
  for (const auto& rules : context.rules.of(entity).relations) {
    const auto& parent = *rules.parent;
    if (parent.unfinished && TRY(is_in_unfinished(transaction, *context.model, rules, draft))) {
      return transaction.missing_parent(entity, rules);
    }
    if (lets_in(parent.read, caller) || (!rules.relation->must_exist && rules.copies.empty())) continue;
    Item naming;
    for (const auto& [theirs, ours] : rules.relation->by) {
      if (const auto* content = draft.after->find(ours)) naming.set(theirs, *content);
    }
    const bool owned_by_name = parent.read.owner && owns(parent, naming, caller);
    if (owned_by_name) continue;  // rows under the caller's own key are the caller's
    const auto key = TRY(checked(model::parent_key(*context.model, entity, *rules.relation, *draft.after)));
    if (!key) continue;
    if (draft.before &&
        key == TRY(checked(model::parent_key(*context.model, entity, *rules.relation, *draft.before)))) {
      continue;
    }
    const auto found = find_visible(transaction, *context.model, parent, naming, caller, false);
    if (found.ok()) continue;
    if (found.error().kind != ProblemKind::NotFound) return found.error();
    if (rules.relation->must_exist) return transaction.missing_parent(entity, rules);
    // A parent that need not be there gives nothing away as long as it really is not there.
    if (TRY(transaction.load(parent, naming)) != nullptr) return transaction.missing_parent(entity, rules);
  }
  return {};
}

Result<void, Problem> check_copied_owner(const Draft& draft, const Caller& caller) {
  const auto& entity = *draft.entity;
  const auto* owner = entity.owner_attribute;
  if (owner == nullptr || !owner->copy_of || lets_in(entity.create, caller)) return {};
  if (owns(entity, *draft.after, caller)) return {};
  return forbidden();
}

Result<Item, Problem> with_owner(Transaction& transaction, const Entity& entity, const Item& attributes,
                                 const Caller& caller) {
  if (caller.system) return attributes;
  TRY(check_caller(entity.create, caller));
  auto owned = attributes;
  const auto take = [&](const std::string& name, const AttributeValue& content) -> Result<void, Problem> {
    const auto* given = owned.find(name);
    if (given != nullptr && *given != content) return invalid({{name, "cannot be set"}});
    owned.set(name, content);
    return {};
  };
  for (const auto* grant : entity.create.grants) {
    const auto gives = TRY(look_up(transaction, *grant, attributes, caller));
    if (!gives) continue;
    for (const auto& [attribute, content] : *gives) TRY(take(attribute, content));
    return owned;
  }
  if (!lets_in(entity.create, caller) && !entity.create.owner) return forbidden();
  const auto* owner = entity.owner_attribute;
  const bool copied = owner != nullptr && owner->copy_of;  // the parent says whose it is
  if (owner != nullptr && !copied && caller.subject) {
    TRY(take(owner->name, AttributeValue::string(*caller.subject)));
  }
  return owned;
}

}  // namespace stator::runtime
