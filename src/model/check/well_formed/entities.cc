#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "stator/model/check/well_formed/well_formed.h"
#include "stator/model/syntax/syntax.h"

namespace stator::model {
namespace {

// The type under which DynamoDB keeps values of that kind, where it can be in a key.
std::optional<value::Type> key_type_of(Kind kind) {
  switch (kind) {
    case Kind::Number:
    case Kind::Integer: return value::Type::N;
    case Kind::Binary: return value::Type::B;
    case Kind::Boolean:
    case Kind::List:
    case Kind::Set:
    case Kind::Map:
    case Kind::Any: return std::nullopt;
    default: return value::Type::S;
  }
}

// A key holds texts, numbers or bytes, as the table says.
void check_key_type(const Entity& entity, const KeyDesign& key, Report& report) {
  if (const Attribute* attribute = entity.find_attribute(key.name)) {
    if (key_type_of(attribute->type.kind) != key.type)
      report.error(attribute->position, "key-type",
                   fmt::format("{} is in a key as {}, and values of this type are not kept so", key.name,
                               value::type_name(key.type)));
  }
  for (const auto& record : entity.records) {
    const KeyRule* rule = record.find_key(key.name);
    if (rule == nullptr || key.type == value::Type::S) continue;
    for (const auto& alternative : rule->alternatives) {
      const bool is_one_hole = alternative.text.parts().size() == 1 && !alternative.text.constant();
      if (key.type == value::Type::B || !is_one_hole)
        report.error(alternative.position, "key-type",
                     fmt::format("{} is {} in its key; a template makes {}", key.name,
                                 key.type == value::Type::B ? "binary" : "a number",
                                 key.type == value::Type::B ? "texts" : "one only from a single {Name}"));
    }
  }
}

// The copy that a derived attribute is, after all, derived from; null when there is none.  Circles are told of
// elsewhere.
const Attribute* copy_behind(const Entity& entity, const Attribute& derived, std::set<std::string>& seen) {
  for (const auto& path : derived.derived->paths()) {
    const Attribute* read = entity.find_attribute(path);
    if (read == nullptr || !seen.insert(path).second) continue;
    if (read->copy_of) return read;
    const Attribute* behind = read->derived ? copy_behind(entity, *read, seen) : nullptr;
    if (behind != nullptr) return behind;
  }
  return nullptr;
}

// A request whose value does not match is refused; a copy follows its source without being asked.
void check_pattern_is_kept(const Entity& entity, const Attribute& attribute, Report& report) {
  if (!attribute.derived || !attribute.type.pattern) return;
  std::set<std::string> seen;
  if (const Attribute* copy = copy_behind(entity, attribute, seen))
    report.error(attribute.position, "contradiction",
                 fmt::format("{} is derived from {}, a copy, which changes without a request that could be refused: "
                             "nobody would keep the pattern",
                             attribute.name, copy->name),
                 fmt::format("leave the pattern out, and give one to what {} is a copy of", copy->name));
}

void check_entity(const TableDesign& table, const Entity& entity, Report& report) {
  for (const auto& attribute : entity.attributes) {
    check_pattern_is_kept(entity, attribute, report);
    if (attribute.name == table.type_attribute || attribute.name == table.version_attribute ||
        attribute.name == table.ttl_attribute)
      report.error(
          attribute.position, "reserved-name",
          fmt::format("{} is kept by the system in every row; an entity cannot have one of its own", attribute.name));
  }
  for (const auto& record : entity.records) {
    for (const auto& rule : record.keys) {
      if (entity.find_attribute(rule.attribute) != nullptr)
        report.error(
            rule.position, "contradiction",
            fmt::format("{} is an attribute of {}; a key is either made from a template or an attribute as it is",
                        rule.attribute, entity.name));
    }
  }
  for_each_key(table, [&](const KeyDesign& key) { check_key_type(entity, key, report); });
}

// The owner of a new entity is the caller, who is put in; a copy comes from the parent.
void check_owner(const Entity& entity, Report& report) {
  const auto* owner = entity.owner ? entity.find_attribute(*entity.owner) : nullptr;
  if (owner == nullptr || !owner->computed() || owner->copy_of) return;
  const bool generated = owner->generated != Generated::No;
  const bool by_request = entity.has_operation("create") || entity.has_operation("put");
  if (!generated && !by_request) return;  // actions set internal attributes
  report.error(owner->position, "contradiction",
               fmt::format("{} is the owner of a {}, who is the caller, so nothing else can decide it", owner->name,
                           entity.name),
               generated ? fmt::format("{}: string", owner->name) : std::string());
}

// A parent can only refuse to go while it has children if it counts them.
void check_restrict(const Entity& entity, const Parent& relation, Report& report) {
  if (relation.on_delete != OnDelete::Restrict || relation.to == nullptr) return;
  const auto& counting = relation.to->attributes;
  const bool is_counted = std::any_of(counting.begin(), counting.end(), [&](const Attribute& attribute) {
    return attribute.count && std::any_of(attribute.count->of.begin(), attribute.count->of.end(),
                                          [&](const Children& of) { return of.through == &relation; });
  });
  if (!is_counted)
    report.error(relation.position, "restrict-needs-count",
                 fmt::format("on_delete: restrict needs an attribute of {} that counts {}.{}", relation.to->name,
                             entity.name, relation.name),
                 fmt::format("{}Count: {{ count: {}.{} }}", relation.name, entity.name, relation.name));
}

}  // namespace

void check_entities(const Model& model, Report& report) {
  for (const auto& entity : model.entities) {
    check_entity(model.table, entity, report);
    check_owner(entity, report);
    for (const auto& relation : entity.parents) check_restrict(entity, relation, report);
  }
}

}  // namespace stator::model
