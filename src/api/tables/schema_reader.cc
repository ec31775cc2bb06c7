#include "stator/api/tables/schema_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/api/invalid.h"
#include "stator/api/json/table_fields.h"
#include "stator/api/tables/table_settings.h"

namespace stator::api {
namespace {

using engine::Index;
using engine::KeyAttribute;
using engine::Table;

constexpr std::size_t kMaxGlobalKeyAttributes = 4;   // per part
constexpr std::size_t kMaxIncludedAttributes = 100;  // over all indexes of a table

std::vector<std::string_view> names_of(const std::vector<KeyAttribute>& attributes) {
  std::vector<std::string_view> names;
  for (const auto& attribute : attributes) names.push_back(attribute.name);
  return names;
}

}  // namespace

void SchemaReader::know(const std::vector<KeyAttribute>& definitions) {
  for (const auto& definition : definitions) add(definition);
}

Result<void> SchemaReader::read_definitions(const std::vector<AttributeDefinition>& definitions) {
  const auto known_before = definitions_.size();
  for (const auto& [name, type] : definitions) {
    if (const auto* known = find(name)) {
      const bool same = known->type == type;
      const bool already_known = positions_.find(name)->second < known_before;
      if (same && already_known) continue;
      if (already_known) {
        return invalid(fmt::format(
            "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. "
            "Attribute: {}",
            name));
      }
      return invalid(fmt::format("Duplicate AttributeName in AttributeDefinitions: {}", name));
    }
    add({name, type});
  }
  return {};
}

Result<engine::KeySchema> SchemaReader::read_keys(const std::vector<KeyElement>& elements, std::size_t max_per_part) {
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
  if (elements[0].role != KeyRole::Hash) {
    return validation_error("Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
  }
  if (max_per_part == 1 && elements.size() > 1 && elements[1].role == KeyRole::Hash) {
    return validation_error("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
  }
  engine::KeySchema keys;
  for (const auto& element : elements) {
    if (std::count(names.begin(), names.end(), element.name) > 1) {
      return validation_error("Both the Hash Key and the Range Key element in the KeySchema have the same name");
    }
    const bool is_hash = element.role == KeyRole::Hash;
    if (is_hash && !keys.sort.empty()) {
      return validation_error("Invalid KeySchema: HASH key elements must precede RANGE key elements");
    }
    (is_hash ? keys.partition : keys.sort).push_back(*find(element.name));
    used_.insert(element.name);
  }
  if (keys.partition.size() > max_per_part || keys.sort.size() > max_per_part) {
    return invalid(
        fmt::format("KeySchema can have at most {} HASH and {} RANGE key elements", max_per_part, max_per_part));
  }
  return keys;
}

Result<engine::IndexProjection> SchemaReader::read_projection(const IndexProjection& asked) {
  if (!asked.kind) return invalid("Unknown ProjectionType: null");
  if (asked.attributes && asked.kind != ProjectionKind::Include) {
    return invalid(fmt::format("ProjectionType is {}, but NonKeyAttributes is specified",
                               EnumNames<ProjectionKind>::names[static_cast<std::size_t>(*asked.kind)]));
  }
  if (!asked.attributes && asked.kind == ProjectionKind::Include) {
    return invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
  }
  engine::IndexProjection projection{static_cast<engine::ProjectionKind>(*asked.kind),
                                     asked.attributes.value_or(std::vector<std::string>())};
  std::set<std::string_view> seen;
  for (const auto& name : projection.non_key_attributes) {
    if (!seen.insert(name).second) return invalid(fmt::format("Duplicate value in NonKeyAttributes: {}", name));
  }
  included_ += projection.non_key_attributes.size();
  if (included_ > kMaxIncludedAttributes) {
    return invalid("Cannot have more than 100 NonKeyAttributes specified across all indexes");
  }
  return projection;
}

Result<engine::Index> SchemaReader::read_global_index(const IndexDefinition& asked, engine::BillingMode mode) {
  Index index;
  index.kind = engine::IndexKind::Global;
  index.name = asked.name;
  index.keys = TRY(read_keys(asked.keys, kMaxGlobalKeyAttributes));
  index.projection = TRY(read_projection(asked.projection));
  const auto throughput = TRY(read_throughput(asked.throughput));
  const bool on_demand = mode == engine::BillingMode::PayPerRequest;
  if (on_demand && throughput) {
    return invalid(fmt::format(
        "ProvisionedThroughput should not be specified for index: {} when BillingMode is PAY_PER_REQUEST", index.name));
  }
  if (!on_demand && !throughput) {
    return invalid(fmt::format("ProvisionedThroughput must be specified for index: {}", index.name));
  }
  index.throughput = throughput.value_or(engine::Throughput{});
  index.on_demand = TRY(read_on_demand(asked.on_demand, {index.name}));
  TRY(check_on_demand(index.on_demand, mode));
  index.warm = TRY(read_warm(asked.warm, {index.name}, mode, index.throughput));
  return index;
}

Result<void> SchemaReader::check_all_used() const {
  if (used_.size() == definitions_.size()) return {};
  return invalid(
      "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions");
}

Result<void> SchemaReader::check_all_used_by_indexes() const {
  std::vector<std::string_view> unused;
  for (const auto& definition : definitions_) {
    if (!used_.contains(definition.name)) unused.push_back(definition.name);
  }
  if (unused.empty()) return {};
  return invalid(fmt::format("Some AttributeDefinitions are not used. AttributeDefinitions: [{}], keys used: [{}]",
                             fmt::join(names_of(definitions_), ", "), fmt::join(used_, ", ")));
}

void SchemaReader::add(KeyAttribute definition) {
  positions_.emplace(definition.name, definitions_.size());
  definitions_.push_back(std::move(definition));
}

const KeyAttribute* SchemaReader::find(std::string_view name) const {
  const auto found = positions_.find(name);
  return found == positions_.end() ? nullptr : &definitions_[found->second];
}

Result<void> add_index(Table& table, Index index) {
  if (table.find_index(index.name) != nullptr) return invalid(fmt::format("Duplicate index name: {}", index.name));
  if (table.next_index_id == UINT16_MAX) {
    return Error{ErrorCode::LimitExceeded, "This table has had 65534 indexes; no further one can be added to it"};
  }
  index.id = engine::IndexId{table.next_index_id++};
  table.indexes.push_back(std::move(index));
  return {};
}

}  // namespace stator::api
