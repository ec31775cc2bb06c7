#include <fmt/format.h>

#include <algorithm>

#include "stator/base/article.h"
#include "stator/model/check/checked_pattern.h"
#include "stator/model/check/proof/keys.h"
#include "stator/model/check/rules.h"

namespace stator::model {
namespace {

using Field = Template::Field;

constexpr int kMostDerivations = 8;

// Whether an attribute's value can change in the life of a row; the key's own attributes cannot, because no update
// takes them.
bool can_change(const Entity& entity, const Attribute& attribute, int depth = 0) {
  if (depth > kMostDerivations) return true;
  if (attribute.count || attribute.sum || attribute.updated) return true;
  const auto changes = [&](const Entity& of, const Attribute& source) {
    if (source.immutable) return false;
    if (!source.computed() && of.is_named_by(source.name)) return false;
    return source.generated == Generated::No && (!source.computed() || can_change(of, source, depth + 1));
  };
  if (attribute.copy_of) return changes(*attribute.copy_of->through->to, *attribute.copy_of->from);
  if (!attribute.derived) return false;
  const auto inputs = attribute.derived->paths();
  return std::any_of(inputs.begin(), inputs.end(), [&](const std::string& name) {
    const auto* source = entity.find_attribute(name);
    return source != nullptr && changes(entity, *source);
  });
}

void find_identity(const Model& model, const Entity& entity, Report& findings) {
  const KeyRule* time_key = nullptr;
  std::string time;
  bool unique = false;
  for (const auto& key : design_keys(model.table).front().attributes()) {
    for (const auto& form : forms(model, {&entity, &entity.main()}, key)) {
      for (const auto& part : form.parts) {
        const auto* field = std::get_if<Field>(&part);
        const auto* attribute = field == nullptr ? nullptr : entity.find_attribute(field->attribute);
        if (attribute == nullptr) continue;
        unique = unique || attribute->generated == Generated::Uuid || attribute->generated == Generated::Ulid;
        const bool whole = field->transform != Transform::Year && field->transform != Transform::Month &&
                           field->transform != Transform::Day;
        if (attribute->type.kind == Kind::Timestamp && whole) {
          time = attribute->name;
          time_key = entity.main().find_key(key.name);
        }
        if (can_change(entity, *attribute)) {
          findings.error({.code = "mutable-key",
                          .subject = fmt::format("{}.{}", entity.name, attribute->name),
                          .position = form.position},
                         fmt::format("{} names {}, but changes by itself, and a primary key cannot change",
                                     attribute->name, with_article(entity.name)),
                         "leave it out of the primary key, or make what it is computed from immutable");
        }
      }
    }
  }
  if (time.empty() || unique) return;
  findings.error(
      {.code = "key-not-unique",
       .subject = entity.name,
       .position = time_key != nullptr ? time_key->position : entity.position},
      fmt::format("the key of {} has the time {} and no id: if two are created in one moment, the second is refused or "
                  "overwrites the first",
                  entity.name, time),
      fmt::format("put a generated id behind it: {{{}}}#{{id}} with id: {{ type: ulid, generated: ulid }}", time));
}

// A row is found again by what names it: a path, a relation or an action gives just that, and which alternative it lies
// under has to follow from it.
void find_unnamed(const Model& model, const Entity& entity, Report& findings) {
  for (const auto& key : design_keys(model.table).front().attributes()) {
    const auto* rule = entity.main().find_key(key.name);
    if (rule == nullptr) continue;
    for (const auto& alternative : rule->alternatives) {
      if (!alternative.when) continue;
      for (const auto& name : alternative.when->paths()) {
        if (entity.is_named_by(name)) continue;
        findings.error({.code = "unnamed-key",
                        .subject = fmt::format("{}.{}", entity.name, name),
                        .position = alternative.position},
                       fmt::format("the {} of {} depends on {}, which is not in its primary key: a request that names "
                                   "the row looks in another place",
                                   key.name, with_article(entity.name), name),
                       fmt::format("put {{{}}} into the primary key, if it never changes; or make the row that depends "
                                   "on it a record of its own: `records`, with that `when`",
                                   name));
      }
    }
  }
}

bool names(const std::string& path, const std::string& attribute) {
  return path.find(fmt::format("{{{}}}", attribute)) != std::string::npos;
}

// Whether a pattern looks at the caller's own partition only.
bool is_for_oneself(const Pattern& pattern) {
  return std::any_of(pattern.partition.begin(), pattern.partition.end(), [](const PatternCondition& condition) {
    const auto names = condition.operands.front().attributes();
    return std::find(names.begin(), names.end(), "me") != names.end();
  });
}

// A path without the owner means the caller's own row.  Other readers need a route that names the owner.
void find_unreadable(const Model& model, const Entity& entity, Report& findings) {
  const auto& read = entity.read;
  const bool for_others = read.anyone || read.signed_in || read.anyone_when;
  if (!for_others || !entity.owner || !entity.has_operation("get")) return;
  if (names(entity.path, *entity.owner) || !entity.is_named_by(*entity.owner)) return;
  const bool served = std::any_of(model.patterns.begin(), model.patterns.end(), [&](const Pattern& pattern) {
    const auto rows = returned_rows(pattern);
    return !pattern.path.empty() && !is_for_oneself(pattern) &&
           std::any_of(rows.begin(), rows.end(), [&](const KeyedRow& row) { return row.entity == &entity; });
  });
  if (served) return;
  findings.warning({.code = "unreadable", .subject = entity.name, .position = entity.position},
                   fmt::format("callers other than its owner may read {}, but the path does not name the owner, and "
                               "its key is made from {}: they always get 404",
                               with_article(entity.name), *entity.owner),
                   fmt::format("put {{{0}}} into the path or into the route of a pattern that returns it, or leave {0} "
                               "out of the primary key",
                               *entity.owner));
}

}  // namespace

void check_identity(const Model& model, Report& findings) {
  for (const auto& entity : model.entities) {
    find_identity(model, entity, findings);
    find_unnamed(model, entity, findings);
    find_unreadable(model, entity, findings);
  }
}

}  // namespace stator::model
