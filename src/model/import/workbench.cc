#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stator/model/import/import.h"
#include "stator/model/import/json_view.h"
#include "stator/model/import/yaml_text.h"

// NoSQL Workbench's file, as far as it is read here:
//
//   { "ModelName": "...", "DataModel": [ { "TableName": "...",
//       "KeyAttributes": { "PartitionKey": { "AttributeName": "PK", "AttributeType": "S" }, "SortKey": {...} },
//       "NonKeyAttributes": [ { "AttributeName": "...", "AttributeType": "S" } ],
//       "TableFacets": [ { "FacetName": "...", "KeyAttributeAlias": { "PartitionKeyAlias": "USER#<id>", ... },
//                          "NonKeyAttributes": [ "..." ] } ],
//       "GlobalSecondaryIndexes": [ { "IndexName": "...", "KeyAttributes": {...}, "Projection": {...} } ],
//       "LocalSecondaryIndexes": [ ... ], "BillingMode": "PROVISIONED", "ProvisionedCapacitySettings": {...} } ] }
namespace stator::model::import {
namespace {

std::optional<std::string> type_of(std::string_view dynamodb) {
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
  return found == kTypes.end() ? std::nullopt : std::optional<std::string>(found->second);
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
      keys.push_back({text_at(*key, "AttributeName").value_or(""), text_at(*key, "AttributeType").value_or("S")});
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
    const auto inside = alias.substr(at + 1, end - at - 1);
    names.push_back(inside.empty() ? "value" : attribute_name(inside));
    out += "{" + names.back() + "}";
    at = end + 1;
  }
  return out;
}

// A word such as customerId, which can be meant as the name of an attribute.
bool is_word(std::string_view text) { return !text.empty() && attribute_name(text) == text; }

class WorkbenchImport {
 public:
  WorkbenchImport(JsonElement root, JsonElement table)
      : root_(root), table_(table), name_(text_at(table, "TableName").value_or("")), keys_(keys_of(table)) {}

  Result<Imported> run() {
    if (keys_.empty()) return validation_error("the table has no key");
    for (const auto& attribute : array_at(table_, "NonKeyAttributes")) {
      types_[text_at(attribute, "AttributeName").value_or("")] = text_at(attribute, "AttributeType").value_or("");
    }
    yaml_.line("model", model_name(name_));
    write_description();
    yaml_.blank();
    write_table();
    yaml_.blank();
    yaml_.begin("entities");
    const auto facets = array_at(table_, "TableFacets");
    for (const auto& facet : facets) write_facet(facet);
    if (facets.empty()) write_only_entity();
    yaml_.end();
    yaml_.blank();
    yaml_.note("Workbench has no access patterns in a form that can be taken over: write them under `patterns`");
    return Imported{.yaml = yaml_.take(), .notes = yaml_.take_notes()};
  }

 private:
  void write_description() {
    const auto metadata = object_at(root_, "ModelMetadata");
    const auto text = metadata ? text_at(*metadata, "Description") : std::nullopt;
    if (text && !text->empty()) yaml_.line("description", yaml_string(*text));
  }

  // --------------------------------------------------------------------------------------------------------- the table

  void write_table() {
    yaml_.begin("table");
    yaml_.line("name", yaml_string(name_));
    yaml_.line("key", fmt::format("[{}{}]", keys_[0].yaml(), keys_.size() > 1 ? ", " + keys_[1].yaml() : ""));
    write_indexes();
    if (types_.contains(std::string(kVersion))) {
      yaml_.note("Version is an attribute here, so the system keeps its own under another name");
      yaml_.line("version_attribute", "_version");
    }
    write_billing();
    const auto rows = array_at(table_, "TableData").size();
    if (rows > 0) yaml_.note(fmt::format("{} sample rows of the table are not taken over", rows));
    for (const auto& [word, value] : members(table_)) {
      static const std::set<std::string_view> kKnown{
          "TableName",   "KeyAttributes", "NonKeyAttributes", "TableFacets",           "GlobalSecondaryIndexes",
          "BillingMode", "TableData",     "DataAccess",       "LocalSecondaryIndexes", "ProvisionedCapacitySettings"};
      if (!kKnown.contains(word)) yaml_.note(fmt::format("`{}` of the table is not taken over", word));
    }
    yaml_.end();
  }

