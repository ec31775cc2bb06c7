#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stator/model/import/import.h"
#include "stator/model/import/yaml_text.h"
#include "stator/value/json.h"

// OneTable's schema, as far as it is read here:
//
//   { "indexes": { "primary": { "hash": "pk", "sort": "sk" }, "gs1": { "hash": "gs1pk", "sort": "gs1sk", "project": "all" } },
//     "models": { "Account": { "pk": { "type": "string", "value": "account:${id}" },
//                              "id": { "type": "string", "generate": "ulid" },
//                              "name": { "type": "string", "required": true, "unique": true, "default": "...", "enum": [...] } } },
//     "params": { "typeField": "_type", "timestamps": true, "createdField": "created", "updatedField": "updated" } }
namespace stator::model::import {
namespace {

using value::JsonElement;
using value::JsonObject;

constexpr std::size_t kDeepestSchema = 16;

std::optional<std::string> text_at(JsonElement json, std::string_view key) {
  std::string_view text;
  if (json[key].get(text) != simdjson::SUCCESS) return std::nullopt;
  return std::string(text);
}

bool flag_at(JsonElement json, std::string_view key) {
  bool flag = false;
  return json[key].get(flag) == simdjson::SUCCESS && flag;
}

std::optional<JsonElement> object_at(JsonElement json, std::string_view key) {
  JsonElement found;
  if (json[key].get(found) != simdjson::SUCCESS || !found.is_object()) return std::nullopt;
  return found;
}

// The members of an object in the order of the file.
std::vector<std::pair<std::string, JsonElement>> members(JsonElement json) {
  std::vector<std::pair<std::string, JsonElement>> out;
  JsonObject object;
  if (json.get(object) != simdjson::SUCCESS) return out;
  for (const auto field : object) out.emplace_back(std::string(field.key), field.value);
  return out;
}

// A plain value as YAML.
std::optional<std::string> plain_value(JsonElement json) {
  switch (json.type()) {
    case simdjson::dom::element_type::STRING: return yaml_string(json.get_string().value());
    case simdjson::dom::element_type::INT64: return std::to_string(json.get_int64().value());
    case simdjson::dom::element_type::UINT64: return std::to_string(json.get_uint64().value());
    case simdjson::dom::element_type::DOUBLE: return fmt::format("{}", json.get_double().value());
    case simdjson::dom::element_type::BOOL: return json.get_bool().value() ? "true" : "false";
    default: return std::nullopt;
  }
}

// A literal in a template.
std::string spelled(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '{' || c == '}') out += c;
    out += c;
  }
  return out;
}

// account:${id} is account:{id}; ${order:5:0}, OneTable's padding, is {order:05}; ${_type} is the model's own name.
std::string to_template(std::string_view text, std::string_view type_field, std::string_view model) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const bool hole = text.substr(at, 2) == "${";
    const auto end = hole ? text.find('}', at) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out += spelled(text.substr(at++, 1));
      continue;
    }
    const auto inside = text.substr(at + 2, end - at - 2);
    const auto colon = inside.find(':');
    if (inside == type_field) {
      out += spelled(model);
    } else if (colon == std::string_view::npos) {
      out += fmt::format("{{{}}}", inside);
    } else {
      const auto width = inside.substr(colon + 1, inside.find(':', colon + 1) - colon - 1);
      out += fmt::format("{{{}:0{}}}", inside.substr(0, colon), width);
    }
    at = end + 1;
  }
  return out;
}

std::string type_word(JsonElement field) {
  const auto type = text_at(field, "type").value_or("string");
  static const std::map<std::string_view, std::string_view> kTypes = {
      {"string", "string"}, {"number", "number"}, {"boolean", "boolean"}, {"date", "timestamp"}, {"binary", "binary"},
      {"buffer", "binary"}, {"object", "map"},    {"array", "list"},      {"set", "set"}};
  const auto found = kTypes.find(type);
  return found == kTypes.end() ? "any" : std::string(found->second);
}

class Importer {
 public:
  Importer(JsonElement schema, std::string_view name) : schema_(schema), name_(name) {}

