// A table as a stored record: format version 1, then a JSON object with one member per field of Table.  Absent members
// have their default, so that a field added later needs no new version.
#include <fmt/format.h>

#include "stator/engine/schema.h"
#include "stator/value/json.h"

namespace stator::engine {
namespace {

using value::JsonArray;
using value::JsonElement;
using value::JsonObject;
using value::JsonWriter;

constexpr char kTableRecordVersion = 1;

// -- writing

void write_time(JsonWriter& json, std::string_view name, const std::optional<WallTime>& time) {
  if (time) json.key(name).integer(time->time_since_epoch().count());
}

void write_throughput(JsonWriter& json, std::string_view name, const Throughput& throughput) {
  json.key(name).begin_array().integer(throughput.read_units).integer(throughput.write_units).end_array();
}

void write_on_demand(JsonWriter& json, std::string_view name, const std::optional<OnDemandThroughput>& on_demand) {
  if (!on_demand) return;
  json.key(name).begin_object();
  if (on_demand->max_read_units) json.key("read").integer(*on_demand->max_read_units);
  if (on_demand->max_write_units) json.key("write").integer(*on_demand->max_write_units);
  json.end_object();
}

void write_attributes(JsonWriter& json, std::string_view name, const std::vector<KeyAttribute>& attributes) {
  json.key(name).begin_array();
  for (const auto& attribute : attributes) {
    json.begin_array().string(attribute.name).string(value::type_name(attribute.type)).end_array();
  }
  json.end_array();
}

void write_keys(JsonWriter& json, const KeySchema& keys) {
  write_attributes(json, "partition", keys.partition);
  write_attributes(json, "sort", keys.sort);
}

void write_index(JsonWriter& json, const Index& index) {
  json.begin_object();
  json.key("id").integer(index.id.value);
  json.key("name").string(index.name);
  json.key("local").boolean(index.kind == IndexKind::Local);
  json.key("building").boolean(index.building);
  write_keys(json, index.keys);
  json.key("projection").integer(static_cast<int>(index.projection.kind));
  json.key("include").begin_array();
  for (const auto& attribute : index.projection.non_key_attributes) json.string(attribute);
  json.end_array();
  write_throughput(json, "throughput", index.throughput);
  write_on_demand(json, "on_demand", index.on_demand);
  if (index.warm) write_throughput(json, "warm", *index.warm);
  json.end_object();
}

// -- reading: a member that is missing or of another type keeps the default; what must be there is checked at the end.

std::int64_t integer_of(JsonObject object, const char* name) { return object.get<std::int64_t>(name).value_or(0); }
bool flag_of(JsonObject object, const char* name) { return object.get<bool>(name).value_or(false); }
std::string text_of(JsonObject object, const char* name) {
  return std::string(object.get<std::string_view>(name).value_or(""));
}

std::optional<WallTime> time_of(JsonObject object, const char* name) {
  const auto micros = object.get<std::int64_t>(name);
  if (!micros) return std::nullopt;
  return WallTime{std::chrono::microseconds{*micros}};
}

std::optional<Throughput> throughput_of(JsonObject object, const char* name) {
  const auto pair = object.get<JsonArray>(name);
  if (!pair || pair->size() != 2) return std::nullopt;
  Throughput throughput;
  if (!pair->at(0).get(throughput.read_units)) return std::nullopt;
  if (!pair->at(1).get(throughput.write_units)) return std::nullopt;
  return throughput;
}

std::optional<OnDemandThroughput> on_demand_of(JsonObject object, const char* name) {
  const auto members = object.get<JsonObject>(name);
  if (!members) return std::nullopt;
  return OnDemandThroughput{.max_read_units = members->get<std::int64_t>("read"),
                            .max_write_units = members->get<std::int64_t>("write")};
}

std::vector<std::string> strings_of(JsonObject object, const char* name) {
  std::vector<std::string> strings;
  for (const JsonElement element : object[name].array()) {
    if (element.is_string()) strings.emplace_back(element.string());
  }
  return strings;
}

// Keys and enumerators decide how everything else is read, so there is no default for one that is not understood.
Error corrupt(std::string_view what) { return {ErrorCode::Corruption, fmt::format("table record has {}", what)}; }

Result<std::vector<KeyAttribute>> attributes_of(JsonObject object, const char* name) {
  std::vector<KeyAttribute> attributes;
  for (const JsonElement element : object[name].array()) {
    JsonArray pair;
    std::string_view attribute, type;
    if (!element.get(pair) || !pair.at(0).get(attribute) || !pair.at(1).get(type)) {
      return corrupt("a key attribute that is no pair of name and type");
    }
    if (type == "S") {
      attributes.push_back({std::string(attribute), value::Type::S});
    } else if (type == "N") {
      attributes.push_back({std::string(attribute), value::Type::N});
    } else if (type == "B") {
      attributes.push_back({std::string(attribute), value::Type::B});
    } else {
      return corrupt("a key attribute of an unknown type");
    }
  }
  return attributes;
}

Result<KeySchema> keys_of(JsonObject object) {
  auto partition = TRY(attributes_of(object, "partition"));
  auto sort = TRY(attributes_of(object, "sort"));
  return KeySchema{std::move(partition), std::move(sort)};
}

Result<Index> index_of(JsonObject object) {
  Index index;
  index.id = IndexId{static_cast<std::uint16_t>(integer_of(object, "id"))};
  index.name = text_of(object, "name");
  index.kind = flag_of(object, "local") ? IndexKind::Local : IndexKind::Global;
  if (index.id.value == 0) return corrupt("an index without an id");
  index.building = flag_of(object, "building");
  index.keys = TRY(keys_of(object));
  const auto projection = integer_of(object, "projection");
  if (projection < 0 || projection > static_cast<int>(ProjectionKind::Include)) return corrupt("an unknown projection");
  index.projection.kind = static_cast<ProjectionKind>(projection);
  index.projection.non_key_attributes = strings_of(object, "include");
  index.throughput = throughput_of(object, "throughput").value_or(Throughput{});
  index.on_demand = on_demand_of(object, "on_demand");
  index.warm = throughput_of(object, "warm");
  if (index.id.value == 0 || index.name.empty() || index.keys.partition.empty()) {
    return corrupt("an index without id, name or key");
  }
  return index;
}

}  // namespace

Bytes encode_table(const Table& table) {
  Bytes bytes(1, kTableRecordVersion);
  JsonWriter json(bytes);
  json.begin_object();
  json.key("id").integer(table.id.value);
  json.key("name").string(table.name);
  json.key("uuid").string(table.uuid);
  write_time(json, "created", table.created);
  write_keys(json, table.keys);
  json.key("next_index_id").integer(table.next_index_id);
  json.key("indexes").begin_array();
  for (const auto& index : table.indexes) write_index(json, index);
  json.end_array();
  write_attributes(json, "definitions", table.attribute_definitions);
  json.key("pay_per_request").boolean(table.billing_mode == BillingMode::PayPerRequest);
  json.key("billing_mode_given").boolean(table.billing_mode_given);
  write_time(json, "pay_per_request_since", table.pay_per_request_since);
  write_throughput(json, "throughput", table.throughput);
  write_time(json, "last_increase", table.last_increase);
  write_time(json, "last_decrease", table.last_decrease);
  json.key("decreases_today").integer(table.decreases_today);
  write_on_demand(json, "on_demand", table.on_demand);
  if (table.warm) write_throughput(json, "warm", *table.warm);
  json.key("stream_enabled").boolean(table.stream.enabled);
  json.key("stream_view").integer(static_cast<int>(table.stream.view));
  json.key("stream_label").string(table.stream.label);
  write_time(json, "stream_since", table.stream.since);
  if (table.ttl_attribute) json.key("ttl_attribute").string(*table.ttl_attribute);
  if (table.encryption) json.key("kms_key").string(table.encryption->kms_key_arn);
  json.key("deletion_protection").boolean(table.deletion_protection);
  if (table.table_class) json.key("class").string(*table.table_class);
  write_time(json, "class_changed", table.table_class_changed);
  json.key("tags").begin_array();
  for (const auto& [name, text] : table.tags) json.begin_array().string(name).string(text).end_array();
  json.end_array();
  json.end_object();
  return bytes;
}

Result<Table> decode_table(BytesView bytes) {
  if (bytes.empty()) return Error{ErrorCode::Corruption, "table record is empty"};
  if (bytes[0] != kTableRecordVersion) {
    return Error{ErrorCode::Corruption, fmt::format("table record has format {}, this program knows formats up to {}",
                                                    static_cast<unsigned char>(bytes[0]), int{kTableRecordVersion})};
  }
  value::JsonParser parser;
  const auto document = parser.parse(bytes.substr(1));
  JsonObject object;
  if (!document || !document->get(object)) {
    return Error{ErrorCode::Corruption, "table record is not a JSON object"};
  }

  Table table;
  table.id = TableId{static_cast<std::uint32_t>(integer_of(object, "id"))};
  table.name = text_of(object, "name");
  table.uuid = text_of(object, "uuid");
  table.created = time_of(object, "created").value_or(WallTime{});
  table.keys = TRY(keys_of(object));
  table.next_index_id = static_cast<std::uint16_t>(object.get<std::int64_t>("next_index_id").value_or(1));
  for (const JsonElement element : object["indexes"].array()) {
    if (!element.is_object()) return corrupt("an index that is no object");
    table.indexes.push_back(TRY(index_of(element.object())));
  }
  table.attribute_definitions = TRY(attributes_of(object, "definitions"));
  table.billing_mode = flag_of(object, "pay_per_request") ? BillingMode::PayPerRequest : BillingMode::Provisioned;
  table.billing_mode_given = flag_of(object, "billing_mode_given");
  table.pay_per_request_since = time_of(object, "pay_per_request_since");
  table.throughput = throughput_of(object, "throughput").value_or(Throughput{});
  table.last_increase = time_of(object, "last_increase");
  table.last_decrease = time_of(object, "last_decrease");
  table.decreases_today = integer_of(object, "decreases_today");
  table.on_demand = on_demand_of(object, "on_demand");
  table.warm = throughput_of(object, "warm");
  table.stream.enabled = flag_of(object, "stream_enabled");
  const auto view = integer_of(object, "stream_view");
  if (view < 0 || view > static_cast<int>(StreamView::NewAndOldImages)) return corrupt("an unknown stream view");
  table.stream.view = static_cast<StreamView>(view);
  table.stream.label = text_of(object, "stream_label");
  table.stream.since = time_of(object, "stream_since");
  table.ttl_attribute = object.get<std::string_view>("ttl_attribute");
  if (auto key = text_of(object, "kms_key"); !key.empty()) table.encryption = Encryption{std::move(key)};
  table.deletion_protection = flag_of(object, "deletion_protection");
  table.table_class = object.get<std::string_view>("class");
  table.table_class_changed = time_of(object, "class_changed");
  for (const JsonElement tag : object["tags"].array()) {
    std::string_view name, text;
    if (tag.array().at(0).get(name) && tag.array().at(1).get(text)) table.tags.emplace_back(name, text);
  }
  if (table.id.value == 0 || table.name.empty() || table.keys.partition.empty()) {
    return Error{ErrorCode::Corruption, "table record lacks its id, name or key"};
  }
  return table;
}

}  // namespace stator::engine
