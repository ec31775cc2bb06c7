#include <fmt/format.h>

#include <algorithm>

#include "stator/model/syntax/parse.h"

namespace stator::model {
namespace {

// ------------------------------------------------------------------------------------------------------------- records

std::optional<KeyTemplate> parse_key_template(const YamlNode& node, EntitySyntax& entity, Report& report) {
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
      entity.callers_in_keys.push_back(place_in_template(parsed->source, name));
      return std::nullopt;
    }
  }
  KeyTemplate key{
      .text = parsed->value, .when = when ? std::optional(when->value) : std::nullopt, .position = text->position};
  if (when) entity.expressions.push_back({.what = std::move(*when), .stored_for = "a key"});
  entity.keys.push_back(std::move(*parsed));
  return key;
}

void parse_keys(const YamlNode& node, const TableDesign& table, EntitySyntax& entity, Record& record, Report& report) {
  if (table.partition.name.empty()) return;  // which has been reported
  std::vector<std::string_view> known;
  for_each_key(table, [&](const KeyDesign& key) { known.push_back(key.name); });
  for (const auto& item : read_members(node, "`keys`", report)) {
    entity.key_attributes.push_back(item.key);
    if (std::find(known.begin(), known.end(), item.key.text) == known.end()) continue;
    KeyRule rule{.attribute = item.key.text, .alternatives = {}, .position = item.key.position};
    for (const auto& alternative : read_list(item)) {
      if (auto loaded = parse_key_template(alternative, entity, report))
        rule.alternatives.push_back(std::move(*loaded));
    }
    record.keys.push_back(std::move(rule));
  }
  // Of the table first, then of indexes, each in the order of the file.
  std::stable_partition(record.keys.begin(), record.keys.end(), [&](const KeyRule& rule) {
    return rule.attribute == table.partition.name || (table.sort && rule.attribute == table.sort->name);
  });
}

void parse_expires(Words& words, EntitySyntax& entity, Record& record, Report& report) {
  const YamlNode* node = words.find("expires");
  if (node == nullptr) return;
  auto expression = read_expression(*node, report);
  if (!expression) return;
  entity.expires.push_back(node->key.position);
  record.expires = expression->value;
  entity.expressions.push_back({.what = std::move(*expression), .stored_for = "a row's end"});
}

// The words that a record has, on its own or as an entity with only one.
void parse_record_words(Words& words, const TableDesign& table, EntitySyntax& entity, Record& record, Report& report) {
  if (const YamlNode* keys = words.find("keys")) parse_keys(*keys, table, entity, record, report);
  if (const YamlNode* type = words.find("type")) {
    if (const auto text = read_text(*type, "the value of the type attribute", report)) record.type = text->text;
  }
  parse_expires(words, entity, record, report);
}

void parse_record(const YamlNode& node, const TableDesign& table, EntitySyntax& written, Report& report) {
  Entity& entity = written.entity;
  const bool is_first = entity.records.empty();
  check_name(node.key, "the name of a record", report);
  Record record;
  record.name = node.key.text;
  record.type = is_first ? entity.name : fmt::format("{}.{}", entity.name, record.name);
  record.position = node.key.position;
  Words words(node, "a record", report);
  record.description = parse_description(words, report);
  parse_record_words(words, table, written, record, report);
  if (const YamlNode* attributes = words.find("attributes")) {
    if (is_first) written.of_first_record.push_back(attributes->key);
    for (const auto& name : read_texts(*attributes, "an attribute of a record", report)) {
      record.attributes.push_back(name.text);
      written.names.push_back({.what = name});
    }
  }
  if (const YamlNode* when = words.find("when")) {
    if (is_first) written.of_first_record.push_back(when->key);
    if (auto expression = read_expression(*when, report)) {
      record.when = expression->value;
      written.expressions.push_back({.what = std::move(*expression), .stored_for = "a record"});
    }
  }
  words.done();
  entity.records.push_back(std::move(record));
}

void parse_records(Words& words, const TableDesign& table, EntitySyntax& written, Report& report) {
  Entity& entity = written.entity;
  const YamlNode* records = words.find("records");
  if (records == nullptr) {
    Record record;
    record.name = "main";
    record.type = entity.name;
    record.position = entity.position;
    parse_record_words(words, table, written, record, report);
    entity.records.push_back(std::move(record));
    return;
  }
  for (const std::string_view word : {"keys", "type", "expires"}) {
    if (const YamlNode* node = words.find(word)) written.beside_records.push_back(node->key);
  }
  for (const auto& record : read_members(*records, "`records`", report)) parse_record(record, table, written, report);
  if (entity.records.empty()) {
    if (records->is_map()) report.error(records->key.position, "missing-word", "`records` needs at least one record");
    Record record;  // stands for those that could not be read
    record.name = "main";
    record.position = records->key.position;
    entity.records.push_back(std::move(record));
  }
}

