#include "stator/model/rows.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "stator/model/row_keys.h"
#include "stator/model/types/calendar.h"
#include "stator/value/json.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Item;

constexpr std::string_view kUnique = "unique";

// A null is the absence of a value.
const AttributeValue* present(const Item& attributes, std::string_view path) {
  const AttributeValue* value = find_path(attributes, path);
  return value == nullptr || value->type() == value::Type::Null ? nullptr : value;
}

bool is_primary(const TableDesign& table, std::string_view name) {
  return name == table.partition.name || (table.sort && name == table.sort->name);
}

// The primary key of a record; nullopt when a part of it is absent.
Result<std::optional<Item>> record_key(const TableDesign& table, const Record& record, const Item& attributes,
                                       unsigned shard) {
  Item key;
  auto partition = TRY(key_value(record, table.partition, KeyPart::Partition, attributes, shard));
  if (!partition) return std::optional<Item>();
  key.set(table.partition.name, std::move(*partition));
  if (table.sort) {
    auto sort = TRY(key_value(record, *table.sort, KeyPart::Sort, attributes, shard));
    if (!sort) return std::optional<Item>();
    key.set(table.sort->name, std::move(*sort));
  }
  return std::optional(std::move(key));
}

Error missing_from_key(const Entity& entity, const Item& attributes) {
  for (const auto& name : entity.identity) {
    if (present(attributes, name) == nullptr) {
      return validation_error(fmt::format("{} is missing, and the key of {} needs it", name, entity.name));
    }
  }
  return validation_error(fmt::format("no alternative of the key of {} applies", entity.name));
}

// Whether the record's rows hold an attribute as it is.
bool holds(const Model& model, const Entity& entity, const Record& record, std::string_view name) {
  if (name == model.table.type_attribute || record.find_key(name) != nullptr) return false;
  if (record.expires && name == model.table.ttl_attribute) return false;
  if (name == model.table.version_attribute && entity.versioned) return true;
  const Attribute* attribute = entity.find_attribute(name);
  if (attribute != nullptr && !attribute->is_stored()) return false;
  return record.holds(name);
}

// Seconds since 1970, as DynamoDB's TTL wants them; nullopt when the row does not expire.
Result<std::optional<AttributeValue>> expiry(const Expression& expires, const Item& attributes) {
  using Found = std::optional<AttributeValue>;
  const auto value = TRY(expires.evaluate(scope_of(attributes)));
  if (!value) return Found();
  std::optional<Moment> moment;
  if (const auto* text = value->as_string()) {
    moment = parse_timestamp(*text);
    if (const auto day = parse_date(*text)) moment = *day;
  }
  if (!moment) return validation_error("a row expires at a timestamp; this gives something else: " + expires.text());
  const auto since_epoch = std::chrono::floor<std::chrono::seconds>(moment->time_since_epoch());
  return Found(AttributeValue::number(since_epoch.count()));
}

// Sets the keys of all indexes, and removes values that cannot be keys.
Result<void> set_index_keys(const TableDesign& table, const Record& record, const Item& attributes, unsigned shard,
                            Item& item) {
  const auto set = [&](const KeyDesign& key, KeyPart part) -> Result<void> {
    const bool is_own = record.find_key(key.name) == nullptr;
    if (is_primary(table, key.name) || (is_own && item.find(key.name) == nullptr)) return {};
    auto value = TRY(key_value(record, key, part, attributes, shard));
    if (value) {
      item.set(key.name, std::move(*value));
    } else {
      item.erase(key.name);
    }
    return {};
  };
  for (const auto& index : table.indexes) {
    for (const auto& key : index.partition) TRY(set(key, KeyPart::Partition));
    for (const auto& key : index.sort) TRY(set(key, KeyPart::Sort));
  }
  return {};
}

