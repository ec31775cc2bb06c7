#include <algorithm>
#include <optional>

#include "stator/model/resolve/resolver.h"

namespace stator::model {
namespace {

using Field = Template::Field;
using Literal = Template::Literal;
constexpr std::string_view kLastCharacter = "\xF4\x8F\xBF\xBF";

bool is_field(const Template::Part& part) { return std::holds_alternative<Field>(part); }

// Whether keys that begin with the bound count as equal to it: an included upper bound includes them, and Greater
// excludes them.
bool is_passed(const PatternCondition& condition) {
  switch (condition.comparison) {
    case Comparison::Between: return !condition.half_open;
    case Comparison::LessOrEqual:
    case Comparison::Greater: return true;
    default: return false;
  }
}

// Dates and times have parts: a day is the beginning of its timestamps.
bool has_parts(const Entity& entity, const Field& field) {
  const auto* attribute = entity.find_attribute(field.attribute);
  return attribute != nullptr && (attribute->type.kind == Kind::Date || attribute->type.kind == Kind::Timestamp);
}

// The text behind `bound` in the last of the keys that begin with it; empty if the bound stands for itself only.
std::string ending_in(const Entity& entity, const Template::Parts& bound, const Template::Parts& key) {
  const auto meet = [](const Template::Part& a, const Template::Part& b) {
    return a == b || (is_field(a) && is_field(b));
  };
  // Whether the bound ends inside a literal of the key.
  const auto is_front = [](const Template::Part& a, const Template::Part& b) {
    const auto* front = std::get_if<Literal>(&a);
    const auto* whole = std::get_if<Literal>(&b);
    return front != nullptr && whole != nullptr && front->text != whole->text && whole->text.starts_with(front->text);
  };
  // A bound without a hole is one text, and means that text.
  if (bound.size() > key.size() || std::none_of(bound.begin(), bound.end(), is_field)) return "";
  const auto place = bound.size() - 1;
  if (!std::equal(bound.begin(), bound.end() - 1, key.begin(), meet)) return "";
  if (is_front(bound[place], key[place])) return std::string(kLastCharacter);
  if (!meet(bound[place], key[place])) return "";
  const auto* last = std::get_if<Field>(&key[place]);
  if (last != nullptr && has_parts(entity, *last)) return std::string(kLastCharacter);
  if (bound.size() == key.size()) return "";
  // A text goes on until its separator: what begins with 'a#' has 'a', and what begins with 'a' may have 'aa'.
  const auto* separator = last == nullptr ? nullptr : std::get_if<Literal>(&key[bound.size()]);
  return (separator == nullptr ? "" : separator->text) + std::string(kLastCharacter);
}

std::vector<Template::Parts> keys_of(const Entity& entity, const Record& record, const std::string& name) {
  std::vector<Template::Parts> keys;
  if (const KeyRule* rule = record.find_key(name)) {
    for (const auto& alternative : rule->alternatives) keys.push_back(alternative.text.parts());
  } else if (entity.find_attribute(name) != nullptr) {
    keys.push_back({Field{.attribute = name, .transform = Transform::Raw, .width = 0}});
  }
  return keys;
}

bool is_text(const TableDesign& table, const IndexDesign* index, const std::string& name) {
  const auto sort = table.key_of(index).sort;
  return std::any_of(sort.begin(), sort.end(),
                     [&](const KeyDesign& key) { return key.name == name && key.type == value::Type::S; });
}

}  // namespace

void complete_bounds(Model& model) {
  for (auto& pattern : model.patterns) {
    for (auto& condition : pattern.sort) {
      if (!is_passed(condition) || !is_text(model.table, pattern.index, condition.attribute)) continue;
      for (const auto& returned : pattern.returns) {
        for (const auto& key : keys_of(*returned.entity, *returned.record, condition.attribute)) {
          condition.ending =
              std::max(condition.ending, ending_in(*returned.entity, condition.operands.back().parts(), key));
        }
      }
    }
  }
}

}  // namespace stator::model
