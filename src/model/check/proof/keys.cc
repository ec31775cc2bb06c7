#include "stator/model/check/proof/keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/model/rows.h"

namespace stator::model {
namespace {

using Field = Template::Field;

using TypeOf = std::function<const Type*(std::string_view)>;

Language part_language(const Template::Part& part, const TypeOf& type_of_hole, const Reading& reading, Steps& steps) {
  if (const auto* literal = std::get_if<Template::Literal>(&part)) return Language::text(literal->text);
  if (const auto* shard = std::get_if<Template::Shard>(&part)) {
    return Language::byte('0', '9').times(static_cast<unsigned>(std::to_string(shard->count - 1).size()));
  }
  const auto& field = std::get<Field>(part);
  return hole_language(field, type_of_hole(field.attribute), reading, steps);
}

Language parts_language(const std::vector<Template::Part>& parts, const TypeOf& type_of_hole, const Reading& reading,
                        Steps& steps) {
  auto language = Language::text("");
  for (const auto& part : parts) {
    language = language + part_language(part, type_of_hole, reading, steps);
    if (!steps.take(language.states())) return Language::nothing();
  }
  return language;
}

// Removes the common front of both, and returns it.
std::vector<Template::Part> take_common_front(std::vector<Template::Part>& a, std::vector<Template::Part>& b) {
  std::vector<Template::Part> front;
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    front.push_back(a.front());
    a.erase(a.begin());
    b.erase(b.begin());
  }
  if (a.empty() || b.empty()) return front;
  auto* left = std::get_if<Template::Literal>(&a.front());
  auto* right = std::get_if<Template::Literal>(&b.front());
  if (left == nullptr || right == nullptr) return front;
  const auto end = std::mismatch(left->text.begin(), left->text.end(), right->text.begin(), right->text.end()).first;
  const auto same = static_cast<std::size_t>(end - left->text.begin());
  front.emplace_back(Template::Literal{left->text.substr(0, same)});
  left->text.erase(0, same);
  right->text.erase(0, same);
  return front;
}

}  // namespace

std::vector<KeyDesign> DesignKey::attributes() const {
  auto all = partition;
  all.insert(all.end(), sort.begin(), sort.end());
  return all;
}

std::vector<DesignKey> design_keys(const TableDesign& table) {
  std::vector<DesignKey> spaces = {design_key(table, nullptr)};
  for (const auto& index : table.indexes) spaces.push_back(design_key(table, &index));
  return spaces;
}

DesignKey design_key(const TableDesign& table, const IndexDesign* index) {
  return {table.key_of(index), index, index != nullptr ? index->name : table.name,
          index != nullptr ? index->position : table.position};
}

std::string KeyedRow::name() const {
  return entity->records.size() == 1 || record == &entity->main() ? entity->name
                                                                  : fmt::format("{}.{}", entity->name, record->name);
}

std::vector<KeyedRow> rows(const Model& model) {
  std::vector<KeyedRow> all;
  for (const auto& entity : model.entities) {
    for (const auto& record : entity.records) all.push_back({&entity, &record});
  }
  return all;
}

std::vector<KeyForm> forms(const Model& model, const KeyedRow& row, const KeyDesign& key) {
  std::vector<KeyForm> all;
  if (const auto* rule = row.record->find_key(key.name)) {
    for (const auto& alternative : rule->alternatives) {
      all.push_back({alternative.text.parts(), alternative.text.text(), &alternative, rule->position});
    }
  } else if (key.name == model.table.type_attribute) {
    all.push_back({{Template::Literal{row.record->type}}, row.record->type, nullptr, row.record->position});
  } else if (const auto* attribute = row.entity->find_attribute(key.name);
             attribute != nullptr && !attribute->transient && row.record->holds(key.name)) {
    all.push_back({{Field{.attribute = key.name, .transform = Transform::Raw, .width = 0}},
                   fmt::format("{{{}}}", key.name),
                   nullptr,
                   attribute->position});
  }
  return all;
}

std::optional<KeyForms> forms(const Model& model, const KeyedRow& row, const DesignKey& space) {
  KeyForms all;
  for (const auto& key : space.attributes()) {
    all.push_back(forms(model, row, key));
    if (all.back().empty()) return std::nullopt;
  }
  return all;
}

const Type* type_of(const std::vector<Attribute>& attributes, std::string_view path) {
  const auto dot = path.find('.');
  const auto name = path.substr(0, dot);
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& each) { return each.name == name; });
  if (found == attributes.end()) return nullptr;
  return dot == std::string_view::npos ? &found->type : type_of(found->type.shape, path.substr(dot + 1));
}

const Type* type_of(const Entity& entity, std::string_view path) { return type_of(entity.attributes, path); }

const Type* type_of(const Pattern& pattern, std::string_view path) {
  static const Type moment = [] {
    Type type;
    type.kind = Kind::Timestamp;
    return type;
  }();
  if (path == "now") return &moment;
  if (const auto* type = type_of(pattern.parameters, path)) return type;
  for (const auto& returned : pattern.returns) {
    if (const auto* type = type_of(*returned.entity, path)) return type;
  }
  return nullptr;
}

Language form_language(const Entity& entity, const KeyForm& form, const Reading& reading, Steps& steps) {
  const auto language =
      parts_language(form.parts, [&](std::string_view path) { return type_of(entity, path); }, reading, steps);
  // A key is never empty: a row that would have an empty one is not in the index.
  return form.parts.size() == 1 ? both(language, Language::byte(0, 0xFF).repeated(1), steps) : language;
}

