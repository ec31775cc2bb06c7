// Repository::run: one page of a pattern.
#include <fmt/format.h>

#include <algorithm>

#include "stator/model/body_shape.h"
#include "stator/model/rows.h"
#include "stator/runtime/access.h"
#include "stator/runtime/object.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/read/ordered_read.h"
#include "stator/runtime/read/pattern_requests.h"
#include "stator/runtime/repository_state.h"
#include "stator/runtime/write/given.h"

namespace stator::runtime {
namespace {

using model::Entity;
using model::Model;
using model::Pattern;
using model::Record;
using value::AttributeValue;
using value::Item;

constexpr std::string_view kOrder = "order";  // the parameter of Order::Asked

// An object with the key of its main row, by which parents are known where objects are nested.
struct Found {
  Object object;
  std::optional<Item> key;
};

// Runs one page.  Confined to the call.
class PatternRun {
 public:
  PatternRun(Context& context, const Pattern& pattern, const Caller& caller)
      : context_(context), model_(*context.model), pattern_(pattern), caller_(caller), transaction_(context) {}

  Result<Page, Problem> run(Item parameters, const PageOptions& page) {
    include_deleted_ = page.include_deleted;
    const auto limit = TRY(limit_of(page));
    const auto ascending = TRY(direction(parameters));
    TRY(admit(std::move(parameters)));
    auto query = TRY(query_of(model_, pattern_, values_, ascending));
    excluded_ = std::move(query.excluded);
    filter_here_ = pattern_.filter && !query.filtered;
    auto read = TRY(OrderedRead::begin(context_.dynamo, model_.table, pattern_.index, std::move(query.requests),
                                       page.start, [this](Item row) { return accept(std::move(row)); }));
    auto rows = TRY(read.read(limit));

    std::vector<Found> found;
    found.reserve(rows.rows.size());
    for (auto& row : rows.rows) found.push_back(to_found(std::move(row)));
    if (pattern_.nest) found = TRY(nest(std::move(found)));
    Page result;
    result.objects.reserve(found.size());
    for (auto& one : found) result.objects.push_back(std::move(one.object));
    TRY(join(result.objects));
    result.next = std::move(rows.next);
    if (!pattern_.single) return result;
    if (result.objects.empty()) return nothing_found();
    result.next.reset();
    return result;
  }

 private:
  Problem nothing_found() const {
    std::vector<const model::Entity*> entities;
    for (const auto& returned : pattern_.returns) {
      const bool known = std::find(entities.begin(), entities.end(), returned.entity) != entities.end();
      if (!known) entities.push_back(returned.entity);
    }
    const bool by_name = std::any_of(
        pattern_.parameters.begin(), pattern_.parameters.end(),
        [&](const model::Attribute& parameter) { return !model::has_parameter(pattern_.path, parameter.name); });
    const bool several = entities.size() > 1;
    return by_name || several ? no_such(entities) : no_such_at(model_, *entities.front(), pattern_.path);
  }

  // ----------------------------------------------------------------------------------------------------- what is asked

  Result<unsigned, Problem> limit_of(const PageOptions& page) const {
    if (pattern_.single) return 1U;
    if (!page.limit) return pattern_.default_limit;
    if (*page.limit >= 1 && *page.limit <= pattern_.max_limit) return *page.limit;
    return invalid({{"limit", fmt::format("must be from 1 to {}", pattern_.max_limit)}});
  }

  Result<bool, Problem> direction(Item& parameters) const {
    if (pattern_.order != model::Order::Asked) return pattern_.order == model::Order::Ascending;
    if (parameters.find(kOrder) == nullptr) return pattern_.default_order == model::Order::Ascending;
    const auto word = parameters.text(kOrder);
    parameters.erase(kOrder);
    if (word == "asc" || word == "ascending") return true;
    if (word == "desc" || word == "descending") return false;
    return invalid({{std::string(kOrder), "must be asc or desc"}});
  }

