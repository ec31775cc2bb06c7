#include "stator/model/check/cost.h"

#include <algorithm>
#include <set>

#include "stator/model/check/proof/keys.h"

namespace stator::model {
namespace {

constexpr std::size_t kReadUnitBytes = 4096;
constexpr std::size_t kWriteUnitBytes = 1024;
constexpr unsigned kBatchGetRows = 100;
constexpr std::size_t kReservationBytes = 256;
// The most bytes in one answer.
constexpr std::size_t kQueryBytes = 1024 * 1024;
constexpr std::size_t kBatchGetBytes = 16 * kQueryBytes;

std::size_t units(std::size_t bytes, std::size_t unit) { return std::max<std::size_t>(1, (bytes + unit - 1) / unit); }

unsigned batch_gets(unsigned rows, std::size_t bytes) {
  return static_cast<unsigned>(std::max(units(rows, kBatchGetRows), units(bytes, kBatchGetBytes)));
}

// Indexes that hold a record.
unsigned indexes_of(const Model& model, const KeyedRow& row) {
  unsigned count = 0;
  for (const auto& space : design_keys(model.table)) {
    if (space.index != nullptr && forms(model, row, space)) ++count;
  }
  return count;
}

// An attribute and what is derived from it.
std::set<std::string> with_derived(const Entity& entity, const std::string& name) {
  std::set<std::string> names = {name};
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& attribute : entity.attributes) {
      if (!attribute.derived || attribute.when_read) continue;
      const auto paths = attribute.derived->paths();
      const bool follows =
          std::any_of(paths.begin(), paths.end(), [&](const std::string& path) { return names.contains(path); });
      grows = (follows && names.insert(attribute.name).second) || grows;
    }
  }
  return names;
}

bool holds(const Record& record, const std::set<std::string>& names) {
  return record.attributes.empty() || std::any_of(record.attributes.begin(), record.attributes.end(),
                                                  [&](const std::string& name) { return names.contains(name); });
}

// Entries of indexes that are written when these attributes of a row change: a new key removes one and adds one.
unsigned entries_changed(const Model& model, const KeyedRow& row, const std::set<std::string>& names) {
  unsigned entries = 0;
  for (const auto& space : design_keys(model.table)) {
    const auto all = space.index == nullptr ? std::nullopt : forms(model, row, space);
    if (!all) continue;
    bool in_key = false;
    for (const auto& each : *all) {
      for (const auto& form : each) {
        in_key = in_key || std::any_of(form.parts.begin(), form.parts.end(), [&](const Template::Part& part) {
                   const auto* field = std::get_if<Template::Field>(&part);
                   return field != nullptr && names.contains(field->attribute);
                 });
      }
    }
    const bool projected = std::any_of(
        names.begin(), names.end(), [&](const std::string& name) { return model.table.projects(*space.index, name); });
    entries += in_key ? 2 : projected ? 1 : 0;
  }
  return entries;
}

}  // namespace

std::vector<PatternCost> costs(const Model& model, const CostOptions& options) {
  std::vector<PatternCost> all;
  for (const auto& pattern : model.patterns) {
    const auto shards = pattern.shards();
    const unsigned page = pattern.single ? 1 : options.page > 0 ? options.page : pattern.default_limit;
    const auto bytes = page * options.item_size;
    const double per_unit = pattern.consistent ? 1 : 0.5;
    PatternCost cost{.pattern = pattern.name,
                     .reads = pattern.index != nullptr ? pattern.index->name : model.table.name,
                     .requests = shards * static_cast<unsigned>(units(bytes, kQueryBytes)),
                     .items_read = page * shards,
                     .read_units = 0};
    // A query rounds the sum of what it reads; a batch-get rounds every row by itself.
    cost.read_units = per_unit * static_cast<double>(shards * units(bytes, kReadUnitBytes));
    for (std::size_t i = 0; i < pattern.joins.size(); ++i) {
      cost.requests += batch_gets(page, bytes);
      cost.items_read += page;
      cost.read_units += per_unit * static_cast<double>(page * units(options.item_size, kReadUnitBytes));
    }
    all.push_back(std::move(cost));
  }
  return all;
}

std::vector<WriteCost> write_costs(const Model& model, const CostOptions& options) {
  std::vector<WriteCost> all;
  const auto row_units = units(options.item_size, kWriteUnitBytes);
  for (const auto& entity : model.entities) {
    WriteCost cost{.entity = entity.name, .rows = 0, .index_entries = 0, .write_units = 0};
    std::size_t base = 0;
    for (const auto& record : entity.records) {
      ++cost.rows;
      base += row_units;
      cost.index_entries += indexes_of(model, {&entity, &record});
    }
    for (std::size_t i = 0; i < entity.uniques.size(); ++i) {
      ++cost.rows;
      base += units(kReservationBytes, kWriteUnitBytes);
    }
    for (const auto& relation : entity.parents) {
      const bool counted = !relation.counters.empty() || !relation.numbers.empty();
      if (!counted && !relation.must_exist) continue;
      ++cost.rows;
      base += row_units;
      if (counted) cost.index_entries += indexes_of(model, {relation.to, &relation.to->main()});
    }
    // A transaction writes twice; the entries of indexes follow once.
    const auto factor = cost.rows > 1 ? 2U : 1U;
    cost.write_units = static_cast<double>(base * factor + cost.index_entries * row_units);
    all.push_back(std::move(cost));
  }
  return all;
}

std::vector<CopyCost> copy_costs(const Model& model, const CostOptions& options) {
  std::vector<CopyCost> all;
  const auto row_units = units(options.item_size, kWriteUnitBytes);
  for (const auto& entity : model.entities) {
    for (const auto& attribute : entity.attributes) {
      if (!attribute.copy_of) continue;
      const auto& copy = *attribute.copy_of;
      const auto names = with_derived(entity, attribute.name);
      CopyCost cost{.source = copy.through->entity + "." + copy.attribute,
                    .copy = entity.name + "." + attribute.name,
                    .rows = 0,
                    .index_entries = 0,
                    .write_units = 0};
      for (const auto& record : entity.records) {
        if (!holds(record, names)) continue;
        ++cost.rows;
        cost.index_entries += entries_changed(model, {&entity, &record}, names);
      }
      // The child is written on the condition that its parent is as it was read, so it is a transaction.
      cost.write_units = static_cast<double>((cost.rows + 1) * 2 * row_units + cost.index_entries * row_units);
      all.push_back(std::move(cost));
    }
  }
  return all;
}

}  // namespace stator::model