Language forms_language(const Entity& entity, const std::vector<KeyForm>& forms, const Reading& reading, Steps& steps) {
  auto language = Language::nothing();
  for (const auto& form : forms) {
    language = language | form_language(entity, form, reading, steps);
    if (!steps.take(language.states())) return Language::nothing();
  }
  return language;
}

namespace {

// A parameter that a caller may leave out.
bool may_be_left_out(const Pattern& pattern, const std::string& name) {
  const auto found = std::find_if(pattern.parameters.begin(), pattern.parameters.end(),
                                  [&](const Attribute& each) { return each.name == name; });
  return found != pattern.parameters.end() && !found->required && !found->default_value;
}

}  // namespace

bool may_be_left_out(const Pattern& pattern, const Template& operand) {
  const auto names = operand.attributes();
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return may_be_left_out(pattern, name); });
}

std::vector<Template::Part> certain_front(const Pattern& pattern, const Template& operand) {
  const auto& parts = operand.parts();
  const auto end = std::find_if(parts.begin(), parts.end(), [&](const Template::Part& part) {
    const auto* field = std::get_if<Field>(&part);
    return field != nullptr && may_be_left_out(pattern, field->attribute);
  });
  return {parts.begin(), end};
}

// A bound whose parameter is left out is no bound, and a prefix is as long as what is given.
Language condition_language(const Pattern& pattern, const PatternCondition& condition, const Reading& reading,
                            Steps& steps) {
  const TypeOf hole_type = [&](std::string_view path) { return type_of(pattern, path); };
  const auto& operand = condition.operands.front();
  const auto language = [&](const std::vector<Template::Part>& parts) {
    return parts_language(parts, hole_type, reading, steps);
  };
  if (condition.comparison == Comparison::BeginsWith) return language(certain_front(pattern, operand)).extended();
  if (condition.comparison != Comparison::Between) {
    if (may_be_left_out(pattern, operand)) return Language::anything();
    const auto bound = language(operand.parts()) + Language::text(condition.ending);
    switch (condition.comparison) {
      case Comparison::Less: return bound.and_below(false);
      case Comparison::LessOrEqual: return bound.and_below(true);
      case Comparison::Greater: return bound.and_above(false);
      case Comparison::GreaterOrEqual: return bound.and_above(true);
      default: return bound;
    }
  }
  // The key begins with the common front of both bounds: the holes there have one value, not two.
  auto low = operand.parts();
  auto high = condition.operands.back().parts();
  const bool no_low = may_be_left_out(pattern, operand);
  const bool no_high = may_be_left_out(pattern, condition.operands.back());
  if (no_low && no_high) return Language::anything();
  if (no_high) return language(low).and_above(true);
  const auto below = [&] {
    return (language(high) + Language::text(condition.ending)).and_below(!condition.half_open);
  };
  if (no_low) return below();
  const auto front = take_common_front(low, high);
  return language(front) + both(language(low).and_above(true), below(), steps);
}

std::vector<Language> languages(const Entity& entity, const KeyForms& forms, const Reading& reading, Steps& steps) {
  std::vector<Language> all;
  for (const auto& each : forms) all.push_back(forms_language(entity, each, reading, steps));
  return all;
}

std::optional<std::vector<std::string>> common_key(const std::vector<Language>& a, const std::vector<Language>& b,
                                                   Steps& steps) {
  std::vector<std::string> key;
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto text = common(a[i], b[i], steps);
    if (!text) return std::nullopt;
    key.push_back(std::move(*text));
  }
  return key;
}

std::vector<Language> reservation_language(const DesignKey& table) {
  std::vector<Language> reservation = {Language::text("unique#").extended()};
  if (!table.sort.empty()) reservation.push_back(reservation_sort());
  return reservation;
}

KeyForm reservation_form(const Model& model, const Entity& entity, const Unique& unique) {
  KeyForm form;
  form.text = fmt::format("{}{}@{}", reservation_prefix(model, entity), fmt::join(unique.attributes, ","),
                          fmt::join(unique.within, ","));
  form.position = unique.position;
  form.parts.emplace_back(Template::Literal{form.text});
  const auto add = [&](const std::vector<std::string>& names, Transform transform) {
    for (const auto& name : names) {
      form.parts.emplace_back(Template::Literal{"#"});
      form.parts.emplace_back(Field{.attribute = name, .transform = transform, .width = 0});
      form.text += fmt::format("#{{{}}}", name);
    }
  };
  add(unique.within, Transform::Escaped);
  add(unique.attributes, unique.compared);
  return form;
}

Language reservation_sort() { return Language::text("unique"); }

std::vector<std::string> raw_texts(const Entity& entity, const std::vector<KeyForm>& forms, Steps& steps) {
  std::vector<std::string> names;
  for (const auto& form : forms) {
    for (const auto& part : form.parts) {
      const auto* field = std::get_if<Field>(&part);
      if (field == nullptr || field->transform != Transform::Raw ||
          !is_free_text(type_of(entity, field->attribute), steps) ||
          std::find(names.begin(), names.end(), field->attribute) != names.end()) {
        continue;
      }
      names.push_back(field->attribute);
    }
  }
  return names;
}

std::string spell_text(std::string_view bytes) {
  std::string text = "'";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7F) {
      text += fmt::format("\\x{:02X}", byte);
    } else {
      text += c;
    }
  }
  return text + "'";
}

std::string spell_key(const std::vector<KeyDesign>& attributes, const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < attributes.size() && i < values.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", attributes[i].name, spell_text(values[i]));
  }
  return text;
}

}  // namespace stator::model
