#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "stator/model/check/proof/keys.h"
#include "stator/model/check/rules.h"

namespace stator::model {
namespace {

using Field = Template::Field;

constexpr std::uint64_t kFew = 10;  // a partition takes 1,000 writes per second; so many values are soon too few

std::uint64_t times(std::uint64_t a, std::uint64_t b) { return std::min(a * b, kFew + 1); }

// How many values a hole can have; more than kFew is many.
std::uint64_t values_of(const Type* type) {
  if (type == nullptr) return kFew + 1;
  switch (type->kind) {
    case Kind::Boolean: return 2;
    case Kind::Enum: return type->values.size();
    case Kind::Integer: {
      const auto min = type->min ? type->min->to_int64() : std::nullopt;
      const auto max = type->max ? type->max->to_int64() : std::nullopt;
      if (!min || !max || *max < *min) return kFew + 1;
      const auto span = static_cast<std::uint64_t>(*max) - static_cast<std::uint64_t>(*min);
      return std::min(span, kFew) + 1;
    }
    default: return kFew + 1;
  }
}

// How many partitions a form spreads over; nullopt when it has shards, because then somebody has thought about it.
std::optional<std::uint64_t> partitions(const Entity& entity, const KeyForm& form) {
  std::uint64_t count = 1;
  for (const auto& part : form.parts) {
    if (const auto* shard = std::get_if<Template::Shard>(&part); shard != nullptr && shard->count > 1) {
      return std::nullopt;
    }
    if (const auto* field = std::get_if<Field>(&part))
      count = times(count, values_of(type_of(entity, field->attribute)));
  }
  return count;
}

bool is_constant(const KeyForms& forms) {
  return std::all_of(forms.begin(), forms.end(), [](const std::vector<KeyForm>& each) {
    return std::all_of(each.begin(), each.end(), [](const KeyForm& form) {
      return std::all_of(form.parts.begin(), form.parts.end(),
                         [](const Template::Part& part) { return std::holds_alternative<Template::Literal>(part); });
    });
  });
}

void find_hot(const Model& model, const DesignKey& space, const KeyedRow& row, Report& findings) {
  const auto all = forms(model, row, space);
  const auto primary = forms(model, row, design_keys(model.table).front());
  if (!all || !primary || is_constant(*primary)) return;  // one row is no load
  std::uint64_t count = 1;
  std::string keys;
  for (std::size_t i = 0; i < space.partition.size(); ++i) {
    std::uint64_t of_attribute = 0;
    for (const auto& form : (*all)[i]) {
      const auto some = partitions(*row.entity, form);
      if (!some) return;
      of_attribute += *some;
      keys += fmt::format("{}{} {}", keys.empty() ? "" : ", ", space.partition[i].name, spell_text(form.text));
    }
    count = times(count, of_attribute);
  }
  if (count > kFew) return;
  findings.warning(
      {.code = "hot-partition",
       .subject = space.index == nullptr ? row.name() : space.name,
       .position = (*all).front().front().rule != nullptr ? (*all).front().front().position : space.position},
      fmt::format("every {} is in {} of {}, and a partition takes at most 1,000 writes and 3,000 reads a second",
                  row.name(), count == 1 ? "one partition" : fmt::format("one of {} partitions", count), space.name),
      fmt::format("spread it: put {{shard:8}} into {}; patterns then read all shards and merge",
                  space.partition[0].name),
      keys);
}

// Whether a partition holds one row: the sort key is made of nothing that the partition key is not made of.
bool is_one_row(const KeyForms& all) {
  std::set<std::string> partition;
  for (const auto& form : all.front()) {
    for (const auto& part : form.parts) {
      if (const auto* field = std::get_if<Field>(&part)) partition.insert(field->attribute);
    }
  }
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (const auto& form : all[i]) {
      for (const auto& part : form.parts) {
        const auto* field = std::get_if<Field>(&part);
        if (field != nullptr && !partition.contains(field->attribute)) return false;
      }
    }
  }
  return true;
}

// The rows are only ever added, and nothing in the partition key is the row's own.
void find_unbounded(const Model& model, const Entity& entity, Report& findings) {
  if (!entity.append_only || entity.main().expires) return;
  const auto space = design_keys(model.table).front();
  const auto all = forms(model, {&entity, &entity.main()}, space);
  if (!all || is_constant(*all) || is_one_row(*all)) return;
  for (const auto& form : all->front()) {
    for (const auto& part : form.parts) {
      if (std::holds_alternative<Template::Shard>(part)) return;
      const auto* field = std::get_if<Field>(&part);
      const auto* attribute = field == nullptr ? nullptr : entity.find_attribute(field->attribute);
      if (attribute == nullptr) continue;
      const bool own = attribute->generated != Generated::No || attribute->type.kind == Kind::Timestamp ||
                       attribute->type.kind == Kind::Date || attribute->type.kind == Kind::Ulid;
      if (own) return;
    }
  }
  findings.warning({.code = "unbounded-partition", .subject = entity.name, .position = all->front().front().position},
                   fmt::format("{} rows are only added and never expire, and all those under {} are in one partition",
                               entity.name, spell_text(all->front().front().text)),
                   "put the month into the partition key ({At|month}), let rows expire, or accept it and say how many "
                   "there will be");
}

// With a local index, what has one partition key is limited.
void find_collection_size(const Model& model, Report& findings) {
  const auto spaces = design_keys(model.table);
  const auto& table = spaces.front();
  for (const auto& space : spaces) {
    if (space.index == nullptr || !space.index->local) continue;
    for (const auto& row : rows(model)) {
      const auto all = forms(model, row, table);
      if (!all || all->size() < 2 || is_constant({all->back()})) continue;
      findings.warning(
          {.code = "collection-size", .subject = space.name, .position = space.position},
          fmt::format(
              "because {} is a local index, all rows under one {} may take 10 GB together, and {} rows have no bound",
              space.name, table.partition.front().name, row.name()),
          "use a global index, or accept it and say how large a partition can become");
    }
  }
}

}  // namespace

void check_partitions(const Model& model, Report& findings) {
  for (const auto& space : design_keys(model.table)) {
    for (const auto& row : rows(model)) {
      if (space.index == nullptr || !space.index->local) find_hot(model, space, row, findings);
    }
  }
  for (const auto& entity : model.entities) find_unbounded(model, entity, findings);
  find_collection_size(model, findings);
}

}  // namespace stator::model
