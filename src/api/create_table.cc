#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "stator/api/table_description.h"
#include "stator/api/table_name.h"
#include "stator/api/table_settings.h"
#include "stator/api/tags.h"

namespace stator::api {
namespace {

using engine::Index;
using engine::IndexKind;
using engine::KeyAttribute;
using engine::Table;

constexpr std::size_t kMaxLocalIndexes = 5;
constexpr std::size_t kMaxGlobalIndexes = 20;
constexpr std::size_t kMaxGlobalKeyAttributes = 4;  // per part
constexpr std::size_t kMaxIncludedAttributes = 100;  // over all indexes of a table

Error invalid(std::string_view what) {
  return validation_error(fmt::format("One or more parameter values were invalid: {}", what));
}

struct KeyElement {
  std::string_view name;
  bool is_hash;
};

std::vector<KeyElement> key_elements(const Request& owner) {
  std::vector<KeyElement> elements;
  for (const auto& element : owner.objects("KeySchema")) {
    elements.push_back({element.string("AttributeName").value_or(""), element.string("KeyType") == "HASH"});
  }
  return elements;
}

// Reads the schemas of a table and its indexes against the attribute definitions.
class SchemaReader {
 public:
  Result<void> read_definitions(const Request& request) {
    for (const auto& definition : request.objects("AttributeDefinitions")) {
      const auto type = definition.string("AttributeType").value_or("S");
      const std::string name(definition.string("AttributeName").value_or(""));
      if (find(name) != nullptr) {
        return invalid(fmt::format("Duplicate AttributeName in AttributeDefinitions: {}", name));
      }
      definitions_.push_back({name, type == "N" ? value::Type::N : type == "B" ? value::Type::B : value::Type::S});
    }
    return {};
  }

