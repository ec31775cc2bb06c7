#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "stator/model/check/well_formed/well_formed.h"

namespace stator::model {
namespace {

constexpr std::size_t kMaxGlobalIndexes = 20;
constexpr std::size_t kMaxLocalIndexes = 5;
constexpr std::size_t kMaxKeyParts = 4;

// No attribute is in one key twice.
void check_repeated_keys(const TableDesign& table, Report& report) {
  if (table.sort && table.sort->name == table.partition.name)
    report.error(table.sort->position, "repeated-word",
                 fmt::format("{} cannot be both partition and sort key", table.sort->name));
  for (const auto& index : table.indexes) {
    std::set<std::string_view> seen;
    for (const auto* part : {&index.partition, &index.sort}) {
      for (const auto& attribute : *part) {
        if (!seen.insert(attribute.name).second)
          report.error(attribute.position, "repeated-word",
                       fmt::format("{} is in the key of {} twice", attribute.name, index.name));
      }
    }
  }
}

void check_index(const IndexSyntax& written, const IndexDesign& index, Report& report) {
  if (written.local)
    report.error(*written.local, "contradiction",
                 "an index has `key` when it is global and `local` when it shares the table's partition key, not both");
  if (!written.has_key) report.error(index.position, "missing-word", "an index needs the word key, or the word local");
  const auto check_size = [&](std::optional<Position> position, const std::vector<KeyDesign>& part,
                              std::string_view name) {
    if (position && part.size() > kMaxKeyParts)
      report.error(*position, "too-many",
                   fmt::format("the {} of an index has at most {} attributes", name, kMaxKeyParts));
  };
  check_size(written.partition, index.partition, "partition key");
  check_size(written.sort, index.sort, "sort key");
}

// One attribute has one type, in whichever keys it is.
void check_key_types(const TableDesign& table, Report& report) {
  std::map<std::string_view, const KeyDesign*> known;
  const auto check = [&](const KeyDesign& key) {
    const auto [earlier, first] = known.emplace(key.name, &key);
    if (!first && earlier->second->type != key.type)
      report.error(key.position, "key-type",
                   fmt::format("{} is {} here and {} in line {}; an attribute has one type", key.name,
                               value::type_name(key.type), value::type_name(earlier->second->type),
                               earlier->second->position.line));
  };
  check(table.partition);
  if (table.sort) check(*table.sort);
  for (const auto& index : table.indexes) {
    for (const auto& key : index.partition) check(key);
    for (const auto& key : index.sort) check(key);
  }
}

void check_index_counts(const TableDesign& table, Report& report) {
  std::size_t local = 0;
  std::size_t global = 0;
  for (const auto& index : table.indexes) {
    if (index.local && ++local == kMaxLocalIndexes + 1)
      report.error(index.position, "too-many", fmt::format("a table has at most {} local indexes", kMaxLocalIndexes));
    if (!index.local && ++global == kMaxGlobalIndexes + 1)
      report.error(index.position, "too-many", fmt::format("a table has at most {} global indexes", kMaxGlobalIndexes));
  }
}

void check_local_indexes(const TableDesign& table, Report& report) {
  for (const auto& index : table.indexes) {
    if (index.local && !table.sort && !index.sort.empty())
      report.error(index.sort.front().position, "local-index",
                   "a local index needs a table with a sort key; this one has a partition key only");
  }
}

// An index whose key no entity of this model has is empty, unless another model that shares the table fills it.
void find_unfilled_keys(const Model& model, Report& report) {
  const auto is_filled = [&](const KeyDesign& key) {
    const auto& entities = model.entities;
    if (key.name == model.table.type_attribute) return true;
    return std::any_of(entities.begin(), entities.end(), [&](const Entity& entity) {
      return entity.find_attribute(key.name) != nullptr ||
             std::any_of(entity.records.begin(), entity.records.end(),
                         [&](const Record& record) { return record.find_key(key.name) != nullptr; });
    });
  };
  for (const auto& index : model.table.indexes) {
    for (const auto* part : {&index.partition, &index.sort}) {
      for (const auto& key : *part) {
        if (!is_filled(key))
          report.warning(key.position, "unfilled-key",
                         fmt::format("no entity has {}, so nothing is ever in {}", key.name, index.name), index.name);
      }
    }
  }
}

// Rows are told apart by their type attribute.
void check_types(const Model& model, Report& report) {
  std::map<std::string_view, std::string> taken;
  for (const auto& entity : model.entities) {
    for (const auto& record : entity.records) {
      const auto [earlier, first] = taken.emplace(record.type, fmt::format("{}.{}", entity.name, record.name));
      if (!first)
        report.error(record.position, "same-type",
                     fmt::format("rows of {} and of {}.{} would both have {} = {}", earlier->second, entity.name,
                                 record.name, model.table.type_attribute, record.type));
    }
  }
}

}  // namespace

void check_table(const Syntax& syntax, const Model& model, Report& report) {
  for (std::size_t i = 0; i < model.table.indexes.size(); ++i)
    check_index(syntax.table.indexes[i], model.table.indexes[i], report);
  check_repeated_keys(model.table, report);
  check_key_types(model.table, report);
  check_index_counts(model.table, report);
  check_local_indexes(model.table, report);
  check_types(model, report);
  find_unfilled_keys(model, report);
}

}  // namespace stator::model