  Result<Imported> run() {
    const auto indexes = object_at(schema_, "indexes");
    const auto models = object_at(schema_, "models");
    if (!indexes || !models)
      return validation_error("the file has no `indexes` and `models`: is it a schema of OneTable?");
    const auto primary = object_at(*indexes, "primary");
    if (!primary || !text_at(*primary, "hash")) return validation_error("the schema has no primary index with a hash");
    yaml_.line("model", model_name(name_));
    yaml_.blank();
    write_table(*indexes, *primary);
    yaml_.blank();
    yaml_.begin("entities");
    for (const auto& [model, fields] : members(*models)) write_model(model, fields);
    yaml_.end();
    yaml_.blank();
    yaml_.note("OneTable's schemas have no access patterns: write them under `patterns`");
    return Imported{.yaml = yaml_.take(), .notes = yaml_.take_notes()};
  }

 private:
  std::string param(std::string_view name, std::string_view otherwise) const {
    const auto params = object_at(schema_, "params");
    return params ? text_at(*params, name).value_or(std::string(otherwise)) : std::string(otherwise);
  }

  void write_table(JsonElement indexes, JsonElement primary) {
    yaml_.begin("table");
    yaml_.line("name", yaml_string(name_));
    const auto sort = text_at(primary, "sort");
    add_key(*text_at(primary, "hash"));
    if (sort) add_key(*sort);
    yaml_.line("key", fmt::format("[{}{}]", yaml_key(*text_at(primary, "hash")), sort ? ", " + yaml_key(*sort) : ""));
    bool any = false;
    for (const auto& [index, keys] : members(indexes)) {
      if (index == "primary") continue;
      if (!any) yaml_.begin("indexes");
      any = true;
      write_index(index, keys);
    }
    if (any) yaml_.end();
    yaml_.line("type_attribute", yaml_key(param("typeField", "_type")));
    for (const auto& [model, fields] : members(*object_at(schema_, "models"))) {
      for (const auto& [attribute, field] : members(fields)) {
        if (flag_at(field, "ttl") && !ttl_) ttl_ = attribute;
      }
    }
    if (ttl_) yaml_.line("ttl", yaml_key(*ttl_));
    yaml_.end();
  }

  void write_index(const std::string& index, JsonElement keys) {
    const auto hash = text_at(keys, "hash");
    const auto sort = text_at(keys, "sort");
    const bool local = text_at(keys, "type") == "local" || !hash;
    if (hash) add_key(*hash);
    if (sort) add_key(*sort);
    if (local && !sort) return yaml_.note(fmt::format("the local index {} has no sort key and was left out", index));
    std::string projection = "all";
    if (const auto word = text_at(keys, "project")) projection = *word == "keys" ? "keys" : "all";
    value::JsonArray included;
    if (keys["project"].get(included) == simdjson::SUCCESS) {
      std::vector<std::string> names;
      for (const auto name : included) {
        std::string_view text;
        if (name.get(text) == simdjson::SUCCESS) names.push_back(yaml_key(text));
      }
      projection = yaml_list(names);
    }
    const auto key = local ? fmt::format("local: {}", yaml_key(*sort))
                           : fmt::format("key: [{}{}]", yaml_key(*hash), sort ? ", " + yaml_key(*sort) : "");
    yaml_.line(index, fmt::format("{{ {}, projection: {} }}", key, projection));
  }

  void add_key(const std::string& attribute) { keys_.insert(attribute); }

  void write_model(const std::string& model, JsonElement fields) {
    yaml_.begin(entity_name(model));
    yaml_.line("type", yaml_string(model));
    yaml_.begin("keys");
    for (const auto& [attribute, field] : members(fields)) {
      const auto value = text_at(field, "value");
      if (keys_.contains(attribute) && value)
        yaml_.line(attribute, yaml_string(to_template(*value, param("typeField", "_type"), model)));
    }
    yaml_.end();
    yaml_.begin("attributes");
    for (const auto& [attribute, field] : members(fields)) {
      if (keys_.contains(attribute) && text_at(field, "value")) continue;
      if (attribute == param("typeField", "_type") || attribute == ttl_) continue;
      write_attribute(model, attribute, field);
    }
    write_timestamps(fields);
    yaml_.end();
    yaml_.end();
  }

  void write_timestamps(JsonElement fields) {
    const auto params = object_at(schema_, "params");
    if (!params) return;
    const bool both = flag_at(*params, "timestamps");
    const auto word = text_at(*params, "timestamps");
    const auto write = [&](std::string_view param_name, std::string_view otherwise, std::string_view value) {
      const auto name = param(param_name, otherwise);
      JsonElement present;
      if (fields[name].get(present) != simdjson::SUCCESS) yaml_.line(name, value);
    };
    if (both || word == "create") write("createdField", "created", "{ type: timestamp, generated: now }");
    if (both || word == "update") write("updatedField", "updated", "{ type: timestamp, updated: true }");
  }

