#include "stator/model/added_keys.h"

#include <algorithm>
#include <set>

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Item;

constexpr std::string_view kSort = "sort";
constexpr std::string_view kPartition = "partition";

Error unreadable() { return validation_error("the keys that a migration adds cannot be read by this version"); }

std::string first_name(const std::string& path) { return path.substr(0, path.find_first_of(".[")); }

const Expression* find_derived(const AddedKeys& added, const std::string& name) {
  const auto found = std::find_if(added.derived.begin(), added.derived.end(),
                                  [&](const auto& derived) { return derived.first == name; });
  return found != added.derived.end() ? &found->second : nullptr;
}

// Names of a computation are few, so a vector keeps them apart well enough.
void add_input(const AddedKeys& added, const std::string& path, std::set<std::string>& seen,
               std::vector<std::string>& inputs) {
  const auto name = first_name(path);
  if (!seen.insert(name).second) return;
  const auto* derived = find_derived(added, name);
  if (derived == nullptr) return inputs.push_back(name);
  for (const auto& source : derived->paths()) add_input(added, source, seen, inputs);
}

AttributeValue to_value(const AddedKeys::OfRecord& record, const AddedKeys::OfRecord::Design& design) {
  value::List alternatives;
  const auto* rule = record.rules.find_key(design.key.name);
  for (const auto& alternative : rule != nullptr ? rule->alternatives : std::vector<KeyTemplate>()) {
    Item one{{"Text", AttributeValue::string(alternative.text.text())}};
    if (alternative.when) one.set("When", AttributeValue::string(alternative.when->text()));
    alternatives.emplace_back(std::move(one));
  }
  const auto part = design.part == KeyPart::Sort ? kSort : kPartition;
  return AttributeValue(Item{{"Record", AttributeValue::string(record.name)},
                             {"Attribute", AttributeValue::string(design.key.name)},
                             {"Type", AttributeValue::string(value::type_name(design.key.type))},
                             {"Part", AttributeValue::string(part)},
                             {"Alternatives", AttributeValue(std::move(alternatives))}});
}

Result<value::Type> key_type(const std::string& name) {
  for (const auto type : {value::Type::S, value::Type::N, value::Type::B}) {
    if (value::type_name(type) == name) return type;
  }
  return unreadable();
}

// The members of a list that are maps; null when it is no such list.
Result<std::vector<const Item*>> maps_in(const Item& item, std::string_view name) {
  const auto* content = item.find(name);
  const auto* list = content != nullptr ? content->as_list() : nullptr;
  if (list == nullptr) return unreadable();
  std::vector<const Item*> maps;
  for (const auto& member : *list) {
    if (member.as_map() == nullptr) return unreadable();
    maps.push_back(member.as_map());
  }
  return maps;
}

Result<KeyRule> rule_from(const Item& item) {
  KeyRule rule;
  rule.attribute = item.text("Attribute");
  for (const auto* one : TRY(maps_in(item, "Alternatives"))) {
    KeyTemplate alternative;
    alternative.text = TRY(Template::parse(one->text("Text")));
    if (one->find("When") != nullptr) alternative.when = TRY(Expression::parse(one->text("When")));
    rule.alternatives.push_back(std::move(alternative));
  }
  return rule;
}

}  // namespace

std::vector<std::vector<std::string>> AddedKeys::inputs() const {
  std::vector<std::vector<std::string>> all;
  for (const auto& record : records) {
    for (const auto& design : record.designs) {
      std::set<std::string> seen;
      auto& inputs = all.emplace_back();
      const auto* rule = record.rules.find_key(design.key.name);
      if (rule == nullptr) add_input(*this, design.key.name, seen, inputs);
      for (const auto& alternative : rule != nullptr ? rule->alternatives : std::vector<KeyTemplate>()) {
        for (const auto& path : alternative.text.attributes()) add_input(*this, path, seen, inputs);
        if (!alternative.when) continue;
        for (const auto& path : alternative.when->paths()) add_input(*this, path, seen, inputs);
      }
    }
  }
  return all;
}

Result<void> AddedKeys::set_in(const TableDesign& table, const Item& attributes, const Item& main_key,
                               std::vector<Row>& rows) const {
  auto computed = attributes;
  for (const auto& [name, content] : defaults) {
    if (computed.find(name) == nullptr) computed.set(name, content);
  }
  for (const auto& [name, expression] : derived) {
    auto content = TRY(expression.evaluate(scope_of(computed)));
    if (content) {
      computed.set(name, std::move(*content));
    } else {
      computed.erase(name);
    }
  }
  const unsigned shard = shard_of_key(table, main_key);
  for (const auto& record : records) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Row& one) { return one.record->name == record.name; });
    if (row == rows.end()) continue;
    for (const auto& [key, part] : record.designs) {
      auto content = TRY(key_value(record.rules, key, part, computed, shard));
      if (content) {
        row->item.set(key.name, std::move(*content));
      } else {
        row->item.erase(key.name);
      }
    }
  }
  return {};
}

Item AddedKeys::to_item() const {
  value::List expressions;
  for (const auto& [name, expression] : derived) {
    expressions.emplace_back(
        Item{{"Name", AttributeValue::string(name)}, {"Text", AttributeValue::string(expression.text())}});
  }
  value::List keys;
  for (const auto& record : records) {
    for (const auto& design : record.designs) keys.push_back(to_value(record, design));
  }
  return {{"Defaults", AttributeValue(defaults)},
          {"Derived", AttributeValue(std::move(expressions))},
          {"Keys", AttributeValue(std::move(keys))}};
}

Result<AddedKeys> AddedKeys::from_item(const Item& item) {
  AddedKeys added;
  const auto* defaults = item.find("Defaults");
  if (defaults == nullptr || defaults->as_map() == nullptr) return unreadable();
  added.defaults = *defaults->as_map();
  for (const auto* one : TRY(maps_in(item, "Derived"))) {
    added.derived.emplace_back(one->text("Name"), TRY(Expression::parse(one->text("Text"))));
  }
  for (const auto* one : TRY(maps_in(item, "Keys"))) {
    const auto& name = one->text("Record");
    auto record = std::find_if(added.records.begin(), added.records.end(),
                               [&](const OfRecord& known) { return known.name == name; });
    if (record == added.records.end()) {
      added.records.push_back({.name = name, .designs = {}, .rules = {}});
      record = added.records.end() - 1;
    }
    const auto type = TRY(key_type(one->text("Type")));
    const auto part = one->text("Part") == kSort ? KeyPart::Sort : KeyPart::Partition;
    record->designs.push_back({.key = {.name = one->text("Attribute"), .type = type, .position = {}}, .part = part});
    auto rule = TRY(rule_from(*one));
    if (!rule.alternatives.empty()) record->rules.keys.push_back(std::move(rule));
  }
  return added;
}

}  // namespace stator::model
