#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stator/model/import/import.h"
#include "stator/model/import/yaml_text.h"
#include "stator/value/json.h"

// NoSQL Workbench's file, as far as it is read here:
//
//   { "ModelName": "...", "DataModel": [ { "TableName": "...",
//       "KeyAttributes": { "PartitionKey": { "AttributeName": "PK", "AttributeType": "S" }, "SortKey": {...} },
//       "NonKeyAttributes": [ { "AttributeName": "...", "AttributeType": "S" } ],
//       "TableFacets": [ { "FacetName": "...", "KeyAttributeAlias": { "PartitionKeyAlias": "USER#<id>", "SortKeyAlias": "..." },
//                          "NonKeyAttributes": [ "..." ] } ],
//       "GlobalSecondaryIndexes": [ { "IndexName": "...", "KeyAttributes": {...}, "Projection": { "ProjectionType": "ALL" } } ],
//       "LocalSecondaryIndexes": [ ... ], "BillingMode": "PROVISIONED", "ProvisionedCapacitySettings": {...} } ] }
namespace stator::model::import {
namespace {

using value::JsonElement;

std::string text_at(JsonElement json, std::string_view key) {
  std::string_view text;
  return json[key].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::vector<JsonElement> array_at(JsonElement json, std::string_view key) {
  value::JsonArray array;
  if (json[key].get(array) != simdjson::SUCCESS) return {};
  return {array.begin(), array.end()};
}

std::optional<JsonElement> object_at(JsonElement json, std::string_view key) {
  JsonElement found;
  if (json[key].get(found) != simdjson::SUCCESS || !found.is_object()) return std::nullopt;
  return found;
}

std::string type_of(std::string_view dynamodb) {
  static const std::map<std::string_view, std::string_view> kTypes = {{"S", "string"},
                                                                      {"N", "number"},
                                                                      {"B", "binary"},
                                                                      {"BOOL", "boolean"},
                                                                      {"L", "list"},
                                                                      {"M", "map"},
                                                                      {"SS", "{ type: set, of: string }"},
                                                                      {"NS", "{ type: set, of: number }"},
                                                                      {"BS", "{ type: set, of: binary }"}};
  const auto found = kTypes.find(dynamodb);
  return found == kTypes.end() ? "any" : std::string(found->second);
}

struct Key {
  std::string name;
  std::string type;  // S, N or B
  std::string yaml() const { return yaml_key(name) + (type == "S" || type.empty() ? "" : ":" + type); }
};

std::vector<Key> keys_of(JsonElement json) {
  std::vector<Key> keys;
  const auto attributes = object_at(json, "KeyAttributes");
  if (!attributes) return keys;
  for (const auto* part : {"PartitionKey", "SortKey"}) {
    if (const auto key = object_at(*attributes, part))
      keys.push_back({text_at(*key, "AttributeName"), text_at(*key, "AttributeType")});
  }
  return keys;
}

// USER#<userId> is USER#{userId}.  The names between the brackets go to `names`.
std::string to_template(std::string_view alias, std::vector<std::string>& names) {
  std::string out;
  std::size_t at = 0;
  while (at < alias.size()) {
    const char open = alias[at];
    const char close = open == '<' ? '>' : open == '{' ? '}' : '\0';
    const auto end = close == '\0' ? std::string_view::npos : alias.find(close, at);
    if (end == std::string_view::npos) {
      if (open == '{' || open == '}') out += open;  // doubled: a brace of its own
      out += open;
      ++at;
      continue;
    }
    std::string name;
    for (const char c : alias.substr(at + 1, end - at - 1))
      name += (std::isalnum(static_cast<unsigned char>(c)) != 0) ? c : '_';
    if (name.empty()) name = "value";
    names.push_back(name);
    out += "{" + name + "}";
    at = end + 1;
  }
  return out;
}

void write_indexes(YamlText& yaml, JsonElement table) {
  const auto globals = array_at(table, "GlobalSecondaryIndexes");
  const auto locals = array_at(table, "LocalSecondaryIndexes");
  if (globals.empty() && locals.empty()) return;
  yaml.begin("indexes");
  const auto write = [&](JsonElement index, bool local) {
    const auto keys = keys_of(index);
    if (keys.empty() || (local && keys.size() < 2)) return yaml.note("an index without keys was left out");
    std::string key = local ? fmt::format("local: {}", keys[1].yaml())
                            : fmt::format("key: [{}{}]", keys[0].yaml(), keys.size() > 1 ? ", " + keys[1].yaml() : "");
    std::string projection = "all";
    if (const auto given = object_at(index, "Projection")) {
      const auto type = text_at(*given, "ProjectionType");
      if (type == "KEYS_ONLY") projection = "keys";
      if (type == "INCLUDE") {
        std::vector<std::string> included;
        for (const auto& name : array_at(*given, "NonKeyAttributes")) {
          std::string_view text;
          if (name.get(text) == simdjson::SUCCESS) included.push_back(yaml_key(text));
        }
        projection = yaml_list(included);
      }
    }
    yaml.line(text_at(index, "IndexName"), fmt::format("{{ {}, projection: {} }}", key, projection));
  };
  for (const auto& index : globals) write(index, false);
  for (const auto& index : locals) write(index, true);
  yaml.end();
}

// The attributes of one facet: those of its aliases first, then its own.
void write_facet(YamlText& yaml, JsonElement table, JsonElement facet,
                 const std::map<std::string, std::string>& types) {
  const auto name = text_at(facet, "FacetName");
  yaml.begin(entity_name(name));
  yaml.line("type", yaml_string(name));
  const auto keys = keys_of(table);
  const auto aliases = object_at(facet, "KeyAttributeAlias");
  std::vector<std::string> named;
  yaml.begin("keys");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto alias = aliases ? text_at(*aliases, i == 0 ? "PartitionKeyAlias" : "SortKeyAlias") : "";
    if (alias.empty() || alias == keys[i].name) {
      alias = "<" + keys[i].name + "Value>";
      yaml.note(fmt::format("{} has no alias for {}: say how it is made", name, keys[i].name));
    }
    yaml.line(keys[i].name, yaml_string(to_template(alias, named)));
  }
  yaml.end();
  yaml.begin("attributes");
  std::set<std::string> written;
  for (const auto& attribute : named) {
    if (written.insert(attribute).second) {
      const auto type = types.find(attribute);
      yaml.line(attribute, fmt::format("{{ type: {}, required: true, immutable: true }}",
                                       type == types.end() || type->second.front() == '{' ? "string" : type->second));
    }
  }
  for (const auto& element : array_at(facet, "NonKeyAttributes")) {
    std::string_view attribute;
    if (element.get(attribute) != simdjson::SUCCESS || !written.insert(std::string(attribute)).second) continue;
    const auto type = types.find(std::string(attribute));
    yaml.line(attribute, type == types.end() ? "any" : type->second);
  }
  yaml.end();
  yaml.end();
}

Result<JsonElement> choose_table(const std::vector<JsonElement>& tables, std::string_view wanted) {
  if (tables.empty()) return validation_error("the file has no DataModel with tables: is it one of NoSQL Workbench?");
  if (wanted.empty() && tables.size() == 1) return tables.front();
  std::string names;
  for (const auto& table : tables) {
    const auto name = text_at(table, "TableName");
    if (name == wanted) return table;
    names += (names.empty() ? "" : ", ") + name;
  }
  return validation_error(wanted.empty()
                              ? fmt::format("the file has several tables; choose one with --table: {}", names)
                              : fmt::format("the file has no table {}; it has {}", wanted, names));
}

}  // namespace

Result<Imported> import_workbench(std::string_view json, std::string_view wanted) {
  value::JsonParser parser;
  const auto root = TRY(parser.parse(json));
  const auto table = TRY(choose_table(array_at(root, "DataModel"), wanted));
  const auto keys = keys_of(table);
  if (keys.empty()) return validation_error("the table has no key");

  YamlText yaml;
  const auto name = text_at(table, "TableName");
  yaml.line("model", model_name(name));
  yaml.blank();
  yaml.begin("table");
  yaml.line("name", yaml_string(name));
  yaml.line("key", fmt::format("[{}{}]", keys[0].yaml(), keys.size() > 1 ? ", " + keys[1].yaml() : ""));
  write_indexes(yaml, table);
  yaml.end();
  yaml.blank();

  std::map<std::string, std::string> types;
  for (const auto& attribute : array_at(table, "NonKeyAttributes")) {
    types[text_at(attribute, "AttributeName")] = type_of(text_at(attribute, "AttributeType"));
  }
  const auto facets = array_at(table, "TableFacets");
  yaml.begin("entities");
  for (const auto& facet : facets) write_facet(yaml, table, facet, types);
  if (facets.empty()) yaml.note("the table has no facets, so there are no entities; write one per kind of row");
  yaml.end();
  yaml.blank();
  yaml.note("Workbench has no access patterns in a form that can be taken over: write them under `patterns`");
  return Imported{.yaml = yaml.take(), .notes = yaml.take_notes()};
}

}  // namespace stator::model::import
