#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "stator/model/check/well_formed/well_formed.h"

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
                   fmt::format("{} is in a key as {}, but values of its type are stored in another form", key.name,
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
                 fmt::format("{} is derived from {}, a copy, which changes without a request that could be refused, so "
                             "nothing enforces the pattern",
                             attribute.name, copy->name),
                 fmt::format("leave the pattern out here, and give it to the source of {}", copy->name));
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
  const auto* owner = entity.owner_attribute;
  if (owner == nullptr || !owner->computed() || owner->copy_of) return;
  const bool generated = owner->generated != Generated::No;
  const bool by_request = entity.has_operation("create") || entity.has_operation("put");
  if (!generated && !by_request) return;  // actions set internal attributes
  report.error(owner->position, "contradiction",
               fmt::format("{} is the owner of a {}, which is always the caller, so nothing else can set it",
                           owner->name, entity.name),
               generated ? fmt::format("{}: string", owner->name) : std::string());
}

// Access of the owner is for an entity that has one.
void check_owner_access(const Entity& entity, Report& report) {
  if (entity.owner) return;
  std::set<Position> lists;  // one can be for several operations
  for (const auto* access : {&entity.read, &entity.create, &entity.update, &entity.remove}) {
    if (!access->owner || !lists.insert(access->position).second) continue;
    report.error(access->position, "no-owner",
                 fmt::format("{} has no owner, so `owner` lets no caller in", entity.name),
                 "owner: ATTRIBUTE, in the entity");
  }
}

// The route of one entity has to name it: every attribute of its key.
void check_path(const RouteSyntax& route, const Entity& entity, Report& report) {
  for (const auto& name : entity.identity) {
    if (!gives({route.parameters.begin(), route.parameters.end()}, entity, name))
      report.error(route.text.position, "path-lacks-key",
                   fmt::format("the key of {} is made from {}, which the path does not name", entity.name, name),
                   fmt::format("/.../{{{}}}", name));
  }
  if (!entity.has_operation("put")) return;
  for (const auto& name : route.parameters) {
    const Attribute* attribute = entity.find_attribute(name);
    if (attribute != nullptr && attribute->computed())
      report.error(place_in_template(route.text, name), "contradiction",
                   fmt::format("a put creates the entity at its path, and a caller cannot choose {}", name));
  }
}

// Every row has all of the table's key: from a template, or as an attribute.
void check_keys_of_table(const TableDesign& table, const Entity& entity, Report& report) {
  for (const auto& record : entity.records) {
    const auto check = [&](const KeyDesign& key) {
      if (record.find_key(key.name) == nullptr && entity.find_attribute(key.name) == nullptr)
        report.error(
            record.position, "missing-key",
            fmt::format("{} has no {}, which is in the key of the table",
                        entity.records.size() == 1 ? entity.name : fmt::format("{}.{}", entity.name, record.name),
                        key.name),
            fmt::format("{}: \"...\", in `keys`", key.name));
    };
    if (!table.partition.name.empty()) check(table.partition);
    if (table.sort) check(*table.sort);
  }
}

void check_type(const TakenOverSyntax& syntax, const Entity& entity, Report& report) {
  const auto& [name, kind, purpose] = syntax;
  const Attribute* attribute = entity.find_attribute(name.text);
  if (attribute != nullptr && attribute->type.kind != kind)
    report.error(name.position, "wrong-type",
                 fmt::format("{} has to be of type {} for {}", name.text, kind_name(kind), purpose));
}

std::string_view instead_of(Function generator) {
  switch (generator) {
    case Function::Now: return "an attribute with `generated: now` has the time of its creation";
    case Function::Uuid: return "an attribute with `generated: uuid` has its own";
    default: return "an attribute with `generated: ulid` has its own";
  }
}

// An expression that is computed repeatedly must not generate values.
void check_generators(const Written<Expression>& expression, Report& report) {
  visit_generators(expression, [&](Function generator, Position position) {
    report.error(position, "wrong-function",
                 fmt::format("{}() is for the steps of actions; {}", name_of(generator), instead_of(generator)));
  });
}

}  // namespace

void check_entities(const Syntax& syntax, const Model& model, Report& report) {
  for (std::size_t i = 0; i < model.entities.size(); ++i) {
    const auto& written = syntax.entities[i];
    const auto& entity = model.entities[i];
    for (const auto& expression : written.expressions) check_generators(expression.what, report);
    for (const auto& that : written.checks) check_generators(that, report);
    for (const auto& attribute : written.taken_over) check_type(attribute, entity, report);
    if (written.path) check_path(*written.path, entity, report);
    if (written.is_map) check_keys_of_table(model.table, entity, report);
    check_entity(model.table, entity, report);
    check_owner(entity, report);
    check_owner_access(entity, report);
    for (const auto& expires : model.table.ttl_attribute ? std::vector<Position>() : written.expires)
      report.error(expires, "no-ttl", "a row can expire only if the table names a TTL attribute",
                   "ttl: expiresAt, in `table`");
  }
}

}  // namespace stator::model