  void write_billing() {
    if (text_at(table_, "BillingMode") != "PROVISIONED") return;
    const auto settings = object_at(table_, "ProvisionedCapacitySettings");
    const auto throughput = settings ? object_at(*settings, "ProvisionedThroughput") : std::nullopt;
    std::int64_t read = 0;
    std::int64_t write = 0;
    const bool given =
        throughput && (*throughput)["ReadCapacityUnits"].get(read) && (*throughput)["WriteCapacityUnits"].get(write);
    if (!given) return yaml_.note("the table was provisioned, and the file does not have its capacity");
    yaml_.line("billing", fmt::format("{{ read: {}, write: {} }}", read, write));
    for (const auto& [word, value] : members(*settings)) {
      if (word.starts_with("AutoScaling")) yaml_.note(fmt::format("`{}` of the table is not taken over", word));
    }
  }

  void write_indexes() {
    const auto globals = array_at(table_, "GlobalSecondaryIndexes");
    const auto locals = array_at(table_, "LocalSecondaryIndexes");
    if (globals.empty() && locals.empty()) return;
    yaml_.begin("indexes");
    for (const auto& index : globals) write_index(index, false);
    for (const auto& index : locals) write_index(index, true);
    yaml_.end();
  }

  void write_index(JsonElement index, bool local) {
    const auto keys = keys_of(index);
    const auto name = text_at(index, "IndexName").value_or("");
    if (keys.empty() || (local && keys.size() < 2))
      return yaml_.note(fmt::format("the index {} has no keys and was left out", name));
    index_keys_.insert(index_keys_.end(), keys.begin(), keys.end());
    const auto key = local ? fmt::format("local: {}", keys[1].yaml())
                           : fmt::format("key: [{}{}]", keys[0].yaml(), keys.size() > 1 ? ", " + keys[1].yaml() : "");
    yaml_.line(name, fmt::format("{{ {}, projection: {} }}", key, projection_of(index)));
  }

  static std::string projection_of(JsonElement index) {
    const auto given = object_at(index, "Projection");
    const auto type = given ? text_at(*given, "ProjectionType") : std::nullopt;
    if (type == "KEYS_ONLY") return "keys";
    if (type != "INCLUDE") return "all";
    std::vector<std::string> included;
    for (const auto& name : texts_at(*given, "NonKeyAttributes")) {
      if (name != kType) included.push_back(yaml_key(attribute_name(name)));
    }
    return yaml_list(included);
  }

  // ---------------------------------------------------------------------------------------------------------- entities

  std::string unused_name(const std::string& facet) {
    const auto wanted = entity_name(facet);
    auto name = wanted;
    for (int number = 2; !entities_.insert(name).second; ++number) name = fmt::format("{}_{}", wanted, number);
    return name;
  }

  // Whether a sample row has this very text as that key.
  bool is_constant(JsonElement facet, const Key& key, const std::string& text) const {
    for (const auto& place : {facet, table_}) {
      for (const auto& row : array_at(place, "TableData")) {
        const auto value = object_at(row, key.name);
        if (value && text_at(*value, "S") == text) return true;
      }
    }
    return false;
  }

  // How the key of a facet is made; the names in it go to `named`.
  std::string template_of(JsonElement facet, const std::string& name, std::size_t part,
                          std::vector<std::string>& named) {
    const auto& key = keys_[part];
    const auto aliases = object_at(facet, "KeyAttributeAlias");
    auto alias =
        aliases ? text_at(*aliases, part == 0 ? "PartitionKeyAlias" : "SortKeyAlias").value_or("") : std::string();
    if (alias.empty() || alias == key.name) {
      alias = "<" + key.name + "Value>";
      yaml_.note(fmt::format("{} has no alias for {}: write its template", name, key.name));
    } else if (is_word(alias) && !is_constant(facet, key, alias)) {
      yaml_.note(
          fmt::format("{} has {} as its {}, which is taken for an attribute; a constant text is written without braces",
                      name, alias, key.name));
      alias = "<" + alias + ">";
    }
    return to_template(alias, named);
  }