  // `max_per_part`: how many attributes the partition key and the sort key may each have.
  Result<engine::KeySchema> read_keys(const Request& owner, std::size_t max_per_part) {
    const auto elements = key_elements(owner);
    if (max_per_part == 1 && elements.size() > definitions_.size()) {
      return validation_error("Invalid KeySchema: Some index key attribute have no definition");
    }
    std::vector<std::string_view> names;
    for (const auto& element : elements) names.push_back(element.name);
    for (const auto name : names) {
      if (find(name) == nullptr) {
        std::vector<std::string_view> defined;
        for (const auto& definition : definitions_) defined.push_back(definition.name);
        return invalid(
            fmt::format("Some index key attributes are not defined in AttributeDefinitions. Keys: [{}], "
                        "AttributeDefinitions: [{}]",
                        fmt::join(names, ", "), fmt::join(defined, ", ")));
      }
    }
    if (elements.size() == 2 && names[0] == names[1]) {
      return validation_error("Both the Hash Key and the Range Key element in the KeySchema have the same name");
    }
    if (!elements[0].is_hash) {
      return validation_error("Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
    }
    if (max_per_part == 1 && elements.size() > 1 && elements[1].is_hash) {
      return validation_error("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
    }
    engine::KeySchema keys;
    for (const auto& element : elements) {
      if (std::count(names.begin(), names.end(), element.name) > 1) {
        return validation_error("Both the Hash Key and the Range Key element in the KeySchema have the same name");
      }
      if (element.is_hash && !keys.sort.empty()) {
        return validation_error("Invalid KeySchema: HASH key elements must precede RANGE key elements");
      }
      (element.is_hash ? keys.partition : keys.sort).push_back(*find(element.name));
      used_.insert(std::string(element.name));
    }
    if (keys.partition.size() > max_per_part || keys.sort.size() > max_per_part) {
      return invalid(fmt::format("KeySchema can have at most {} HASH and {} RANGE key elements", max_per_part, max_per_part));
    }
    return keys;
  }

  Result<engine::IndexProjection> read_projection(const Request& index) {
    static constexpr std::string_view kNames[] = {"ALL", "KEYS_ONLY", "INCLUDE"};
    engine::IndexProjection projection;
    const auto object = index.object("Projection");
    const auto type = object ? object->string("ProjectionType") : std::nullopt;
    if (!type) return invalid("Unknown ProjectionType: null");
    projection.kind = static_cast<engine::ProjectionKind>(std::find(std::begin(kNames), std::end(kNames), *type) - kNames);
    const bool attributes = object->has("NonKeyAttributes");
    if (attributes && projection.kind != engine::ProjectionKind::Include) {
      return invalid(fmt::format("ProjectionType is {}, but NonKeyAttributes is specified", *type));
    }
    if (!attributes && projection.kind == engine::ProjectionKind::Include) {
      return invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
    }
    for (const auto& json : object->elements("NonKeyAttributes")) {
      std::string_view name;
      if (json.get(name) != simdjson::SUCCESS) continue;
      auto& names = projection.non_key_attributes;
      if (std::find(names.begin(), names.end(), name) != names.end()) {
        return invalid(fmt::format("Duplicate value in NonKeyAttributes: {}", name));
      }
      names.emplace_back(name);
    }
    included_ += projection.non_key_attributes.size();
    if (included_ > kMaxIncludedAttributes) {
      return invalid("Cannot have more than 100 NonKeyAttributes specified across all indexes");
    }
    return projection;
  }

  // Every definition must be used by some key.
  Result<void> check_all_used() const {
    if (used_.size() == definitions_.size()) return {};
    return invalid(
        "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions");
  }
  Result<void> check_all_used_by_indexes() const {
    std::vector<std::string_view> unused;
    for (const auto& definition : definitions_) {
      if (!used_.contains(definition.name)) unused.push_back(definition.name);
    }
    if (unused.empty()) return {};
    return invalid(fmt::format("Some AttributeDefinitions are not used. AttributeDefinitions: [{}], keys used: [{}]",
                               fmt::join(names_of(definitions_), ", "), fmt::join(used_, ", ")));
  }
  std::vector<KeyAttribute> take_definitions() { return std::move(definitions_); }

 private:
  static std::vector<std::string_view> names_of(const std::vector<KeyAttribute>& attributes) {
    std::vector<std::string_view> names;
    for (const auto& attribute : attributes) names.push_back(attribute.name);
    return names;
  }
  const KeyAttribute* find(std::string_view name) const {
    const auto found = std::find_if(definitions_.begin(), definitions_.end(), [&](const auto& d) { return d.name == name; });
    return found == definitions_.end() ? nullptr : &*found;
  }

  std::vector<KeyAttribute> definitions_;
  std::set<std::string> used_;
  std::size_t included_ = 0;
};

Result<void> add_index(Table& table, Index index) {
  if (table.find_index(index.name) != nullptr) return invalid(fmt::format("Duplicate index name: {}", index.name));
  index.id = engine::IndexId{table.next_index_id++};
  table.indexes.push_back(std::move(index));
  return {};
}

Result<void> read_local_indexes(const Request& request, SchemaReader& schemas, Table& table) {
  if (!request.has("LocalSecondaryIndexes")) return {};
  const auto list = request.objects("LocalSecondaryIndexes");
  if (list.empty()) return invalid("List of LocalSecondaryIndexes is empty");
  if (table.keys.sort.empty()) {
    return invalid(
        "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex");
  }
  for (const auto& request_index : list) {
    Index index;
    index.kind = IndexKind::Local;
    index.name = request_index.string("IndexName").value_or("");
    index.keys = TRY(schemas.read_keys(request_index, 1));
    if (index.keys.sort.empty()) {
      return invalid(fmt::format("Index KeySchema does not have a range key for index: {}", index.name));
    }
    if (index.keys.partition[0].name != table.keys.partition[0].name) {
      return invalid(fmt::format(
          "Index KeySchema does not have the same leading hash key as table KeySchema for index: {}. index hash key: {}, "
          "table hash key: {}",
          index.name, index.keys.partition[0].name, table.keys.partition[0].name));
    }
    index.projection = TRY(schemas.read_projection(request_index));
    TRY(add_index(table, std::move(index)));
  }
  if (list.size() > kMaxLocalIndexes) {
    return invalid("Number of LocalSecondaryIndexes exceeds per-table limit of 5");
  }
  return {};
}

Result<void> read_global_indexes(const Request& request, SchemaReader& schemas, Table& table) {
  if (!request.has("GlobalSecondaryIndexes")) return {};
  const auto list = request.objects("GlobalSecondaryIndexes");
  if (list.empty()) return invalid("List of GlobalSecondaryIndexes is empty");
  for (const auto& request_index : list) {
    Index index;
    index.kind = IndexKind::Global;
    index.name = request_index.string("IndexName").value_or("");
    index.keys = TRY(schemas.read_keys(request_index, kMaxGlobalKeyAttributes));
    index.projection = TRY(schemas.read_projection(request_index));
    const auto throughput = TRY(read_throughput(request_index));
    const bool on_demand = table.billing_mode == engine::BillingMode::PayPerRequest;
    if (on_demand && throughput) {
      return invalid(fmt::format(
          "ProvisionedThroughput should not be specified for index: {} when BillingMode is PAY_PER_REQUEST", index.name));
    }
    if (!on_demand && !throughput) {
      return invalid(fmt::format("ProvisionedThroughput must be specified for index: {}", index.name));
    }
    index.throughput = throughput.value_or(engine::Throughput{});
    index.on_demand = read_on_demand(request_index);
    index.warm = read_warm(request_index);
    TRY(add_index(table, std::move(index)));
  }
  if (list.size() > kMaxGlobalIndexes) {
    return invalid("GlobalSecondaryIndex count exceeds the per-table limit of 20");
  }
  return {};
}

Result<void> read_billing(const Request& request, Table& table) {
  const auto mode = request.string("BillingMode");
  table.billing_mode_given = mode.has_value();
  const auto throughput = TRY(read_throughput(request));
  if (mode == "PAY_PER_REQUEST") {
    if (throughput) {
      return invalid(
          "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
    }
    table.billing_mode = engine::BillingMode::PayPerRequest;
    table.pay_per_request_since = table.created;
    return {};
  }
  if (!throughput || throughput->read_units == 0 || throughput->write_units == 0) {
    return invalid("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED");
  }
  table.throughput = *throughput;
  return {};
}

Result<Table> read_table(Call& call) {
  const auto& request = call.request();
  Table table;
  table.name = TRY(table_name(request.string("TableName").value_or("")));
  TRY(refuse_unsupported(request, {"ResourcePolicy", "SSESpecification", "GlobalTableSourceArn", "VectorIndexes"}));
  table.created = call.engine().clock().now();
  table.uuid = call.engine().random().uuid();
  TRY(read_billing(request, table));

  SchemaReader schemas;
  TRY(schemas.read_definitions(request));
  table.keys = TRY(schemas.read_keys(request, 1));
  if (!request.has("LocalSecondaryIndexes") && !request.has("GlobalSecondaryIndexes")) TRY(schemas.check_all_used());
  TRY(read_local_indexes(request, schemas, table));
  TRY(read_global_indexes(request, schemas, table));
  TRY(schemas.check_all_used_by_indexes());
  table.attribute_definitions = schemas.take_definitions();

  TRY(apply_stream(request, table.stream, table.created));
  table.deletion_protection = request.boolean("DeletionProtectionEnabled").value_or(false);
  if (const auto table_class = request.string("TableClass")) table.table_class = std::string(*table_class);
  table.on_demand = read_on_demand(request);
  table.warm = read_warm(request);
  table.tags = TRY(read_tags(request));
  return table;
}

}  // namespace

void create_table(Call call) {
  auto table = read_table(call);
  if (!table) return call.fail(table.error());
  call.about_table(table->name);
  auto& engine = call.engine();
  engine.create_table(std::move(*table), [call = std::move(call)](Result<engine::TablePtr> created) mutable {
    if (!created) return call.fail(created.error());
    auto body = table_description_body(call.environment(), **created, "CREATING");
    if (!body) return call.fail(body.error());
    call.succeed(std::move(*body));
  });
}

}  // namespace stator::api