Result<Row> make_row(const Model& model, const Entity& entity, const Record& record, const Item& attributes, Item key,
                     unsigned shard) {
  Row row{.record = &record, .key = std::move(key), .item = {}};
  std::vector<Item::Entry> held;
  held.reserve(attributes.size() + row.key.size() + 2);
  for (const auto& attribute : attributes) {
    if (attribute.value.type() == value::Type::Null || !holds(model, entity, record, attribute.name)) continue;
    held.push_back(attribute);
  }
  row.item = Item::from_unsorted(std::move(held));
  TRY(set_index_keys(model.table, record, attributes, shard, row.item));
  std::vector<Item::Entry> own;
  own.reserve(row.key.size() + 2);
  own.push_back({model.table.type_attribute, AttributeValue::string(record.type)});
  if (record.expires && model.table.ttl_attribute) {
    if (auto seconds = TRY(expiry(*record.expires, attributes))) {
      own.push_back({*model.table.ttl_attribute, std::move(*seconds)});
    }
  }
  for (const auto& part : row.key) own.push_back(part);
  row.item.set_all(std::move(own));
  return row;
}

// Derived attributes of one sort, each after those that it is derived from.
class Derivation {
 public:
  Derivation(const Entity& entity, Item& attributes, bool when_read)
      : entity_(entity), attributes_(attributes), when_read_(when_read) {}

  Result<void> run() {
    for (const auto& attribute : entity_.attributes) TRY(compute(attribute));
    return {};
  }

 private:
  Result<void> compute(const Attribute& attribute) {
    if (!attribute.derived || attribute.when_read != when_read_ || !begun_.insert(attribute.name).second) return {};
    for (const auto& name : attribute.derived->paths()) {
      if (const Attribute* source = entity_.find_attribute(name)) TRY(compute(*source));
    }
    auto value = TRY(attribute.derived->evaluate(scope_of(attributes_)));
    if (value) {
      attributes_.set(attribute.name, std::move(*value));
    } else {
      attributes_.erase(attribute.name);
    }
    return {};
  }

  const Entity& entity_;
  Item& attributes_;
  bool when_read_;
  std::set<std::string_view> begun_;
};

// "#a#b": the values of these attributes in a reservation's key; nullopt when one is absent.
Result<std::optional<std::string>> reserved_values(const std::vector<std::string>& names, Transform transform,
                                                   const Item& attributes) {
  std::string text;
  for (const auto& name : names) {
    const AttributeValue* value = present(attributes, name);
    if (value == nullptr) return std::optional<std::string>();
    text += '#' + TRY(fill({.attribute = name, .transform = transform, .width = 0}, *value));
  }
  return std::optional(std::move(text));
}

}  // namespace

Item primary_key_of(const TableDesign& table, const Item& row) {
  Item key;
  for (const auto* part : {&table.partition, table.sort ? &*table.sort : nullptr}) {
    const AttributeValue* value = part != nullptr ? row.find(part->name) : nullptr;
    if (value != nullptr) key.set(part->name, *value);
  }
  return key;
}

Result<void> derive(const Entity& entity, Item& attributes) { return Derivation(entity, attributes, false).run(); }
Result<void> derive_when_read(const Entity& entity, Item& attributes) {
  return Derivation(entity, attributes, true).run();
}

Result<std::vector<Row>> rows_of(const Model& model, const Entity& entity, const Item& attributes) {
  const auto main_key = TRY(record_key(model.table, entity.main(), attributes, 0));
  if (!main_key) return missing_from_key(entity, attributes);
  return rows_of(model, entity, attributes, *main_key);
}

Result<std::vector<Row>> rows_of(const Model& model, const Entity& entity, const Item& attributes,
                                 const Item& main_key) {
  const unsigned shard = shard_of_key(model.table, main_key);
  std::vector<Row> rows;
  for (const auto& record : entity.records) {
    if (record.when && !TRY(record.when->holds(scope_of(attributes)))) continue;
    auto key =
        &record == &entity.main() ? std::optional(main_key) : TRY(record_key(model.table, record, attributes, shard));
    if (key) rows.push_back(TRY(make_row(model, entity, record, attributes, std::move(*key), shard)));
  }
  return rows;
}

