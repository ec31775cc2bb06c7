#include "stator/model/next_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/base/ascii.h"
#include "stator/model/row_keys.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Item;

void add(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// Takes the front of `text` up to the number into `place`; false when something else varies there, or the number is not
// padded.
bool take_front(const Template& text, const Attribute& attribute, NextPlace& place) {
  std::vector<std::string> scope = place.scope;
  for (const auto& part : text.parts()) {
    if (std::holds_alternative<Template::Shard>(part)) return false;
    const auto* field = std::get_if<Template::Field>(&part);
    if (field == nullptr) continue;
    if (field->attribute != attribute.name) {
      add(scope, field->attribute);
      continue;
    }
    const bool is_number = place.sort.type == value::Type::N;
    if (field->width == 0 && !is_number) return false;
    place.text = &text;
    place.width = is_number ? 0 : field->width;
    place.scope = std::move(scope);
    return true;
  }
  return false;
}

}  // namespace

Result<NextPlace> next_place(const Model& model, const Entity& entity, const Attribute& attribute) {
  const Pattern& pattern = *attribute.next->order;
  NextPlace place;
  const auto returned = std::find_if(pattern.returns.begin(), pattern.returns.end(),
                                     [&](const Returned& one) { return one.entity == &entity; });
  if (returned == pattern.returns.end())
    return validation_error(fmt::format("{} does not return {}", pattern.name, entity.name));
  place.record = returned->record;
  place.index = pattern.index;
  const auto [partition, sort] = model.table.key_of(pattern.index);
  place.partition = partition;
  const auto refused = [&](std::string_view why) {
    return validation_error(fmt::format("{} is not the order of {}: {}", pattern.name, attribute.name, why));
  };
  if (sort.empty()) return refused("there is no sort key");
  place.sort = sort.front();
  for (const auto& key : place.partition) {
    const KeyRule* rule = place.record->find_key(key.name);
    if (rule == nullptr) add(place.scope, key.name);
    if (rule == nullptr) continue;
    for (const auto& alternative : rule->alternatives) {
      if (alternative.text.shards() > 1) return refused(fmt::format("{} is spread over shards", key.name));
      for (const auto& name : alternative.text.attributes()) add(place.scope, name);
    }
  }
  if (std::find(place.scope.begin(), place.scope.end(), attribute.name) != place.scope.end())
    return refused("it is in the partition key");
  const KeyRule* rule = place.record->find_key(place.sort.name);
  if (rule == nullptr) {
    if (place.sort.name == attribute.name && place.sort.type == value::Type::N) return place;
    return refused(fmt::format("{} has no {{{}:05}}", place.sort.name, attribute.name));
  }
  for (const auto& alternative : rule->alternatives) {
    if (take_front(alternative.text, attribute, place)) return place;
  }
  return refused(fmt::format("{} has no {{{}:05}}", place.sort.name, attribute.name));
}

Result<std::optional<NextRange>> next_range(const NextPlace& place, const Attribute& attribute,
                                            const Item& attributes) {
  NextRange range;
  for (const auto& key : place.partition) {
    auto content = TRY(key_value(*place.record, key, KeyPart::Partition, attributes, 0));
    if (!content) return std::optional<NextRange>();
    range.partition.set(key.name, std::move(*content));
  }
  if (place.text == nullptr) return std::optional(std::move(range));
  std::string missing;
  const auto lookup = [&](std::string_view name) -> const AttributeValue* {
    const auto* found = name == attribute.name ? nullptr : find_path(attributes, name);
    if (found == nullptr || found->type() == value::Type::Null) missing = name;
    return found;
  };
  range.front = TRY(place.text->render_prefix(lookup)).text;
  if (missing != attribute.name) return std::optional<NextRange>();
  return std::optional(std::move(range));
}

std::optional<value::Number> NextRange::number_in(const NextPlace& place, const Item& row) const {
  for (const auto& [name, content] : partition) {
    const auto* found = row.find(name);
    if (found == nullptr || *found != content) return std::nullopt;
  }
  const auto* sort = row.find(place.sort.name);
  if (sort == nullptr) return std::nullopt;
  if (const auto* number = sort->as_number()) return *number;
  const auto* text = sort->as_string();
  if (text == nullptr || !text->starts_with(front) || text->size() < front.size() + place.width) return std::nullopt;
  const auto digits = std::string_view(*text).substr(front.size(), place.width);
  if (!std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  const auto number = value::Number::parse(digits);
  return number ? std::optional(*number) : std::nullopt;
}

}  // namespace stator::model
