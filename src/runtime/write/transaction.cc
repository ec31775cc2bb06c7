#include "stator/runtime/write/transaction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/base/article.h"
#include "stator/model/report.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/rules/requirements.h"
#include "stator/value/same.h"

namespace stator::runtime {
namespace {

using model::Entity;
using value::AttributeValue;
using value::Item;

void strip_transient(const Entity& entity, Item& attributes) {
  for (const auto& attribute : entity.attributes) {
    if (attribute.transient) attributes.erase(attribute.name);
  }
}

// Takes out what the path says of attributes that are not set.
Item take_compared(const Entity& entity, Item& attributes) {
  Item compared;
  for (const auto& attribute : entity.attributes) {
    const auto* content = attributes.find(attribute.name);
    if (content == nullptr || !is_only_compared(entity, attribute)) continue;
    compared.set(attribute.name, *content);
    attributes.erase(attribute.name);
  }
  return compared;
}

// Whether only attributes that drift differ, and derived ones.
bool differs_by_drift_alone(const Entity& entity, const Item& a, const Item& b) {
  return std::all_of(entity.attributes.begin(), entity.attributes.end(), [&](const model::Attribute& attribute) {
    return attribute.drifts || attribute.derived || value::same(a.find(attribute.name), b.find(attribute.name));
  });
}

}  // namespace

Problem exists_already(const model::Model& model, const Entity& entity) {
  std::vector<std::string> family;  // entities that can have this key
  for (const auto& other : model.entities) {
    if (other.key_family == entity.key_family) family.push_back(other.name);
  }
  if (family.size() == 1) return conflict("Exists", "this " + entity.name + " is there already");
  return conflict("Exists",
                  fmt::format("there is {} with this {} already", with_article(model::spelled_out(family, "or")),
                              fmt::join(entity.identity, " and ")));
}

std::uint64_t version_of(const model::TableDesign& table, const Item& attributes) {
  return static_cast<std::uint64_t>(attributes.integer(table.version_attribute));
}

Transaction::Transaction(Context& context, bool consistent, MigrationNotice::Shared view)
    : context_(context),
      model_(*context.model),
      consistent_(consistent),
      view_(std::move(view)),
      rules_(view_ != nullptr ? view_->rules : context.rules),
      plan_(context.model->table),
      naming_([](const Entity& entity, const std::string& attribute) {
        return names_in_route(entity, entity.path, attribute);
      }) {}

Problem Transaction::missing_parent(const Entity& child, const RelationRules& rules) const {
  return runtime::missing_parent(model_, child, rules, naming_);
}

// ------------------------------------------------------------------------------------------------------------- reading

Draft* Transaction::find(const Item& key) {
  const auto found = std::find_if(drafts_.begin(), drafts_.end(), [&](const Draft& draft) { return draft.key == key; });
  return found == drafts_.end() ? nullptr : &*found;
}

Result<const std::optional<Item>*, Problem> Transaction::read(const Item& key) {
  const auto known = std::find_if(stored_.begin(), stored_.end(), [&](const Stored& row) { return row.first == key; });
  if (known != stored_.end()) return &known->second;
  auto row = TRY(context_.dynamo.get(model_.table.name, key, consistent_));
  return &stored_.emplace_back(key, std::move(row)).second;
}

Result<Draft*, Problem> Transaction::load(const Entity& entity, const Item& naming) {
  const auto key = TRY(checked(model::key_of(model_, entity, naming)));
  if (!key) return nullptr;
  return load_key(entity, *key);
}

Result<Draft*, Problem> Transaction::load_key(const Entity& entity, const Item& key) {
  looked_at_.insert(&entity);
  if (auto* known = find(key)) return known->entity == &entity && known->after ? known : nullptr;
  const auto& row = *TRY(read(key));
  if (!row) return nullptr;
  const auto* type = row->find(model_.table.type_attribute);
  if (type == nullptr || *type != AttributeValue::string(entity.main().type)) return nullptr;
  auto& draft = drafts_.emplace_back();
  draft.entity = &entity;
  draft.key = key;
  draft.before = model::attributes_of(model_, entity, entity.main(), *row);
  draft.after = draft.before;
  return &draft;
}

void Transaction::depend_on(const Draft& draft, const std::set<std::string>& attributes) {
  if (!draft.before) return;
  const auto& entity = *draft.entity;
  const auto require_as_read = [&](const std::string& name) {
    plan_.require(draft.key, attribute_is(name, draft.before->find(name)));
  };
  plan_.require(draft.key, attribute_is(model_.table.type_attribute, AttributeValue::string(entity.main().type)));
  if (entity.versioned) require_as_read(model_.table.version_attribute);
  const auto& rules = rules_.of(entity);
  for (const auto& name : attributes) {
    if (entity.find_attribute(name) == nullptr || entity.is_named_by(name)) continue;
    if (!entity.versioned || rules.drifting.contains(name)) require_as_read(name);
  }
}

Result<void, Problem> Transaction::depend_on_absence(const Entity& entity, const Item& naming) {
  const auto key = TRY(checked(model::key_of(model_, entity, naming)));
  return key ? depend_on_absence_at(entity, *key) : Result<void, Problem>();
}

Result<void, Problem> Transaction::depend_on_absence_at(const Entity& entity, const Item& key) {
  looked_at_.insert(&entity);
  if (find(key) != nullptr) return {};
  plan_.require(key, entity_absent(model_.table, entity, *TRY(read(key))));
  return {};
}

Result<void, Problem> Transaction::retry_when_taken(const Draft& draft) {
  const auto& row = *TRY(read(draft.key));
  if (!row) {
    plan_.require(draft.key, row_absent());
    return {};
  }
  const auto* type = row->find(model_.table.type_attribute);
  const bool is_one = type != nullptr && *type == AttributeValue::string(draft.entity->main().type);
  if (is_one) return no_such(model_, *draft.entity);
  return {};  // a row of another type has that key, and the commit refuses
}

// ------------------------------------------------------------------------------------------------------------ changing

Result<Draft*, Problem> Transaction::create(const Entity& entity, Item attributes, ValueSource source) {
  looked_at_.insert(&entity);
  auto problems = check_new(entity, attributes, source);
  const auto compared = source == ValueSource::Request ? take_compared(entity, attributes) : Item();
  for (const auto& attribute : entity.attributes) {
    if (attributes.find(attribute.name) != nullptr) continue;
    if (attribute.generated != model::Generated::No) {
      attributes.set(attribute.name, context_.generator.make(attribute.generated));
    } else if (attribute.updated) {
      attributes.set(attribute.name, context_.generator.make(model::Generated::Now));
    } else if (attribute.count || attribute.sum || attribute.last) {
      attributes.set(attribute.name, AttributeValue::number(0));
    } else if (attribute.default_value) {
      attributes.set(attribute.name, *attribute.default_value);
    }
  }
  check_complete(entity, attributes, problems);
  check_named(entity, attributes, problems);
  if (!problems.empty()) return invalid(std::move(problems));
  if (entity.versioned) {
    // A name that can be reused does not begin with a version that a former entity had: a client that has read the
    // former one would change this one.
    const auto first = entity.never_recreated ? 1 : context_.generator.milliseconds();
    attributes.set(model_.table.version_attribute, AttributeValue::number(first));
  }

  TRY(compute(entity, std::nullopt, attributes));
  TRY(compare(entity, compared, attributes));
  const bool named_by_number = TRY(fill_next(entity, std::nullopt, attributes));
  check_whole(entity, nullptr, attributes, source, problems);
  if (!problems.empty()) return invalid(std::move(problems));
  strip_transient(entity, attributes);
  const auto key = TRY(checked(model::key_of(model_, entity, attributes)));
  if (!key) return invalid("something that names the " + entity.name + " is missing");
  if (find(*key) != nullptr) return exists_already(model_, entity);
  if (TRY(has_orphans(entity, *key, attributes))) return still_going(entity.name);
  // When another request takes this number first, the transaction starts again with the next one.
  if (named_by_number) plan_.require(*key, row_absent());
  auto& draft = drafts_.emplace_back();
  draft.entity = &entity;
  draft.key = *key;
  draft.by_user = true;
  TRY(apply(draft, std::move(attributes)));
  return &draft;
}

Result<void, Problem> Transaction::compare(const Entity& entity, const Item& compared, const Item& attributes) const {
  for (const auto& [name, content] : compared) {
    const auto* found = attributes.find(name);
    if (found != nullptr && *found == content) continue;
    const auto& copy = entity.find_attribute(name)->copy_of;
    return no_such(model_, copy ? *copy->through->to : entity);
  }
  return {};
}

// A key with alternatives may need only some of the naming attributes.
void Transaction::check_named(const Entity& entity, const Item& attributes,
                              std::vector<model::ValueProblem>& problems) const {
  std::vector<model::ValueProblem> missing;
  for (const auto& name : std::set(entity.identity.begin(), entity.identity.end())) {
    const auto* attribute = entity.find_attribute(name);
    if (attribute == nullptr || attributes.find(name) != nullptr) continue;
    if (attribute->computed() || attribute->next) return;  // it is filled in later
    if (!attribute->required) missing.push_back({name, "is required"});
  }
  if (missing.empty()) return;
  const auto key = model::key_of(model_, entity, attributes);
  if (key && !*key) problems.insert(problems.end(), missing.begin(), missing.end());
}

Result<void, Problem> Transaction::change(Draft& draft, const model::PlainObject& changes, ValueSource source) {
  const auto& entity = *draft.entity;
  if (entity.append_only) return conflict("AppendOnly", entity.name + " is never changed");
  auto given = changes;
  auto problems = check_changes(entity, given, source);
  auto to = *draft.after;
  for (const auto& name : given.nulls) {
    const auto* attribute = entity.find_attribute(name);
    if (attribute != nullptr && attribute->default_value) {
      to.set(name, *attribute->default_value);
    } else {
      to.erase(name);
    }
  }
  for (const auto& [name, content] : given.values) to.set(name, content);
  for (const auto& attribute : entity.attributes) {  // an entity that lacked it before may go on without it
    const bool cleared = draft.after->find(attribute.name) != nullptr && to.find(attribute.name) == nullptr;
    if (cleared && attribute.required && !attribute.next) problems.push_back({attribute.name, "is required"});
  }
  if (!problems.empty()) return invalid(std::move(problems));
  return change_to(draft, std::move(to), source, given.values);
}

Result<void, Problem> Transaction::change_to(Draft& draft, Item to, ValueSource source, const Item& given) {
  const auto& entity = *draft.entity;
  TRY(compute(entity, draft.after, to));
  TRY(leave_orders(entity, *draft.after, to, given));
  TRY(fill_next(entity, draft.after, to));
  std::vector<model::ValueProblem> problems;
  check_whole(entity, &*draft.after, to, source, problems);
  if (!problems.empty()) return invalid(std::move(problems));
  auto kept = to;
  strip_transient(entity, kept);
  if (kept == *draft.after) return {};
  if (source == ValueSource::Model && differs_by_drift_alone(entity, *draft.after, kept))
    return apply(draft, std::move(kept));
  for (const auto& attribute : entity.attributes) {
    if (attribute.updated) to.set(attribute.name, context_.generator.make(model::Generated::Now));
  }
  if (entity.versioned && !draft.by_user) {
    const auto next = version_of(model_.table, to) + 1;
    to.set(model_.table.version_attribute, AttributeValue::number(static_cast<std::int64_t>(next)));
  }
  draft.by_user = true;
  TRY(derive(entity, draft.after, to));
  strip_transient(entity, to);
  return apply(draft, std::move(to));
}

Result<void, Problem> Transaction::change_with_numbers(Draft& draft, Item to) {
  const auto all = to;
  return change_to(draft, std::move(to), ValueSource::Request, all);
}

Result<void, Problem> Transaction::remove(Draft& draft) {
  TRY(check_unused(draft));
  draft.by_user = true;
  return apply(draft, std::nullopt);
}

Result<void, Problem> Transaction::soft_delete(Draft& draft) {
  TRY(check_unused(draft));
  const auto& rule = *draft.entity->soft_delete;
  auto to = *draft.after;
  to.set(rule.attribute, AttributeValue::boolean(true));
  if (rule.at) to.set(*rule.at, context_.generator.make(model::Generated::Now));
  if (rule.keep && model_.table.ttl_attribute) {
    to.set(*model_.table.ttl_attribute, AttributeValue::number(context_.generator.seconds_from_now(*rule.keep)));
  }
  return change_with_numbers(draft, std::move(to));
}

Result<void, Problem> Transaction::restore(Draft& draft) {
  const auto& rule = *draft.entity->soft_delete;
  auto to = *draft.after;
  // The attribute gets the value of an entity that was never deleted: a record's `when` may ask for false, or for its
  // absence.
  const auto& untouched = draft.entity->find_attribute(rule.attribute)->default_value;
  if (untouched) {
    to.set(rule.attribute, *untouched);
  } else {
    to.erase(rule.attribute);
  }
  if (rule.at) to.erase(*rule.at);
  if (rule.keep && model_.table.ttl_attribute) to.erase(*model_.table.ttl_attribute);
  return change_with_numbers(draft, std::move(to));
}

// Checks run at the end of the action: it may replace one child with another.
Result<void, Problem> Transaction::check(const Draft& draft) {
  if (!draft.after) return {};
  auto [problems, counted] = check_end(*draft.entity, draft.before ? &*draft.before : nullptr, *draft.after);
  if (problems.empty()) return {};
  if (!counted) return invalid(std::move(problems));
  auto message =
      fmt::format("of this {}, {} {}", draft.entity->name, problems.front().attribute, problems.front().problem);
  return conflict("CheckFailed", std::move(message), std::move(problems));
}

Result<WritePlan::Commit, Problem> Transaction::commit() {
  for (const auto& draft : drafts_) TRY(check(draft));
  TRY(plan());
  // Migrations that were announced in the meantime are seen here at the latest.
  if (TRY(context_.notice->look()) != view_) return WritePlan::Commit::Stale;
  return plan_.commit(context_.dynamo);
}

}  // namespace stator::runtime