// ------------------------------------------------------------------------------------------------------------- parents

void parse_on_delete(const YamlNode& node, Parent& parent, std::vector<Text>& cleared, Report& report) {
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
    cleared = read_texts(*clear, "an attribute to clear", report);
    for (const auto& name : cleared) parent.clear.push_back(name.text);
  }
  words.done();
}

void parse_parent(const YamlNode& node, EntitySyntax& entity, Report& report) {
  if (!check_name(node.key, "the name of a relation", report)) return;
  Parent parent;
  ParentSyntax written;
  parent.name = node.key.text;
  parent.position = node.key.position;
  Words words(node, "a parent", report);
  parent.description = parse_description(words, report);
  if (const YamlNode* to = words.need("entity")) written.entity = read_text(*to, "the parent's entity", report);
  if (written.entity) parent.entity = written.entity->text;
  if (const YamlNode* given = words.find("by")) {
    for (const auto& item : read_members(*given, "by", report)) {
      if (auto own = read_text(item, "an attribute of this entity", report))
        written.by.emplace_back(item.key, std::move(*own));
    }
  }
  if (const YamlNode* when = words.find("when")) {
    if (auto expression = read_expression(*when, report)) {
      parent.when = expression->value;
      entity.expressions.push_back({.what = std::move(*expression), .stored_for = "a relation"});
    }
  }
  if (const YamlNode* flag = words.find("optional"))
    parent.optional = read_boolean(*flag, "optional", report).value_or(false);
  if (const YamlNode* flag = words.find("must_exist"))
    parent.must_exist = read_boolean(*flag, "must_exist", report).value_or(true);
  if (const YamlNode* action = words.find("on_delete")) parse_on_delete(*action, parent, written.clear, report);
  words.done();
  entity.entity.parents.push_back(std::move(parent));
  entity.parents.push_back(std::move(written));
}

// --------------------------------------------------------------------------------------------------------------- rules

void parse_unique(const YamlNode& node, EntitySyntax& entity, Report& report) {
  Words words(node, "a unique rule", report);
  Unique unique;
  unique.position = node.position;
  const auto names = [&](const YamlNode* list, std::vector<std::string>& into) {
    if (list == nullptr) return;
    for (const auto& name : read_texts(*list, "an attribute", report)) {
      if (name.text == "table" && &into == &unique.within) continue;
      into.push_back(name.text);
      entity.names.push_back({.what = name, .stored_for = "a unique rule"});
    }
  };
  names(words.need("attributes"), unique.attributes);
  names(words.find("within"), unique.within);
  unique.compared = parse_fold(words.find("fold"), report);
  words.done();
  entity.entity.uniques.push_back(std::move(unique));
}

void parse_check(const YamlNode& node, EntitySyntax& entity, Report& report) {
  Words words(node, "a check", report);
  const YamlNode* that = words.need("that");
  const YamlNode* attribute = words.need("attribute");
  const YamlNode* problem = words.need("problem");
  words.done();
  auto expression = that == nullptr ? std::nullopt : read_expression(*that, report);
  auto name = attribute == nullptr ? std::nullopt : read_text(*attribute, "an attribute", report);
  const auto text = problem == nullptr ? std::nullopt : read_text(*problem, "a problem", report);
  if (!expression || !name || !text) return;
  entity.entity.checks.push_back(
      {.that = expression->value, .attribute = name->text, .problem = text->text, .position = node.position});
  entity.checks.push_back(std::move(*expression));
  entity.names.push_back({.what = std::move(*name)});
}

void parse_soft_delete(const YamlNode& node, EntitySyntax& entity, Report& report) {
  Words words(node, "soft_delete", report);
  SoftDelete rule;
  rule.position = node.position;
  const auto take = [&](const YamlNode* value, Kind kind) -> std::optional<std::string> {
    const auto name = value == nullptr ? std::nullopt : read_text(*value, "an attribute", report);
    if (!name) return std::nullopt;
    entity.taken_over.push_back({.attribute = *name, .kind = kind, .purpose = "a soft deletion"});
    return name->text;
  };
  rule.attribute = take(words.need("attribute"), Kind::Boolean).value_or("");
  rule.at = take(words.find("at"), Kind::Timestamp);
  if (const YamlNode* keep = words.find("keep")) {
    rule.keep = read_duration(*keep, "keep", report);
    entity.keep = keep->key.position;
  }
  words.done();
  entity.entity.soft_delete = std::move(rule);
}