  // Whether the caller may run the pattern, and about whose rows it is.
  Result<void, Problem> admit(Item parameters) {
    TRY(check_caller(pattern_.access, caller_));
    for (const auto& returned : pattern_.returns) {
      const auto& owner = returned.entity->owner;
      const bool asked = owner && std::any_of(pattern_.parameters.begin(), pattern_.parameters.end(),
                                              [&](const auto& parameter) { return parameter.name == *owner; });
      if (asked && caller_.subject && parameters.find(*owner) == nullptr) {
        parameters.set(*owner, AttributeValue::string(*caller_.subject));
      }
    }
    auto problems = check_inputs(pattern_.parameters, parameters);
    if (!problems.empty()) return invalid(std::move(problems));
    values_ = parameters;
    if (caller_.subject) values_.set("me", AttributeValue::string(*caller_.subject));
    values_.set("now", context_.generator.call("now"));

    lets_all_in_ = lets_in(pattern_.access, caller_);
    if (pattern_.within != nullptr) return admit_within(parameters);
    for (const auto* grant : pattern_.access.grants) {
      const auto gives = TRY(look_up(transaction_, *grant, parameters, caller_));
      if (!gives) continue;
      for (const auto& [attribute, content] : *gives) values_.set(attribute, content);
      granted_ = *gives;
      break;
    }
    return {};
  }

  Result<void, Problem> admit_within(const Item& parameters) {
    const auto& entity = *pattern_.within;
    const auto seen = TRY(find_visible(transaction_, model_, entity, parameters, caller_, include_deleted_));
    for (const auto& [name, content] : *seen.draft->after) {
      if (values_.find(name) == nullptr) values_.set(name, content);
    }
    auto access = pattern_.access;
    access.anyone_when.reset();  // it is about what is returned
    const auto let_in = TRY(admitted(transaction_, seen, parameters, access, caller_, include_deleted_));
    if (!let_in && seen.grant != nullptr) return forbidden();
    if (!let_in || let_in->grant == nullptr) return {};
    Item gives;
    for (const auto& [ours, theirs] : let_in->grant->gives) {
      if (const auto* content = seen.draft->after->find(ours)) gives.set(ours, *content);
    }
    granted_ = std::move(gives);
    return {};
  }

  // -------------------------------------------------------------------------------------------------------- which rows

  // The entity and record of a row among those that the pattern returns; nulls when it is none of them.
  std::pair<const Entity*, const Record*> returned_type(const Item& row) const {
    const auto& attribute = model_.table.type_attribute;
    if (row.find(attribute) == nullptr) return untold_type(row);
    const auto [entity, record] = model_.find_row_type(row.text(attribute));
    for (const auto& returned : pattern_.returns) {
      if (record != nullptr && returned.record == record) return {entity, record};
    }
    return {nullptr, nullptr};
  }

  // The same for a row from an index that does not hold the type.
  std::pair<const Entity*, const Record*> untold_type(const Item& row) const {
    const auto* index = pattern_.index;
    const bool untold = index != nullptr && !model_.table.projects(*index, model_.table.type_attribute);
    if (!untold || pattern_.returns.size() != 1) return {nullptr, nullptr};
    const auto* entity = pattern_.returns.front().entity;
    const auto* record = pattern_.returns.front().record;
    if (!model::could_be(model_, *entity, *record, row)) return {nullptr, nullptr};
    return {entity, record};
  }

  // Whether the pattern asks for deleted ones itself: by its filter, or by reading rows that exist only while deleted.
  bool asks_for_deleted(const Entity& entity, const Record& record) const {
    const auto reads = [&](const std::optional<model::Expression>& expression) {
      if (!expression) return false;
      const auto paths = expression->paths();
      return std::find(paths.begin(), paths.end(), entity.soft_delete->attribute) != paths.end();
    };
    if (reads(pattern_.filter) || reads(record.when)) return true;
    return std::any_of(pattern_.partition.begin(), pattern_.partition.end(), [&](const auto& condition) {
      const auto* rule = record.find_key(condition.attribute);
      return rule != nullptr && std::any_of(rule->alternatives.begin(), rule->alternatives.end(),
                                            [&](const auto& alternative) { return reads(alternative.when); });
    });
  }

  bool is_hidden(const Entity& entity, const Item& attributes) const {
    return !include_deleted_ && !is_live(entity, attributes);
  }

  using Accepted = std::optional<OrderedRead::Accepted>;

