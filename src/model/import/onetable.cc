#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stator/model/import/import.h"
#include "stator/model/import/json_view.h"
#include "stator/model/import/onetable_template.h"
#include "stator/model/import/yaml_text.h"

// OneTable's schema, as far as it is read here:
//
//   { "indexes": { "primary": { "hash": "pk", "sort": "sk" }, "gs1": { "hash": "gs1pk", "project": "all", ... } },
//     "models": { "Account": { "pk": { "type": "string", "value": "account:${id}" },
//                              "id": { "type": "string", "generate": "ulid" },
//                              "name": { "type": "string", "required": true, "unique": true, ... } } },
//     "params": { "typeField": "_type", "timestamps": true, "createdField": "created", "updatedField": "updated" } }
namespace stator::model::import {
namespace {

constexpr std::size_t kDeepestSchema = 16;

// A plain value as YAML.
std::optional<std::string> plain_value(JsonElement json) {
  switch (json.type()) {
    case value::JsonType::String: return yaml_string(json.string());
    case value::JsonType::Int64: return std::to_string(json.integer());
    case value::JsonType::Uint64: return std::to_string(json.natural());
    case value::JsonType::Double: return fmt::format("{}", json.real());
    case value::JsonType::Bool: return json.boolean() ? "true" : "false";
    default: return std::nullopt;
  }
}

// The type of a field in a model's word; nullopt when there is none.
std::optional<std::string> type_word(JsonElement field) {
  static const std::map<std::string_view, std::string_view> kTypes = {
      {"string", "string"}, {"number", "number"}, {"boolean", "boolean"}, {"date", "timestamp"},
      {"binary", "binary"}, {"buffer", "binary"}, {"object", "map"},      {"arraybuffer", "binary"},
      {"array", "list"},    {"set", "set"}};
  const auto found = kTypes.find(text_at(field, "type").value_or("string"));
  return found == kTypes.end() ? std::nullopt : std::optional<std::string>(found->second);
}

bool is_listed(std::string_view name, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

class OneTableImport {
 public:
  OneTableImport(JsonElement schema, std::string_view name) : schema_(schema), name_(name) {}

  Result<Imported> run() {
    const auto indexes = object_at(schema_, "indexes");
    const auto models = object_at(schema_, "models");
    if (!indexes || !models)
      return validation_error("the file has no `indexes` and `models`: is it a schema of OneTable?");
    const auto primary = object_at(*indexes, "primary");
    if (!primary || !text_at(*primary, "hash")) return validation_error("the schema has no primary index with a hash");
    params_ = object_at(schema_, "params");
    type_field_ = param("typeField", "_type");
    look_at_fields(*indexes, *models);
    yaml_.line("model", model_name(name_));
    yaml_.blank();
    write_notes_on_schema();
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
    return params_ ? text_at(*params_, name).value_or(std::string(otherwise)) : std::string(otherwise);
  }

  // Collects facts about all fields before the first is written.
  void look_at_fields(JsonElement indexes, JsonElement models) {
    for (const auto& [index, keys] : members(indexes)) {
      for (const auto* part : {"hash", "sort"}) {
        if (const auto key = text_at(keys, part)) keys_.emplace(*key, "");
      }
    }
    for (const auto& [model, fields] : members(models)) {
      for (const auto& [attribute, field] : members(fields)) {
        if (flag_at(field, "ttl") && !ttl_) ttl_ = attribute;
        names_.insert(attribute);
        has_dates_ =
            has_dates_ || (text_at(field, "type") == "date" && !flag_at(field, "isoDates") && !flag_at(field, "ttl"));
        const auto type = type_word(field);
        const auto key = keys_.find(attribute);
        if (key != keys_.end() && type == "number") key->second = ":N";
        if (key != keys_.end() && type == "binary") key->second = ":B";
        for (const auto& part : ValueTemplate::parse(text_at(field, "value").value_or("")).parts) {
          if (!part.width.empty()) padded_.insert(model + "." + part.text);
        }
      }
    }
  }

  void write_notes_on_schema() {
    for (const auto& [word, value] : members(schema_)) {
      if (!is_listed(word, {"format", "version", "indexes", "models", "params"}))
        yaml_.note(fmt::format("`{}` of the schema is not taken over", word));
    }
    for (const auto& [word, value] : params_ ? members(*params_) : std::vector<std::pair<std::string, JsonElement>>()) {
      if (!is_listed(word, {"typeField", "timestamps", "createdField", "updatedField", "isoDates", "warn"}))
        yaml_.note(fmt::format("`{}` of the params is not taken over", word));
    }
    if (has_dates_ && !(params_ && flag_at(*params_, "isoDates")))
      yaml_.note(
          "dates were stored as numbers, without isoDates; here they are texts, so rows that there are have to be "
          "changed");
  }

  // --------------------------------------------------------------------------------------------------------- the table

  std::string key_word(const std::string& attribute) const { return yaml_key(attribute) + keys_.at(attribute); }

  std::string key_words(const std::string& hash, const std::optional<std::string>& sort) const {
    return fmt::format("[{}{}]", key_word(hash), sort ? ", " + key_word(*sort) : "");
  }

  void write_table(JsonElement indexes, JsonElement primary) {
    yaml_.begin("table");
    yaml_.line("name", yaml_string(name_));
    yaml_.line("key", key_words(*text_at(primary, "hash"), text_at(primary, "sort")));
    bool any = false;
    for (const auto& [index, keys] : members(indexes)) {
      if (index == "primary") continue;
      if (!any) yaml_.begin("indexes");
      any = true;
      write_index(index, keys);
    }
    if (any) yaml_.end();
    yaml_.line("type_attribute", yaml_key(type_field_));
    if (names_.contains("Version")) {
      yaml_.note("Version is an attribute here, so the system keeps its own under another name");
      yaml_.line("version_attribute", "_version");
    }
    if (ttl_) yaml_.line("ttl", yaml_key(*ttl_));
    yaml_.end();
  }

  void write_index(const std::string& index, JsonElement keys) {
    const auto hash = text_at(keys, "hash");
    const auto sort = text_at(keys, "sort");
    const bool local = text_at(keys, "type") == "local" || !hash;
    if (local && !sort) return yaml_.note(fmt::format("the local index {} has no sort key and was left out", index));
    for (const auto& [word, value] : members(keys)) {
      if (!is_listed(word, {"hash", "sort", "type", "project"}))
        yaml_.note(fmt::format("`{}` of the index {} is not taken over", word, index));
    }
    const auto key = local ? fmt::format("local: {}", key_word(*sort)) : fmt::format("key: {}", key_words(*hash, sort));
    yaml_.line(index, fmt::format("{{ {}, projection: {} }}", key, projection_of(index, keys)));
  }

  std::string projection_of(const std::string& index, JsonElement keys) {
    if (const auto word = text_at(keys, "project")) return *word == "keys" ? "keys" : "all";
    if (!has(keys, "project")) return "all";
    std::vector<std::string> names;
    for (const auto& name : texts_at(keys, "project")) {
      if (keys_.contains(name) && !is_stored(name)) continue;  // keys are in it anyway
      if (names_.contains(name)) {
        names.push_back(yaml_key(attribute_name(name)));
      } else if (name != type_field_) {
        yaml_.note(fmt::format("{} projects {}, which no model has", index, name));
      }
    }
    return names.empty() ? "keys" : yaml_list(names);
  }

  // Whether a key is an attribute as it is in some model.
  bool is_stored(const std::string& key) const {
    for (const auto& [model, fields] : members(*object_at(schema_, "models"))) {
      JsonElement field;
      if (fields[key].get(field) && !text_at(field, "value")) return true;
    }
    return false;
  }

  // ------------------------------------------------------------------------------------------------------------ models

  std::string unused_name(const std::string& model) {
    const auto wanted = entity_name(model);
    auto name = wanted;
    for (int number = 2; !entities_.insert(name).second; ++number) name = fmt::format("{}_{}", wanted, number);
    return name;
  }

  void write_model(const std::string& model, JsonElement fields) {
    yaml_.begin(unused_name(model));
    yaml_.line("type", yaml_string(model));
    if (ttl_ && has(fields, *ttl_)) yaml_.line("expires", yaml_string(expiry_name()));
    yaml_.begin("keys");
    for (const auto& [attribute, field] : members(fields)) {
      if (is_made_key(attribute, field)) write_key(model, attribute, *text_at(field, "value"));
    }
    yaml_.end();
    yaml_.begin("attributes");
    for (const auto& [attribute, field] : members(fields)) {
      if (is_made_key(attribute, field) || attribute == type_field_) continue;
      if (attribute == ttl_) {
        write_expiry(model, attribute);
      } else {
        write_attribute(model, attribute, field);
      }
    }
    for (const auto* origin : {"created", "updated"}) {
      const auto name = param(fmt::format("{}Field", origin), origin);
      if (const auto word = timestamp_word(name); !word.empty() && !has(fields, name))
        yaml_.line(attribute_name(name), fmt::format("{{ type: timestamp, {} }}", word));
    }
    yaml_.end();
    yaml_.end();
  }

  bool is_made_key(const std::string& attribute, JsonElement field) const {
    return keys_.contains(attribute) && text_at(field, "value");
  }

  void write_key(const std::string& model, const std::string& attribute, const std::string& value) {
    const auto text = ValueTemplate::parse(value);
    for (const auto& part : text.parts) {
      if (!part.width.empty() && part.filler != '0')
        yaml_.note(fmt::format("{}.{} was padded with '{}'; here it is zeros", model, attribute, part.filler));
    }
    yaml_.line(attribute, yaml_string(text.as_template(type_field_, model)));
  }

  // The system writes DynamoDB's TTL attribute; the model has the time in an attribute of its own.
  std::string expiry_name() const { return attribute_name(*ttl_ + "At"); }
  void write_expiry(const std::string& model, const std::string& attribute) {
    yaml_.note(fmt::format("{}.{} is the TTL attribute, and is made from {}, which requests give", model, attribute,
                           expiry_name()));
    yaml_.line(expiry_name(), "timestamp");
  }

  // The word of the model for an attribute with one of OneTable's timestamps; empty for others.
  std::string timestamp_word(const std::string& attribute) const {
    if (!params_) return {};
    const bool both = flag_at(*params_, "timestamps");
    const auto word = text_at(*params_, "timestamps");
    if (attribute == param("createdField", "created") && (both || word == "create")) return "generated: now";
    if (attribute == param("updatedField", "updated") && (both || word == "update")) return "updated: true";
    return {};
  }

  void write_attribute(const std::string& model, const std::string& attribute, JsonElement field) {
    const auto where = model + "." + attribute;
    const auto name = attribute_name(attribute);
    if (name != attribute) yaml_.note(fmt::format("{} is no name of the model language, and is {} here", where, name));
    if (flag_at(field, "crypt")) yaml_.note(where + " was encrypted by OneTable, which has no counterpart");
    if (text_at(field, "map")) yaml_.note(where + " was stored under another name: " + *text_at(field, "map"));
    if (has(field, "encode"))
      yaml_.note(where +
                 " was not stored, but read from a key (`encode`); here it is stored, so rows that there are lack it");
    yaml_.line(name, attribute_text({.where = where, .name = attribute, .depth = 0}, field));
  }

  // ------------------------------------------------------------------------------------------------------------ fields

  struct Place {
    std::string where;  // "Account.name", for notes
    std::string name;   // of the field; of a member of a list, its list's
    std::size_t depth;  // 0: an attribute
  };

  // { type: ..., ... }
  std::string attribute_text(const Place& place, JsonElement field) {
    std::vector<std::string> words;
    auto type = type_word(field).value_or("any");
    if (!has(field, "type")) yaml_.note(place.where + " has no type in this JSON, and is taken for a text");
    if (!type_word(field))
      yaml_.note(fmt::format("{} was of type {}, which has no counterpart", place.where, *text_at(field, "type")));
    if (type == "number" && padded_.contains(place.where)) type = "integer";
    add_values(place, field, type, words);
    const bool made = add_origin(place, field, type, words);
    add_members(place, field, type, words);
    if (flag_at(field, "required") && !made) words.emplace_back("required: true");
    if (flag_at(field, "hidden")) words.emplace_back("hidden: true");
    if (flag_at(field, "unique")) add_unique(place, field, words);
    if (!made) add_default(place, field, words);
    if (const auto pattern = text_at(field, "validate")) {
      add_pattern(place.where, *pattern, words);
    } else if (has(field, "validate")) {
      yaml_.note(place.where + " was validated by a pattern, which this JSON does not hold");
    }
    for (const auto& [word, value] : members(field)) {
      if (!is_listed(word,
                     {"type", "value", "enum", "generate", "schema", "items", "required", "hidden", "unique", "scope",
                      "default", "validate", "ttl", "crypt", "map", "encode", "isoDates", "description"}))
        yaml_.note(fmt::format("`{}` of {} is not taken over", word, place.where));
    }
    if (const auto text = text_at(field, "description")) words.push_back("description: " + yaml_string(*text));
    std::string out = "{ type: " + type;
    for (const auto& word : words) out += ", " + word;
    return out + " }";
  }

  void add_values(const Place& place, JsonElement field, std::string& type, std::vector<std::string>& words) {
    const auto values = array_at(field, "enum");
    if (values.empty()) return;
    if (type != "string")
      return yaml_.note(fmt::format("{} was an enum of type {}; here an enum has texts", place.where, type));
    std::vector<std::string> texts;
    for (const auto& value : values) {
      if (const auto text = plain_value(value)) texts.push_back(*text);
    }
    type = "enum";
    words.push_back("values: " + yaml_list(texts));
  }

  // Whether it is not the client that gives the value.
  bool add_origin(const Place& place, JsonElement field, std::string& type, std::vector<std::string>& words) {
    if (place.depth > 0) return false;
    if (const auto word = timestamp_word(place.name); !word.empty() && type == "timestamp") {
      words.push_back(word);
      return true;
    }
    if (const auto value = text_at(field, "value")) {
      const auto expression = ValueTemplate::parse(*value).as_expression();
      if (expression) words.push_back("derived: " + yaml_string(*expression));
      if (!expression) yaml_.note(fmt::format("{} was made of others: {}; write it as `derived`", place.where, *value));
      return expression.has_value();
    }
    if (!has(field, "generate")) return false;
    const auto generate = text_at(field, "generate");
    if (!generate) {
      yaml_.note(place.where + " was generated by a function of the program; here requests give it");
      return false;
    }
    type = generate == "uuid" ? "uuid" : "ulid";
    if (generate != "uuid" && generate != "ulid")
      yaml_.note(place.where + " was generated as " + *generate + "; a ulid takes its place");
    words.push_back("generated: " + type);
    return true;
  }

  void add_members(const Place& place, JsonElement field, const std::string& type, std::vector<std::string>& words) {
    const auto schema = object_at(field, "schema");
    const auto items = object_at(field, "items");
    if (type == "set" && !items) words.emplace_back("of: string");
    if (!schema && !items) return;
    if (place.depth >= kDeepestSchema) return yaml_.note(place.where + " is nested deeper than is taken over");
    if (schema && type == "map") words.push_back("shape: " + shape_text(place, *schema));
    if (items && (type == "list" || type == "set"))
      words.push_back("of: " + attribute_text({place.where + "[]", place.name, place.depth + 1}, *items));
  }

  std::string shape_text(const Place& place, JsonElement schema) {
    std::vector<std::string> texts;
    for (const auto& [name, field] : members(schema)) {
      texts.push_back(yaml_key(attribute_name(name)) + ": " +
                      attribute_text({place.where + "." + name, name, place.depth + 1}, field));
    }
    return fmt::format("{{ {} }}", fmt::join(texts, ", "));
  }

  // `scope` holds templates of attributes, in which the value is unique.
  void add_unique(const Place& place, JsonElement field, std::vector<std::string>& words) {
    if (place.depth > 0)
      return yaml_.note(place.where + " was unique; here only an attribute of an entity can be, not a member of a map");
    const auto scope = text_at(field, "scope");
    if (!scope) return words.push_back("unique_within: table");
    std::vector<std::string> names;
    for (const auto& part : ValueTemplate::parse(*scope).parts) {
      if (part.hole) names.push_back(yaml_key(part.text));
    }
    if (names.empty())
      return yaml_.note(fmt::format("{} was unique within {}: write the rule again", place.where, *scope));
    words.push_back("unique_within: " + (names.size() == 1 ? names.front() : yaml_list(names)));
  }

  void add_default(const Place& place, JsonElement field, std::vector<std::string>& words) {
    JsonElement otherwise;
    if (!field["default"].get(otherwise)) return;
    const auto text = plain_value(otherwise);
    if (!text || text->find("${") != std::string::npos)
      return yaml_.note(place.where + " has a default that a model can have only as `derived`");
    words.push_back("default: " + *text);
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
  std::optional<JsonElement> params_;
  std::string type_field_;
  std::map<std::string, std::string>
      keys_;                      // key attributes of the table and its indexes, and ":N" or ":B" for those types
  std::set<std::string> names_;   // of all fields
  std::set<std::string> padded_;  // "Invoice.number": in a key as a padded number
  std::set<std::string> entities_;
  std::optional<std::string> ttl_;
  bool has_dates_ = false;
};

}  // namespace

Result<Imported> import_onetable(std::string_view json, std::string_view name) {
  value::JsonParser parser;
  return OneTableImport(TRY(parser.parse(json)), name).run();
}

}  // namespace stator::model::import