// --------------------------------------------------------------------------------------------------- routes and access

OperationsSyntax parse_operations(const YamlNode& node, Report& report) {
  OperationsSyntax operations{
      .position = node.key.position, .is_empty = node.is_list() && node.items.empty(), .names = {}};
  for (const auto& item : read_list(node)) {
    if (read_word(item, "an operation", kOperations, report)) operations.names.push_back(item.text);
  }
  return operations;
}

void parse_entity_access(const YamlNode* node, EntitySyntax& written, Report& report) {
  Entity& entity = written.entity;
  if (entity.owner) {
    Access owner;
    owner.owner = true;
    owner.position = entity.position;
    entity.create = entity.read = entity.update = entity.remove = owner;
  }
  if (node == nullptr) return;
  Words words(*node, "access", report);
  const auto take = [&](std::string_view word, std::vector<Access Entity::*> members) {
    const YamlNode* list = words.find(word);
    if (list == nullptr) return;
    auto [access, anyone_when, grants] = parse_access(*list, report);
    if (anyone_when && word == "read") written.expressions.push_back({.what = *anyone_when, .stored_for = "access"});
    for (const auto member : members) entity.*member = access;
    const auto condition = anyone_when ? std::optional(anyone_when->source.position) : std::nullopt;
    written.granted.push_back({.to = std::move(members), .grants = std::move(grants), .condition = condition});
  };
  take("read", {&Entity::read});
  take("write", {&Entity::create, &Entity::update, &Entity::remove});
  take("create", {&Entity::create});
  take("update", {&Entity::update});
  take("delete", {&Entity::remove});
  words.done();
}

}  // namespace

void parse_entity(const YamlNode& node, Syntax& syntax, Report& report) {
  if (!check_name(node.key, "the name of an entity", report)) return;
  const TableDesign& table = syntax.table.design;
  EntitySyntax written;
  Entity& entity = written.entity;
  entity.name = node.key.text;
  entity.position = node.key.position;
  entity.key_family = entity.name;
  Words words(node, "an entity", report);
  written.is_map = words.is_map();
  entity.description = parse_description(words, report);
  const auto flag = [&](std::string_view word, bool& member) {
    if (const YamlNode* value = words.find(word)) member = read_boolean(*value, word, report).value_or(member);
  };
  if (const YamlNode* attributes = words.need("attributes")) {
    for (const auto& attribute : read_members(*attributes, "`attributes`", report))
      parse_attribute(attribute, written, syntax, report);
  }
  if (const YamlNode* parents = words.find("parents")) {
    for (const auto& parent : read_members(*parents, "`parents`", report)) parse_parent(parent, written, report);
  }
  parse_records(words, table, written, report);
  if (const YamlNode* family = words.find("key_family")) {
    if (const auto text = read_text(*family, "a key family", report)) entity.key_family = text->text;
  }
  if (const YamlNode* uniques = words.find("unique")) {
    for (const auto& unique : read_list(*uniques)) parse_unique(unique, written, report);
  }
  if (const YamlNode* checks = words.find("checks")) {
    for (const auto& check : read_list(*checks)) parse_check(check, written, report);
  }
  flag("append_only", entity.append_only);
  flag("versioned", entity.versioned);
  if (const YamlNode* rule = words.find("soft_delete")) {
    written.soft_delete = rule->key.position;
    parse_soft_delete(*rule, written, report);
  }
  if (const YamlNode* unfinished = words.find("unfinished")) {
    if (const auto name = read_text(*unfinished, "an attribute", report)) {
      entity.unfinished = name->text;
      written.taken_over.push_back({.attribute = *name, .kind = Kind::Boolean, .purpose = "an unfinished entity"});
    }
  }
  if (const YamlNode* owner = words.find("owner")) {
    if (auto name = read_text(*owner, "the owner", report)) {
      entity.owner = name->text;
      written.names.push_back({.what = std::move(*name)});
    }
  }
  parse_entity_access(words.find("access"), written, report);
  if (const YamlNode* path = words.find("path")) {
    written.path = parse_route(*path, QueryString::Refused, report);
    if (written.path) entity.path = written.path->text.text;
  }
  if (const YamlNode* operations = words.find("operations")) written.operations = parse_operations(*operations, report);
  words.done();
  syntax.entities.push_back(std::move(written));
}

}  // namespace stator::model
