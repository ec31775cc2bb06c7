#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "stator/model/loading.h"

namespace stator::model {
namespace {

constexpr std::array<std::string_view, 7> kOperations{"create", "get", "put", "update", "delete", "restore", "purge"};

// Shows `visit` each key attribute of the table and its indexes once.
void for_each_key(const TableDesign& table, const std::function<void(const KeyDesign&)>& visit) {
  std::set<std::string_view> seen;
  const auto show = [&](const KeyDesign& key) {
    if (seen.insert(key.name).second) visit(key);
  };
  show(table.partition);
  if (table.sort) show(*table.sort);
  for (const auto& index : table.indexes) {
    for (const auto& key : index.partition) show(key);
    for (const auto& key : index.sort) show(key);
  }
}

// ----------------------------------------------------------------------------------------------------------------- records

void put_off_names(const Written<Expression>& expression, const std::string& entity, Loading& loading) {
  loading.later([expression, entity, &loading] { loading.need_attributes(loading.entity(entity), expression); });
}

// The same for an expression that is evaluated again at every change, of what is stored then.
void put_off_stored_names(const Written<Expression>& expression, const std::string& entity, std::string_view user,
                          Loading& loading) {
  put_off_names(expression, entity, loading);
  loading.later(
      [expression, entity, user, &loading] { loading.need_stored(loading.entity(entity), expression, user); });
}

// A template of a key reads attributes that are stored: the key is computed again from them at every change.
void check_key_template(const Entity& entity, const Written<Template>& text, Loading& loading) {
  loading.need_attributes(entity, text);
  for (const auto& path : text.value.attributes()) {
    const Attribute* attribute = entity.find_attribute(std::string_view(path).substr(0, path.find('.')));
    if (attribute != nullptr && !is_stored(*attribute))
      loading.report.error(place_in_template(text.source, path), "not-stored",
                           fmt::format("{} is not stored, so no key can be made from it", path));
  }
}

std::optional<KeyTemplate> load_key_template(const YamlNode& node, const std::string& entity, Loading& loading) {
  Report& report = loading.report;
  const YamlNode* text = &node;
  std::optional<Written<Expression>> when;
  // A map is `{ key: T, when: E }`, or a template without its quotes.
  const bool is_alternative = node.is_map() && std::any_of(node.items.begin(), node.items.end(), [](const auto& item) {
                                return item.key.text == "key" || item.key.text == "when";
                              });
  if (is_alternative) {
    Words words(node, "an alternative of a key", report);
    text = words.need("key");
    if (const YamlNode* condition = words.find("when")) when = read_expression(*condition, report);
    words.done();
    if (text == nullptr) return std::nullopt;
  }
  auto parsed = read_template(*text, report);
  if (!parsed) return std::nullopt;
  for (const auto& name : parsed->value.attributes()) {
    if (name == "me") {
      report.error(place_in_template(parsed->source, name), "unknown-attribute",
                   "{me} is the caller, whom only patterns know; a key is made from the entity's attributes");
      return std::nullopt;
    }
  }
  if (when) put_off_stored_names(*when, entity, "a key", loading);
  loading.later([parsed = *parsed, entity, &loading] { check_key_template(loading.entity(entity), parsed, loading); });
  return KeyTemplate{.text = std::move(parsed->value),
                     .when = when ? std::optional(when->value) : std::nullopt,
                     .position = text->position};
}

void load_keys(const YamlNode& node, const std::string& entity, Record& record, Loading& loading) {
  const TableDesign& table = loading.model.table;
  if (table.partition.name.empty()) return;  // which has been reported
  std::vector<std::string_view> known;
  for_each_key(table, [&](const KeyDesign& key) { known.push_back(key.name); });
  for (const auto& item : read_members(node, "`keys`", loading.report)) {
    if (std::find(known.begin(), known.end(), item.key.text) == known.end()) {
      loading.report.unknown(item.key.position, "unknown-key",
                             fmt::format("{} is not in the key of the table or of an index; those are {}",
                                         item.key.text, spelled_out(known)),
                             item.key.text, known);
      continue;
    }
    KeyRule rule{.attribute = item.key.text, .alternatives = {}, .position = item.key.position};
    for (const auto& alternative : read_list(item)) {
      if (auto loaded = load_key_template(alternative, entity, loading))
        rule.alternatives.push_back(std::move(*loaded));
    }
    record.keys.push_back(std::move(rule));
  }
  // Of the table first, then of indexes, each in the order of the file.
  std::stable_partition(record.keys.begin(), record.keys.end(), [&](const KeyRule& rule) {
    return rule.attribute == table.partition.name || (table.sort && rule.attribute == table.sort->name);
  });
}

void load_expires(Words& words, const std::string& entity, Record& record, Loading& loading) {
  const YamlNode* node = words.find("expires");
  if (node == nullptr) return;
  const auto expression = read_expression(*node, loading.report);
  if (!expression) return;
  if (!loading.model.table.ttl_attribute)
    loading.report.error(node->key.position, "no-ttl",
                         "a row can expire only when the table names the attribute that says when",
                         "ttl: expiresAt, in `table`");
  put_off_stored_names(*expression, entity, "a row's end", loading);
  record.expires = expression->value;
}

// The words that a record has, on its own or as an entity with only one.
void load_record_words(Words& words, const std::string& entity, Record& record, Loading& loading) {
  if (const YamlNode* keys = words.find("keys")) load_keys(*keys, entity, record, loading);
  if (const YamlNode* type = words.find("type")) {
    if (const auto text = read_text(*type, "the value of the type attribute", loading.report)) record.type = text->text;
  }
  load_expires(words, entity, record, loading);
}

void load_record(const YamlNode& node, Entity& entity, Loading& loading) {
  Report& report = loading.report;
  const bool is_first = entity.records.empty();
  check_name(node.key, "the name of a record", report);
  Record record;
  record.name = node.key.text;
  record.type = is_first ? entity.name : fmt::format("{}.{}", entity.name, record.name);
  record.position = node.key.position;
  Words words(node, "a record", report);
  record.description = load_description(words, report);
  load_record_words(words, entity.name, record, loading);
  if (const YamlNode* attributes = words.find("attributes")) {
    if (is_first)
      report.error(attributes->key.position, "first-record",
                   "the first record holds every attribute; a list is for the others");
    for (const auto& name : read_texts(*attributes, "an attribute of a record", report)) {
      record.attributes.push_back(name.text);
      loading.later([name, owner = entity.name, &loading] { loading.need_attribute(loading.entity(owner), name); });
    }
  }
  if (const YamlNode* when = words.find("when")) {
    if (is_first)
      report.error(when->key.position, "first-record",
                   "the first record is always there; a condition is for the others");
    if (const auto expression = read_expression(*when, report)) {
      put_off_stored_names(*expression, entity.name, "a record", loading);
      record.when = expression->value;
    }
  }
  words.done();
  entity.records.push_back(std::move(record));
}

void load_records(Words& words, Entity& entity, Loading& loading) {
  Report& report = loading.report;
  const YamlNode* records = words.find("records");
  if (records == nullptr) {
    Record record;
    record.name = "main";
    record.type = entity.name;
    record.position = entity.position;
    load_record_words(words, entity.name, record, loading);
    entity.records.push_back(std::move(record));
    return;
  }
  for (const std::string_view word : {"keys", "type", "expires"}) {
    if (const YamlNode* node = words.find(word))
      report.error(node->key.position, "contradiction",
                   fmt::format("an entity with `records` has {} in each of them, not beside them", word));
  }
  for (const auto& record : read_members(*records, "`records`", report)) load_record(record, entity, loading);
  if (entity.records.empty()) {
    if (records->is_map()) report.error(records->key.position, "missing-word", "`records` needs at least one record");
    Record record;  // stands for those that could not be read
    record.name = "main";
    record.position = records->key.position;
    entity.records.push_back(std::move(record));
  }
}

// ----------------------------------------------------------------------------------------------------------------- parents

// A relation clears what it brought, and what requests and actions set; anything else would be there again at once.
void check_clear(const std::string& entity, const std::string& relation, const Text& name, Loading& loading) {
  const Entity& owner = loading.entity(entity);
  const Attribute* attribute = loading.need_attribute(owner, name);
  if (attribute == nullptr) return;
  const auto refuse = [&](const std::string& what) {
    loading.report.error(name.position, "contradiction",
                         fmt::format("{} is {}, so it cannot be cleared", name.text, what));
  };
  const auto identity = owner.identity(loading.model.table);
  if (attribute->required && !attribute->default_value) refuse("required");
  if (std::find(identity.begin(), identity.end(), name.text) != identity.end()) refuse("in the key of " + entity);
  if (attribute->derived) refuse("derived");
  if (attribute->count || attribute->sum) refuse("counted");
  if (attribute->copy_of && attribute->copy_of->relation != relation)
    refuse("a copy through " + attribute->copy_of->relation);
}

void load_on_delete(const YamlNode& node, const std::string& entity, Parent& parent, Loading& loading) {
  Report& report = loading.report;
  if (!node.is_map()) {
    constexpr std::array kWords{
        Choice<OnDelete>("nothing", OnDelete::Nothing),
        Choice<OnDelete>("cascade", OnDelete::Cascade),
        Choice<OnDelete>("restrict", OnDelete::Restrict),
    };
    if (const auto choice = read_choice(node, "on_delete, unless it is { clear: [attributes] },", kWords, report))
      parent.on_delete = *choice;
    return;
  }
  parent.on_delete = OnDelete::Clear;
  Words words(node, "on_delete", report);
  if (const YamlNode* clear = words.need("clear")) {
    for (const auto& name : read_texts(*clear, "an attribute to clear", report)) {
      parent.clear.push_back(name.text);
      loading.later([name, entity, relation = parent.name, &loading] { check_clear(entity, relation, name, loading); });
    }
  }
  words.done();
}

struct ByEntry {
  Text parent;  // its attribute
  Text own;
};

// Fills Parent::by: what the file gives, and attributes of the same name for the rest of the parent's key.
void complete_by(const std::string& entity_name, const std::string& relation, const std::vector<ByEntry>& given,
                 const Text& target, Loading& loading) {
  Report& report = loading.report;
  Entity& entity = loading.entity(entity_name);
  auto parent = std::find_if(entity.parents.begin(), entity.parents.end(),
                             [&](const Parent& candidate) { return candidate.name == relation; });
  const Entity* to = loading.need_entity(target);
  if (to == nullptr) return;
  const auto identity = to->identity(loading.model.table);
  for (const auto& entry : given) {
    if (std::find(identity.begin(), identity.end(), entry.parent.text) == identity.end()) {
      const std::vector<std::string_view> known(identity.begin(), identity.end());
      report.unknown(entry.parent.position, "unknown-attribute",
                     fmt::format("{} is not in the key of {}, which is made from {}", entry.parent.text, to->name,
                                 spelled_out(known)),
                     entry.parent.text, known);
    }
    loading.need_attribute(entity, entry.own);
  }
  for (const auto& name : identity) {
    const auto entry = std::find_if(given.begin(), given.end(),
                                    [&](const ByEntry& candidate) { return candidate.parent.text == name; });
    const std::string& own = entry == given.end() ? name : entry->own.text;
    if (entry == given.end() && entity.find_attribute(name) == nullptr)
      report.error(parent->position, "unknown-attribute",
                   fmt::format("{} is found by {}, and {} has no attribute of that name; `by` says which one it is",
                               to->name, name, entity_name),
                   fmt::format("by: {{ {}: ... }}", name));
    parent->by.emplace_back(name, own);
  }
}

// A parent can only refuse to go while it has children if it counts them.
void check_restrict(const std::string& entity, const Parent& parent, Loading& loading) {
  const Entity* to = loading.model.find_entity(parent.entity);
  if (to == nullptr) return;
  const bool is_counted = std::any_of(to->attributes.begin(), to->attributes.end(), [&](const Attribute& attribute) {
    return attribute.count && std::any_of(attribute.count->of.begin(), attribute.count->of.end(), [&](const auto& of) {
             return of.entity == entity && of.relation == parent.name;
           });
  });
  if (!is_counted)
    loading.report.error(
        parent.position, "restrict-needs-count",
        fmt::format("on_delete: restrict needs an attribute of {} that counts {}.{}", to->name, entity, parent.name),
        fmt::format("{}Count: {{ count: {}.{} }}", parent.name, entity, parent.name));
}

void load_parent(const YamlNode& node, Entity& entity, Loading& loading) {
  Report& report = loading.report;
  if (!check_name(node.key, "the name of a relation", report)) return;
  Parent parent;
  parent.name = node.key.text;
  parent.position = node.key.position;
  Words words(node, "a parent", report);
  parent.description = load_description(words, report);
  std::optional<Text> target;
  if (const YamlNode* to = words.need("entity")) target = read_text(*to, "the parent's entity", report);
  std::vector<ByEntry> by;
  if (const YamlNode* given = words.find("by")) {
    for (const auto& item : read_members(*given, "by", report)) {
      if (auto own = read_text(item, "an attribute of this entity", report))
        by.push_back({.parent = item.key, .own = std::move(*own)});
    }
  }
  if (const YamlNode* when = words.find("when")) {
    if (const auto expression = read_expression(*when, report)) {
      put_off_stored_names(*expression, entity.name, "a relation", loading);
      parent.when = expression->value;
    }
  }
  if (const YamlNode* flag = words.find("optional"))
    parent.optional = read_boolean(*flag, "optional", report).value_or(false);
  if (const YamlNode* flag = words.find("must_exist"))
    parent.must_exist = read_boolean(*flag, "must_exist", report).value_or(true);
  if (const YamlNode* action = words.find("on_delete")) load_on_delete(*action, entity.name, parent, loading);
  words.done();
  if (target) {
    parent.entity = target->text;
    loading.later(Loading::Round::Types, [owner = entity.name, relation = parent.name, by, target = *target, &loading] {
      complete_by(owner, relation, by, target, loading);
    });
  }
  if (parent.on_delete == OnDelete::Restrict)
    loading.later([owner = entity.name, parent, &loading] { check_restrict(owner, parent, loading); });
  entity.parents.push_back(std::move(parent));
}

// ------------------------------------------------------------------------------------------------------------------- rules

void load_unique(const YamlNode& node, Entity& entity, Loading& loading) {
  Report& report = loading.report;
  Words words(node, "a unique rule", report);
  Unique unique;
  unique.position = node.position;
  const auto names = [&](const YamlNode* list, std::vector<std::string>& into) {
    if (list == nullptr) return;
    for (const auto& name : read_texts(*list, "an attribute", report)) {
      if (name.text == "table" && &into == &unique.within) continue;
      into.push_back(name.text);
      loading.later([name, owner = entity.name, &loading] {
        loading.need_attribute(loading.entity(owner), name);
        loading.need_stored(loading.entity(owner), name, "what is unique");
      });
    }
  };
  names(words.need("attributes"), unique.attributes);
  names(words.find("within"), unique.within);
  if (const YamlNode* fold = words.find("fold")) unique.fold = read_boolean(*fold, "fold", report).value_or(false);
  words.done();
  entity.uniques.push_back(std::move(unique));
}

void load_check(const YamlNode& node, Entity& entity, Loading& loading) {
  Report& report = loading.report;
  Words words(node, "a check", report);
  const YamlNode* that = words.need("that");
  const YamlNode* attribute = words.need("attribute");
  const YamlNode* problem = words.need("problem");
  words.done();
  const auto expression = that == nullptr ? std::nullopt : read_expression(*that, report);
  const auto name = attribute == nullptr ? std::nullopt : read_text(*attribute, "an attribute", report);
  const auto text = problem == nullptr ? std::nullopt : read_text(*problem, "a problem", report);
  if (!expression || !name || !text) return;
  put_off_names(*expression, entity.name, loading);
  // What is transient is there while a request is checked; what is computed when it is read is not.
  loading.later([expression = *expression, owner = entity.name, &loading] {
    visit_names(expression, [&](const Expression::Node& name_read, Position position) {
      const Attribute* read = loading.entity(owner).find_attribute(name_read.name);
      if (read != nullptr && read->when_read)
        loading.need_stored(loading.entity(owner), {.text = name_read.name, .position = position, .lead = 0},
                            "a check");
    });
  });
  loading.later([name = *name, owner = entity.name, &loading] { loading.need_attribute(loading.entity(owner), name); });
  entity.checks.push_back(
      {.that = expression->value, .attribute = name->text, .problem = text->text, .position = node.position});
}

// The attributes of a soft deletion belong to the model: no request sets them.
void take_over(const Text& name, Kind kind, std::string_view kind_text, const std::string& entity_name,
               Loading& loading) {
  Entity& entity = loading.entity(entity_name);
  if (loading.need_attribute(entity, name) == nullptr) return;
  auto attribute = std::find_if(entity.attributes.begin(), entity.attributes.end(),
                                [&](const Attribute& candidate) { return candidate.name == name.text; });
  if (attribute->type.kind != kind)
    loading.report.error(name.position, "wrong-type",
                         fmt::format("{} has to be of type {} for a soft deletion", name.text, kind_text));
  attribute->internal = true;
}

void load_soft_delete(const YamlNode& node, Entity& entity, Loading& loading) {
  Report& report = loading.report;
  Words words(node, "soft_delete", report);
  SoftDelete rule;
  rule.position = node.position;
  const auto take = [&](const YamlNode* value, Kind kind, std::string_view kind_text) -> std::optional<std::string> {
    const auto name = value == nullptr ? std::nullopt : read_text(*value, "an attribute", report);
    if (!name) return std::nullopt;
    loading.later([name = *name, kind, kind_text, owner = entity.name, &loading] {
      take_over(name, kind, kind_text, owner, loading);
    });
    return name->text;
  };
  rule.attribute = take(words.need("attribute"), Kind::Boolean, "boolean").value_or("");
  rule.at = take(words.find("at"), Kind::Timestamp, "timestamp");
  if (const YamlNode* keep = words.find("keep")) {
    rule.keep = read_duration(*keep, "keep", report);
    if (!rule.at)
      report.error(keep->key.position, "missing-word",
                   "keep counts from the deletion, so soft_delete needs the word at");
  }
  words.done();
  entity.soft_delete = std::move(rule);
}

// ------------------------------------------------------------------------------------------------------- routes and access

void load_operations(const YamlNode* node, Entity& entity, Report& report) {
  const auto makes_sense = [&](std::string_view operation) {
    if (operation == "put" || operation == "update" || operation == "delete") return !entity.append_only;
    if (operation == "restore" || operation == "purge") return entity.soft_delete.has_value();
    return true;
  };
  if (node == nullptr) {
    if (entity.path.empty()) return;
    for (const auto operation : kOperations) {
      if (operation != "put" && makes_sense(operation)) entity.operations.emplace_back(operation);
    }
    return;
  }
  if (entity.path.empty() && !(node->is_list() && node->items.empty()))
    report.error(node->key.position, "missing-word", "operations are routes, and there are none without a path");
  for (const auto& item : read_list(*node)) {
    const auto index = read_word(item, "an operation", kOperations, report);
    if (!index) continue;
    const auto operation = kOperations[*index];
    if (!makes_sense(operation)) {
      report.error(item.position, "contradiction",
                   entity.append_only ? fmt::format("an append_only entity has no {}", operation)
                                      : fmt::format("{} is for entities with soft_delete", operation));
    } else if (std::find(entity.operations.begin(), entity.operations.end(), operation) != entity.operations.end()) {
      report.error(item.position, "repeated-word", fmt::format("{} is given twice", operation));
    } else {
      entity.operations.emplace_back(operation);
    }
  }
}

void load_entity_access(const YamlNode* node, Entity& entity, Loading& loading) {
  if (entity.owner) {
    Access owner;
    owner.owner = true;
    owner.position = entity.position;
    entity.create = entity.read = entity.update = entity.remove = owner;
  }
  if (node == nullptr) return;
  Words words(*node, "access", loading.report);
  const auto take = [&](std::string_view word, std::initializer_list<Access*> members) {
    const YamlNode* list = words.find(word);
    if (list == nullptr) return;
    const auto [access, anyone_when] = load_access(*list, loading);
    if (anyone_when && word != "read")
      loading.report.error(anyone_when->source.position, "contradiction",
                           "a condition is for reading; whoever writes is somebody");
    else if (anyone_when)
      put_off_stored_names(*anyone_when, entity.name, "access", loading);
    if (access.owner && !entity.owner)
      loading.report.error(list->position, "no-owner",
                           fmt::format("{} has no owner, so nobody is let in as one", entity.name),
                           "owner: ATTRIBUTE, in the entity");
    for (Access* member : members) *member = access;
  };
  take("read", {&entity.read});
  take("write", {&entity.create, &entity.update, &entity.remove});
  take("create", {&entity.create});
  take("update", {&entity.update});
  take("delete", {&entity.remove});
  words.done();
}

// The route of one entity has to name it: every attribute of its key.
void check_path(const std::string& entity_name, const Route& route, Loading& loading) {
  const Entity& entity = loading.entity(entity_name);
  for (const auto& name : route.parameters)
    loading.need_attribute(entity, {.text = name, .position = place_in_template(route.text, name), .lead = 0});
  for (const auto& name : entity.identity(loading.model.table)) {
    if (!gives({route.parameters.begin(), route.parameters.end()}, entity, name))
      loading.report.error(
          route.text.position, "path-lacks-key",
          fmt::format("the key of {} is made from {}, which the path does not name", entity_name, name),
          fmt::format("/.../{{{}}}", name));
  }
  if (!entity.has_operation("put")) return;
  for (const auto& name : route.parameters) {
    const Attribute* attribute = entity.find_attribute(name);
    if (attribute != nullptr && attribute->computed())
      loading.report.error(place_in_template(route.text, name), "contradiction",
                           fmt::format("a put creates what its path names, and no caller chooses {}", name));
  }
}

// ------------------------------------------------------------------------------------------------- the entity as a whole

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

// DynamoDB takes no empty text or bytes as a key, so an attribute that is one as it is has at least one.  What is computed and empty
// is in no index instead.
void require_content_of_keys(const TableDesign& table, Entity& entity) {
  const auto one = value::Number::from_int(1);
  for_each_key(table, [&](const KeyDesign& key) {
    for (auto& attribute : entity.attributes) {
      const bool can_be_empty = attribute.type.kind == Kind::String || attribute.type.kind == Kind::Binary;
      if (attribute.name != key.name || !can_be_empty || attribute.computed()) continue;
      if (!attribute.type.min || *attribute.type.min < one) attribute.type.min = one;
    }
  });
}

// The copy that a derived attribute is, after all, derived from; null when there is none.  Circles are told of elsewhere.
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

// What can only be said when all attributes and keys of the entity are there.
void check_entity(const std::string& name, Loading& loading) {
  const TableDesign& table = loading.model.table;
  const Entity& entity = loading.entity(name);
  Report& report = loading.report;
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
                        rule.attribute, name));
    }
    const auto need_key = [&](const KeyDesign& key) {
      if (record.find_key(key.name) == nullptr && entity.find_attribute(key.name) == nullptr)
        report.error(record.position, "missing-key",
                     fmt::format("{} has no {}, which is in the key of the table",
                                 entity.records.size() == 1 ? name : fmt::format("{}.{}", name, record.name), key.name),
                     fmt::format("{}: \"...\", in `keys`", key.name));
    };
    if (!table.partition.name.empty()) need_key(table.partition);
    if (table.sort) need_key(*table.sort);
  }
  for_each_key(table, [&](const KeyDesign& key) { check_key_type(entity, key, report); });
}