Result<std::optional<Item>> key_of(const Model& model, const Entity& entity, const Item& attributes) {
  return record_key(model.table, entity.main(), attributes, 0);
}

Result<std::optional<Item>> key_of(const Model& model, const Entity& entity, const Record& record,
                                   const Item& attributes) {
  auto main_key = TRY(key_of(model, entity, attributes));
  if (&record == &entity.main()) return main_key;
  return record_key(model.table, record, attributes, main_key ? shard_of_key(model.table, *main_key) : 0);
}

bool could_be(const Model& model, const Entity& entity, const Record& record, const Item& row) {
  const auto attributes = attributes_of(model, entity, record, row);
  const auto fits = [&](const KeyDesign& key) {
    const KeyRule* rule = record.find_key(key.name);
    const AttributeValue* value = row.find(key.name);
    if (rule == nullptr || value == nullptr || value->as_string() == nullptr) return value != nullptr;
    return std::any_of(rule->alternatives.begin(), rule->alternatives.end(), [&](const KeyTemplate& alternative) {
      return alternative.text.could_give(*value->as_string(), lookup_in(attributes));
    });
  };
  return fits(model.table.partition) && (!model.table.sort || fits(*model.table.sort));
}

Item attributes_of(const Model& model, const Entity& entity, const Record& record, Item row) {
  row.erase_if([&](const Item::Entry& attribute) {
    const bool is_own_key = is_primary(model.table, attribute.name) && record.find_key(attribute.name) == nullptr;
    return !is_own_key && !holds(model, entity, record, attribute.name);
  });
  return row;
}

Result<std::optional<Item>> parent_key(const Model& model, const Entity& /*child*/, const Parent& parent,
                                       const Item& attributes) {
  if (parent.when && !TRY(parent.when->holds(scope_of(attributes)))) return std::optional<Item>();
  Item naming;
  for (const auto& [theirs, ours] : parent.by) {
    const AttributeValue* value = present(attributes, ours);
    if (value == nullptr) return std::optional<Item>();
    naming.set(theirs, *value);
  }
  return key_of(model, *parent.to, naming);
}

std::string reservation_prefix(const Model& model, const Entity& entity) {
  return std::string(kUnique) + '#' + model.name + '#' + entity.name + '.';
}

Result<std::vector<Reservation>> reservations_of(const Model& model, const Entity& entity, const Item& attributes) {
  if (entity.uniques.empty()) return std::vector<Reservation>();
  const auto main_key = TRY(key_of(model, entity, attributes));
  auto reservations = TRY(reservations_of(model, entity, attributes, main_key.value_or(Item())));
  if (!main_key && !reservations.empty()) return missing_from_key(entity, attributes);
  return reservations;
}

Result<std::vector<Reservation>> reservations_of(const Model& model, const Entity& entity, const Item& attributes,
                                                 const Item& main_key) {
  std::vector<Reservation> reservations;
  for (const auto& rule : entity.uniques) {
    const auto scope = TRY(reserved_values(rule.within, Transform::Escaped, attributes));
    const auto values = TRY(reserved_values(rule.attributes, rule.compared, attributes));
    if (!scope || !values) continue;
    const auto& table = model.table;
    const std::string partition =
        fmt::format("{}{}@{}{}{}", reservation_prefix(model, entity), fmt::join(rule.attributes, ","),
                    fmt::join(rule.within, ","), *scope, *values);
    TRY(check_key_size(table.partition.name, KeyPart::Partition, partition, rule.attributes));
    Reservation reservation{.rule = &rule, .key = {}, .item = {}};
    reservation.key.set(table.partition.name, AttributeValue(partition));
    if (table.sort) reservation.key.set(table.sort->name, AttributeValue::string(kUnique));
    reservation.item = reservation.key;
    reservation.item.set(table.type_attribute, AttributeValue::string(kUnique));
    std::string owner_json;
    value::append_json(owner_json, main_key);
    reservation.item.set("Of", AttributeValue(std::move(owner_json)));
    reservations.push_back(std::move(reservation));
  }
  return reservations;
}

}  // namespace stator::model
