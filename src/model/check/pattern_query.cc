#include "stator/model/check/pattern_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace stator::model {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_range(Comparison comparison) { return comparison != Comparison::Equal && comparison != Comparison::BeginsWith; }

void add_name(std::vector<std::string>& names, const std::string& name) {
  if (!contains(names, name)) names.push_back(name);
}

bool includes(const std::vector<std::string>& all, const std::vector<std::string>& some) {
  return std::all_of(some.begin(), some.end(), [&](const std::string& name) { return contains(all, name); });
}

std::string listed(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

std::vector<KeyedRow> returned_rows(const Model& model, const Pattern& pattern) {
  std::vector<KeyedRow> all;
  for (const auto& returned : pattern.returns) {
    const auto* entity = model.find_entity(returned.entity);
    if (entity == nullptr) continue;
    const auto* record = entity->find_record(returned.record);
    all.push_back({entity, record != nullptr ? record : &entity->main()});
  }
  return all;
}

std::vector<Language> conditions(const PatternQuery& query, const Reading& reading) {
  std::vector<Language> all;
  for (const auto& key : query.space.attributes()) {
    const auto* condition = query.condition(key.name);
    // Numbers are in the order of numbers, not of their text; a range of them is taken to match all.
    const bool opaque =
        condition == nullptr || (key.type != value::Type::S && condition->comparison != Comparison::Equal);
    all.push_back(opaque ? Language::anything() : condition_language(query.model, query.pattern, *condition, reading));
  }
  return all;
}

std::optional<std::vector<std::string>> match(const PatternQuery& query, const KeyedRow& row,
                                              const std::vector<Language>& wanted, const Reading& reading) {
  const auto all = forms(query.model, row, query.space);
  if (!all) return std::nullopt;
  std::vector<std::string> key;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    auto text = common(wanted[i], forms_language(*row.entity, (*all)[i], reading));
    if (!text) return std::nullopt;
    key.push_back(std::move(*text));
  }
  return key;
}

}  // namespace stator::model