  Result<Accepted, Problem> accept(Item row) const {
    const auto [entity, record] = returned_type(row);
    if (entity == nullptr) return Accepted();
    if (excluded_ && !pattern_.sort.empty()) {
      const auto* sort = row.find(pattern_.sort.back().attribute);
      if (sort != nullptr && *sort == *excluded_) return Accepted();
    }
    auto attributes = model::attributes_of(model_, *entity, *record, std::move(row));
    if (!is_finished(*entity, attributes)) return Accepted();
    if (is_hidden(*entity, attributes) && !asks_for_deleted(*entity, *record)) return Accepted();
    if (filter_here_) {
      const model::Expression::Scope scope{.attribute = [&](std::string_view name) { return attributes.find(name); },
                                           .input = [&](std::string_view name) { return values_.find(name); },
                                           .generate = {}};
      if (!TRY(checked(pattern_.filter->holds(scope)))) return Accepted();
    }
    if (!TRY(may_see(*entity, attributes))) return Accepted();
    return Accepted({.entity = entity, .attributes = std::move(attributes)});
  }

  Result<bool, Problem> may_see(const Entity& entity, const Item& attributes) const {
    if (lets_all_in_ || TRY(lets_in(pattern_.access, entity, attributes, caller_))) return true;
    if (!pattern_.access.owner && !granted_) return false;
    const auto* owner = entity.owner ? attributes.find(*entity.owner) : nullptr;
    if (owner == nullptr) return is_keyed_by_owner(entity);  // not projected, or nobody's in particular
    const auto* given = granted_ ? granted_->find(*entity.owner) : nullptr;
    return given != nullptr && *given == *owner;
  }

  // The partition is made from the caller, or from what the entity that was seen belongs to.
  bool is_keyed_by_owner(const Entity& entity) const {
    return std::any_of(pattern_.partition.begin(), pattern_.partition.end(), [&](const auto& condition) {
      const auto names = condition.operands.front().attributes();
      return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return name == "me" ||
               (pattern_.within != nullptr && (name == entity.owner || pattern_.within->is_named_by(name)));
      });
    });
  }

  Found to_found(OrderedRead::Accepted accepted) const {
    std::optional<Item> key;
    if (pattern_.nest) {
      auto made = model::key_of(model_, *accepted.entity, accepted.attributes);
      if (made) key = std::move(*made);
    }
    return {.object = to_object(model_, *accepted.entity, std::move(accepted.attributes)), .key = std::move(key)};
  }

  // ----------------------------------------------------------------------------------------------- nesting and joining

  // The main row that a relation of an object points to; null: it has none.
  std::optional<Item> target_of(const Object& object, const model::Parent* parent) const {
    if (parent == nullptr) return std::nullopt;
    auto key = model::parent_key(model_, *object.entity, *parent, object.attributes);
    return key.ok() ? std::move(*key) : std::nullopt;
  }

  // Entities by the keys of their main rows, those that are there and not hidden.
  Result<std::vector<Found>, Problem> fetch(const std::vector<Item>& keys) {
    std::vector<Found> found;
    for (const auto& row : TRY(context_.dynamo.batch_get(model_.table.name, keys, pattern_.consistent))) {
      const auto [entity, record] = model_.find_row_type(row.text(model_.table.type_attribute));
      if (entity == nullptr || record != &entity->main()) continue;
      auto attributes = model::attributes_of(model_, *entity, *record, row);
      if (is_hidden(*entity, attributes) || !is_finished(*entity, attributes)) continue;
      found.push_back({.object = to_object(model_, *entity, std::move(attributes)),
                       .key = model::primary_key_of(model_.table, row)});
    }
    return found;
  }

  static Found* find(std::vector<Found>& list, const Item& key) {
    const auto known = std::find_if(list.begin(), list.end(), [&](const Found& one) { return one.key == key; });
    return known == list.end() ? nullptr : &*known;
  }
  static void add_key(std::vector<Item>& keys, const std::optional<Item>& key) {
    if (key && std::find(keys.begin(), keys.end(), *key) == keys.end()) keys.push_back(*key);
  }