// What is derived from a count or a sum, or from what is so derived, is not stored: it would have to move with them.
void mark_when_read(Entity& entity) {
  bool again = true;
  while (std::exchange(again, false)) {
    for (auto& attribute : entity.attributes) {
      if (!attribute.derived || attribute.when_read) continue;
      const auto paths = attribute.derived->paths();
      attribute.when_read = std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
        const Attribute* read = entity.find_attribute(path);
        return read != nullptr && (read->count || read->sum || read->when_read);
      });
      again = again || attribute.when_read;
    }
  }
}

}  // namespace

void load_entity(const YamlNode& node, Loading& loading) {
  Report& report = loading.report;
  if (!check_name(node.key, "the name of an entity", report)) return;
  Entity entity;
  entity.name = node.key.text;
  entity.position = node.key.position;
  entity.key_family = entity.name;
  Words words(node, "an entity", report);
  entity.description = load_description(words, report);
  const auto flag = [&](std::string_view word, bool& member) {
    if (const YamlNode* value = words.find(word)) member = read_boolean(*value, word, report).value_or(member);
  };
  if (const YamlNode* attributes = words.need("attributes")) {
    for (const auto& attribute : read_members(*attributes, "`attributes`", report))
      load_attribute(attribute, entity, loading);
    mark_when_read(entity);
    require_content_of_keys(loading.model.table, entity);
  }
  if (const YamlNode* parents = words.find("parents")) {
    for (const auto& parent : read_members(*parents, "`parents`", report)) load_parent(parent, entity, loading);
  }
  load_records(words, entity, loading);
  if (const YamlNode* family = words.find("key_family")) {
    if (const auto text = read_text(*family, "a key family", report)) entity.key_family = text->text;
  }
  if (const YamlNode* uniques = words.find("unique")) {
    for (const auto& unique : read_list(*uniques)) load_unique(unique, entity, loading);
  }
  if (const YamlNode* checks = words.find("checks")) {
    for (const auto& check : read_list(*checks)) load_check(check, entity, loading);
  }
  flag("append_only", entity.append_only);
  flag("versioned", entity.versioned);
  if (const YamlNode* rule = words.find("soft_delete")) {
    load_soft_delete(*rule, entity, loading);
    if (entity.append_only)
      report.error(rule->key.position, "contradiction", "an append_only entity is never deleted, softly or otherwise");
  }
  if (const YamlNode* owner = words.find("owner")) {
    if (const auto name = read_text(*owner, "the owner", report)) {
      entity.owner = name->text;
      loading.later(
          [name = *name, self = entity.name, &loading] { loading.need_attribute(loading.entity(self), name); });
    }
  }
  load_entity_access(words.find("access"), entity, loading);
  if (const YamlNode* path = words.find("path")) {
    if (const auto route = load_route(*path, QueryString::Refused, loading)) {
      entity.path = route->text.text;
      loading.later([route = *route, self = entity.name, &loading] { check_path(self, route, loading); });
    }
  }
  load_operations(words.find("operations"), entity, report);
  words.done();
  if (words.is_map()) loading.later([name = entity.name, &loading] { check_entity(name, loading); });
  loading.model.entities.push_back(std::move(entity));
}

}  // namespace stator::model