  void write_facet(JsonElement facet) {
    const auto name = text_at(facet, "FacetName").value_or("");
    yaml_.begin(unused_name(name));
    yaml_.line("type", yaml_string(name));
    std::map<std::string, std::string> named;  // attributes of the keys, and their types
    std::vector<std::string> order;
    yaml_.begin("keys");
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      std::vector<std::string> names;
      const auto text = template_of(facet, name, i, names);
      yaml_.line(keys_[i].name, yaml_string(text));
      for (const auto& each : names) {
        if (named.emplace(each, keys_[i].type == "N" ? "number" : key_type(each)).second) order.push_back(each);
      }
    }
    yaml_.end();
    yaml_.begin("attributes");
    std::set<std::string> written;
    for (const auto& attribute : order) {
      written.insert(attribute);
      yaml_.line(attribute, fmt::format("{{ type: {}, required: true, immutable: true }}", named.at(attribute)));
    }
    for (const auto& attribute : texts_at(facet, "NonKeyAttributes")) {
      if (written.insert(attribute_name(attribute)).second) write_attribute(name, attribute);
    }
    yaml_.end();
    yaml_.end();
    const auto rows = array_at(facet, "TableData").size();
    if (rows > 0) yaml_.note(fmt::format("{} sample rows of {} are not taken over", rows, name));
  }

  // Texts, numbers and booleans can be in a template. For other types in Workbench, a name in an alias is a text.
  std::string key_type(const std::string& attribute) const {
    const auto known = types_.find(attribute);
    const auto type = known == types_.end() ? std::nullopt : type_of(known->second);
    return type == "number" || type == "binary" ? *type : "string";
  }

  void write_attribute(const std::string& entity, const std::string& attribute) {
    if (attribute == kType) return yaml_.note(fmt::format("{} of {} is kept by the system", attribute, entity));
    const auto name = attribute_name(attribute);
    if (name != attribute)
      yaml_.note(fmt::format("{} of {} is no name of the model language, and is {} here", attribute, entity, name));
    const auto known = types_.find(attribute);
    auto type = known == types_.end() ? std::nullopt : type_of(known->second);
    for (const auto& key : index_keys_) {
      if (key.name == attribute) type = type_of(key.type);
    }
    if (!type)
      yaml_.note(known == types_.end()
                     ? fmt::format("{} of {} is not among the table's attributes: write its type", attribute, entity)
                     : fmt::format("{} of {} is of type {}: choose a type", attribute, entity, known->second));
    yaml_.line(name, type.value_or("any"));
  }

  // Without facets, every row of the table is the same kind of thing, and its keys are what they are.
  void write_only_entity() {
    yaml_.note("the table has no facets, so all its rows are one entity; its name is the table's");
    yaml_.begin(unused_name(name_));
    yaml_.begin("attributes");
    for (const auto& key : keys_) {
      yaml_.line(key.name,
                 fmt::format("{{ type: {}, required: true, immutable: true }}", type_of(key.type).value_or("string")));
    }
    for (const auto& attribute : array_at(table_, "NonKeyAttributes")) {
      write_attribute(name_, text_at(attribute, "AttributeName").value_or(""));
    }
    yaml_.end();
    yaml_.end();
  }

  static constexpr std::string_view kType = "EntityType";
  static constexpr std::string_view kVersion = "Version";

  JsonElement root_;
  JsonElement table_;
  std::string name_;
  std::vector<Key> keys_;
  std::vector<Key> index_keys_;
  std::map<std::string, std::string> types_;  // of the table's attributes, in DynamoDB's letters
  std::set<std::string> entities_;
  YamlText yaml_;
};

Result<JsonElement> choose_table(const std::vector<JsonElement>& tables, std::string_view wanted) {
  if (tables.empty()) return validation_error("the file has no DataModel with tables: is it one of NoSQL Workbench?");
  if (wanted.empty() && tables.size() == 1) return tables.front();
  std::string names;
  for (const auto& table : tables) {
    const auto name = text_at(table, "TableName").value_or("");
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
  return WorkbenchImport(root, table).run();
}

}  // namespace stator::model::import