  // Children go into their parents.  A parent that is not on this page was on an earlier one: it is fetched and says
  // `continued`.
  Result<std::vector<Found>, Problem> nest(std::vector<Found> rows) {
    const auto& rule = *pattern_.nest;
    const auto parent_of = [&](const Found& one) -> std::optional<Item> {
      const auto child = std::find_if(rule.children.begin(), rule.children.end(),
                                      [&](const auto& any) { return any.entity == one.object.entity; });
      return child != rule.children.end() ? target_of(one.object, child->through) : std::nullopt;
    };
    std::vector<Item> absent;
    for (const auto& one : rows) {
      const auto key = parent_of(one);
      if (key && find(rows, *key) == nullptr) add_key(absent, key);
    }
    auto earlier = TRY(fetch(absent));

    std::vector<Found> nested;
    const auto home_of = [&](const Item& key) -> Found* {
      if (auto* there = find(nested, key)) return there;
      auto* source = find(rows, key);  // with a descending order it comes after its children
      const bool on_page = source != nullptr;
      if (!on_page) source = find(earlier, key);
      if (source == nullptr || source->object.entity != rule.parent) return nullptr;
      auto& home = nested.emplace_back(*source);
      home.object.continued = !on_page;
      home.object.nested_as = rule.as;
      return &home;
    };
    for (auto& one : rows) {
      if (const auto key = parent_of(one)) {
        if (auto* home = home_of(*key)) {
          home->object.nested.push_back(std::move(one.object));
          one.key.reset();
          continue;
        }
      }
      if (one.object.entity == rule.parent && one.key) {
        home_of(*one.key);
        continue;
      }
      nested.push_back(std::move(one));
    }
    return nested;
  }

  static void visit(std::vector<Object>& objects, const std::function<void(Object&)>& visitor) {
    for (auto& object : objects) {
      visitor(object);
      visit(object.nested, visitor);
    }
  }

  // The joined row has an access rule, too: it is the caller's, public, or of the owner whose grant let the caller in.
  Result<bool, Problem> may_join(const Object& object) const {
    const auto& read = object.entity->read;
    if (TRY(lets_in(read, *object.entity, object.attributes, caller_))) return true;
    return granted_ && !read.grants.empty() && std::all_of(granted_->begin(), granted_->end(), [&](const auto& given) {
             const auto* found = object.attributes.find(given.name);
             return found != nullptr && *found == given.value;
           });
  }

  Result<void, Problem> join(std::vector<Object>& objects) {
    if (pattern_.joins.empty()) return {};
    std::vector<Item> keys;
    visit(objects, [&](Object& object) {
      for (const auto& rule : pattern_.joins) add_key(keys, target_of(object, rule.through(*object.entity)));
    });
    auto targets = TRY(fetch(keys));
    for (auto target = targets.begin(); target != targets.end();) {
      target = TRY(may_join(target->object)) ? std::next(target) : targets.erase(target);
    }
    visit(objects, [&](Object& object) {
      for (const auto& rule : pattern_.joins) {
        const auto* parent = rule.through(*object.entity);
        const auto key = target_of(object, parent);
        const auto* target = key ? find(targets, *key) : nullptr;
        if (target == nullptr || target->object.entity != parent->to) continue;
        auto joined = target->object;
        if (!rule.attributes.empty()) {
          Item chosen;
          for (const auto& name : rule.attributes) {
            if (const auto* content = joined.attributes.find(name)) chosen.set(name, *content);
          }
          joined.attributes = std::move(chosen);
        }
        object.joined.emplace_back(rule.as, std::move(joined));
      }
    });
    return {};
  }

  Context& context_;
  const Model& model_;
  const Pattern& pattern_;
  const Caller& caller_;
  Transaction transaction_;  // reads pointers and the entity that the pattern is within
  Item values_;
  std::optional<Item> granted_;  // what the grant gives through which the caller is let in
  bool include_deleted_ = false;
  bool lets_all_in_ = false;
  std::optional<AttributeValue> excluded_;
  bool filter_here_ = false;
};

}  // namespace

Result<Page, Problem> Repository::run(const Pattern& pattern, const Item& parameters, const Caller& caller,
                                      const PageOptions& page) {
  return PatternRun(state_->context, pattern, caller).run(parameters, page);
}

}  // namespace stator::runtime