  void write_attribute(const std::string& model, const std::string& attribute, JsonElement field) {
    const auto where = model + "." + attribute;
    if (flag_at(field, "crypt")) yaml_.note(where + " was encrypted by OneTable, which has no counterpart");
    if (text_at(field, "map")) yaml_.note(where + " was stored under another name: " + *text_at(field, "map"));
    if (text_at(field, "value"))
      yaml_.note(where + " was made of others: " + *text_at(field, "value") + "; say it as `derived`");
    yaml_.line(attribute, attribute_text(where, field, 0));
  }

  // { type: ..., ... }
  std::string attribute_text(const std::string& where, JsonElement field, std::size_t depth) {
    std::vector<std::string> words;
    std::string type = type_word(field);
    value::JsonArray values;
    if (field["enum"].get(values) == simdjson::SUCCESS) {
      std::vector<std::string> texts;
      for (const auto value : values) {
        if (const auto text = plain_value(value)) texts.push_back(*text);
      }
      type = "enum";
      words.push_back("values: " + yaml_list(texts));
    }
    const auto generate = text_at(field, "generate");
    if (generate == "ulid" || generate == "uuid") {
      type = *generate;
      words.push_back("generated: " + *generate);
    } else if (generate) {
      yaml_.note(where + " was generated as " + *generate + "; a uuid or ulid takes its place");
      type = "ulid";
      words.emplace_back("generated: ulid");
    }
    if (depth < kDeepestSchema) {
      if (const auto schema = object_at(field, "schema"))
        words.push_back("shape: " + shape_text(where, *schema, depth + 1));
      if (const auto items = object_at(field, "items"))
        words.push_back("of: " + attribute_text(where + "[]", *items, depth + 1));
    } else {
      yaml_.note(where + " is nested deeper than is taken over");
    }
    if (type == "set" && !object_at(field, "items")) words.emplace_back("of: string");
    if (flag_at(field, "required")) words.emplace_back("required: true");
    if (flag_at(field, "hidden")) words.emplace_back("hidden: true");
    if (flag_at(field, "unique") && depth == 0) words.emplace_back("unique_within: table");
    JsonElement otherwise;
    if (field["default"].get(otherwise) == simdjson::SUCCESS) {
      const auto text = plain_value(otherwise);
      if (text && text->find("${") == std::string::npos) {
        words.push_back("default: " + *text);
      } else {
        yaml_.note(where + " has a default that a model says as `derived`, or not at all");
      }
    }
    if (const auto pattern = text_at(field, "validate")) add_pattern(where, *pattern, words);
    std::string out = "{ type: " + type;
    for (const auto& word : words) out += ", " + word;
    return out + " }";
  }

  std::string shape_text(const std::string& where, JsonElement schema, std::size_t depth) {
    std::vector<std::string> texts;
    for (const auto& [name, field] : members(schema)) {
      texts.push_back(yaml_key(name) + ": " + attribute_text(where + "." + name, field, depth));
    }
    return fmt::format("{{ {} }}", fmt::join(texts, ", "));
  }

  // "/^[a-z]+$/" is [a-z]+, because a pattern is for the whole text.
  void add_pattern(const std::string& where, std::string pattern, std::vector<std::string>& words) {
    const auto last = pattern.rfind('/');
    if (pattern.size() < 2 || pattern.front() != '/' || last == 0) {
      return yaml_.note(where + " was validated by " + pattern);
    }
    if (pattern.size() > last + 1) yaml_.note(where + " had flags on its pattern: " + pattern.substr(last + 1));
    pattern = pattern.substr(1, last - 1);
    const bool from_start = !pattern.empty() && pattern.front() == '^';
    const bool to_end = !pattern.empty() && pattern.back() == '$';
    if (from_start) pattern.erase(0, 1);
    if (to_end) pattern.pop_back();
    words.push_back("pattern: " + yaml_string((from_start ? "" : ".*") + pattern + (to_end ? "" : ".*")));
  }

  JsonElement schema_;
  std::string name_;
  YamlText yaml_;
  std::set<std::string> keys_;  // key attributes of the table and its indexes
  std::optional<std::string> ttl_;
};

}  // namespace

Result<Imported> import_onetable(std::string_view json, std::string_view name) {
  value::JsonParser parser;
  return Importer(TRY(parser.parse(json)), name).run();
}

}  // namespace stator::model::import
