#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "stator/model/check/checked_pattern.h"

namespace stator::model {
namespace {

using Field = Template::Field;

// Every value that an index attribute has as it is, where there are only a few.
std::vector<std::string> few_values(const Type* type) {
  if (type == nullptr) return {};
  if (type->kind == Kind::Enum) return type->values;
  if (type->kind != Kind::Integer || !type->min || !type->max) return {};
  const auto min = type->min->to_int64();
  const auto max = type->max->to_int64();
  constexpr std::int64_t kFewValues = 10;
  std::vector<std::string> values;
  for (auto value = min.value_or(0); min && max && value <= *max && value - *min < kFewValues; ++value) {
    values.push_back(std::to_string(value));
  }
  return values;
}

// Whether the children of some relation are found by this index alone.
bool leads_to_children(const Entity& child, const IndexDesign& index) {
  return std::any_of(child.parents.begin(), child.parents.end(),
                     [&](const Parent& relation) { return relation.found_by == std::vector{&index}; });
}

void find_unread(const Model& model, const DesignKey& space, const std::vector<CheckedPattern>& queries,
                 Findings& findings) {
  std::vector<const CheckedPattern*> readers;
  for (const auto& query : queries) {
    if (query.space.index == space.index) readers.push_back(&query);
  }
  const Report::About unused{.code = "unused-index", .subject = space.name, .position = space.position};
  const auto& entities = model.entities;
  const bool for_children = std::any_of(entities.begin(), entities.end(),
                                        [&](const Entity& entity) { return leads_to_children(entity, *space.index); });
  if (readers.empty() && !for_children) {
    findings.warning(unused, fmt::format("no pattern reads {}, and every write pays for it", space.name),
                     "remove it, or write down the pattern that it is for");
    return;
  }
  const Report::About about{.code = "unread-rows", .subject = space.name, .position = space.position};
  for (const auto& row : rows(model)) {
    const auto all = forms(model, row, space);
    if (!all) continue;
    std::vector<const CheckedPattern*> of_row;
    std::copy_if(readers.begin(), readers.end(), std::back_inserter(of_row),
                 [&](const CheckedPattern* query) { return query->returns(row); });
    if (of_row.empty()) {
      if (leads_to_children(*row.entity, *space.index)) continue;
      findings.warning(about,
                       fmt::format("{} is written into {}, and no pattern reads it there", row.name(), space.name),
                       "leave out its keys of this index, or add the pattern");
      continue;
    }
    const auto keys = space.attributes();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto* field =
          (*all)[i].front().rule == nullptr ? std::get_if<Field>(&(*all)[i].front().parts.front()) : nullptr;
      if (field == nullptr) continue;
      const auto values = few_values(type_of(*row.entity, field->attribute));
      std::vector<Language> asked;
      if (!values.empty()) {
        for (const auto* query : of_row) asked.push_back(conditions(*query, kAsItIs)[i]);
      }
      for (const auto& value : values) {
        const bool read = std::any_of(asked.begin(), asked.end(), [&](const Language& condition) {
          return common(condition, Language::text(value), findings.steps()).has_value();
        });
        if (read) continue;
        findings.warning(about,
                         fmt::format("{} with {} {} is in {}, and no pattern reads it there", row.name(),
                                     field->attribute, spell_text(value), space.name),
                         fmt::format("make the index sparse: derive {} so that it is absent then", field->attribute));
      }
    }
  }
}

}  // namespace

void check_patterns(const Model& model, Findings& findings) {
  std::vector<CheckedPattern> queries;
  for (const auto& pattern : model.patterns) {
    queries.push_back(
        {model, pattern, design_key(model.table, pattern.index), returned_rows(pattern), findings.steps()});
  }
  for (const auto& query : queries) {
    check_conditions(query, findings);
    check_answer(query, findings);
    check_order(query, findings);
    check_nesting(query, findings);
  }
  for (const auto& space : design_keys(model.table)) {
    if (space.index != nullptr) find_unread(model, space, queries, findings);
  }
}

}  // namespace stator::model
