#include "stator/model/check/keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/model/check/regex.h"
#include "stator/model/rows.h"

namespace stator::model {
namespace {

using Field = Template::Field;

const std::vector<std::string> kBooleans = {"false", "true"};
constexpr unsigned kMostCounted = 16;  // longer texts are taken to have no bound: nothing is proved by counting so far

Language digits(unsigned count) { return Language::byte('0', '9').times(count); }

// What escape() writes for a byte that it takes away.
Language escape_sequence() {
  const auto hex = Language::byte('0', '9') | Language::byte('A', 'F');
  return Language::text("%") + ((Language::byte('0', '1') + hex) | (Language::text("2") + Language::byte('0', '5')));
}

constexpr unsigned char kLastEscaped = '%';

// One character of a text as it lies in a key.
Language character(Transform transform, bool lower = false) {
  const auto first = static_cast<unsigned char>(transform == Transform::Raw ? 0 : kLastEscaped + 1);
  const auto plain = lower || transform == Transform::Sortable
                         ? Language::byte(first, 'A' - 1) | Language::byte('Z' + 1, 0x7F)
                         : Language::byte(first, 0x7F);
  return transform == Transform::Raw ? plain | wide_character() : plain | escape_sequence() | wide_character();
}

std::optional<unsigned> length(const std::optional<value::Number>& bound) {
  const auto number = bound ? bound->to_int64() : std::nullopt;
  if (!number || *number < 0 || *number > kMostCounted) return std::nullopt;
  return static_cast<unsigned>(*number);
}

// The texts that escaping would have changed.
Language with_escapable() { return Language::anything() + Language::byte(0, kLastEscaped - 1) + Language::anything(); }

// The texts of a string whose pattern lets nothing through that is escaped or folded: it is the same in a key, however it is
// put there.  nullopt when it has no such pattern.
std::optional<Language> plain_text(const Type* type, Transform transform) {
  if (type == nullptr || type->kind != Kind::String || !type->pattern) return std::nullopt;
  auto texts = regex_language(*type->pattern);
  if (!texts || common(*texts, with_escapable() | (Language::anything() + Language::text("%").extended()))) {
    return std::nullopt;
  }
  const auto folded = Language::byte('A', 'Z') | Language::byte(0x80, 0xFF);
  if (transform == Transform::Sortable && common(*texts, Language::anything() + folded.extended())) return std::nullopt;
  return texts;
}

Language free_text(const Type* type, Transform transform) {
  if (auto plain = plain_text(type, transform)) return std::move(*plain);
  const auto one = character(transform, type != nullptr && type->lower);
  const auto least = type != nullptr ? length(type->min) : std::nullopt;
  const auto most = type != nullptr ? length(type->max) : std::nullopt;
  if (transform == Transform::Sortable) return one.repeated(0);  // folding drops characters, and makes two of one
  return one.repeated(least.value_or(0), most);
}

// What is neither empty nor has blanks.
Language graphic(Transform transform) {
  const auto one = transform == Transform::Raw ? Language::byte('!', '~') | wide_character() : character(transform);
  return one.repeated(1);
}

Language email(Transform transform) { return graphic(transform) + Language::text("@") + graphic(transform); }

Language url(Transform transform) {
  const auto scheme = regex_language(transform == Transform::Sortable ? "https?://" : "[Hh][Tt][Tt][Pp][Ss]?://");
  return *scheme + graphic(transform);
}

Language uuid() {
  const auto hex = Language::byte('0', '9') | Language::byte('a', 'f');
  const auto dash = Language::text("-");
  return hex.times(8) + dash + hex.times(4) + dash + hex.times(4) + dash + hex.times(4) + dash + hex.times(12);
}

// Crockford's base32: no I, L, O, U.
Language ulid(bool lower) {
  Language letter = Language::byte('0', '9');
  for (const auto& [from, upto] : {std::pair{'A', 'H'}, {'J', 'K'}, {'M', 'N'}, {'P', 'T'}, {'V', 'Z'}}) {
    const int shift = lower ? 'a' - 'A' : 0;
    letter =
        letter | Language::byte(static_cast<unsigned char>(from + shift), static_cast<unsigned char>(upto + shift));
  }
  return letter.times(26);
}

Language date() { return digits(4) + Language::text("-") + digits(2) + Language::text("-") + digits(2); }

Language timestamp(bool lower) {
  const auto colon = Language::text(":");
  return date() + Language::text(lower ? "t" : "T") + digits(2) + colon + digits(2) + colon + digits(2) +
         Language::text(".") + digits(3) + Language::text(lower ? "z" : "Z");
}

// The whole numbers of that many digits, zeros in front included, that are within the bounds.
Language digits_within(unsigned count, const Type& type) {
  const auto text_of = [](const std::optional<value::Number>& bound) {
    return bound && bound->is_integer() && !bound->is_negative() ? std::optional(bound->to_string()) : std::nullopt;
  };
  const auto padded = [&](const std::string& text) {
    return Language::text(std::string(count - text.size(), '0') + text);
  };
  const auto min = text_of(type.min);
  const auto max = text_of(type.max);
  if (min && min->size() > count) return Language::nothing();
  // Digits of one count are in the order of their numbers.
  auto all = digits(count);
  if (min) all = all & padded(*min).and_above(true);
  if (max && max->size() <= count) all = all & padded(*max).and_below(true);
  return all;
}

Language number(const Type& type) {
  const auto whole = Language::text("0") | (Language::byte('1', '9') + Language::byte('0', '9').repeated(0));
  const bool negative = !type.min || type.min->is_negative();
  if (type.kind == Kind::Integer && !negative && type.max && type.max->is_integer()) {
    auto all = Language::nothing();
    for (unsigned count = 1; count <= type.max->to_string().size(); ++count) all = all | digits_within(count, type);
    return all & whole;
  }
  const auto sign = negative ? Language::text("-") | Language::text("") : Language::text("");
  if (type.kind == Kind::Integer) return sign + whole;
  const auto fraction = Language::text(".") + Language::byte('0', '9').repeated(1);
  return sign + whole + (fraction | Language::text(""));
}

std::string transformed(std::string text, Transform transform) {
  if (transform == Transform::Raw) return text;
  if (transform == Transform::Sortable) {
    if (auto folded = fold(text)) text = std::move(*folded);
  }
  return escape(text);
}

Language typed(const Field& field, const Type* type, Transform transform) {
  if (field.width > 0) {
    return is_number(type) ? digits_within(field.width, *type) : digits(field.width);
  }
  const bool lower = transform == Transform::Sortable;
  switch (field.transform) {
    case Transform::Year: return digits(4);
    case Transform::Month: return digits(4) + Language::text("-") + digits(2);
    case Transform::Day: return date();
    default: break;
  }
  if (type == nullptr) return free_text(nullptr, transform);
  switch (type->kind) {
    case Kind::Uuid: return uuid();
    case Kind::Ulid: return ulid(lower);
    case Kind::Date: return date();
    case Kind::Timestamp: return timestamp(lower);
    case Kind::Integer:
    case Kind::Number: return number(*type);
    case Kind::Boolean: return Language::one_of(kBooleans);
    case Kind::Enum: {
      auto values = type->values;
      for (auto& value : values) value = transformed(value, transform);
      return Language::one_of(values);
    }
    case Kind::Domain: return *regex_language("[a-z0-9.-]+");
    case Kind::Isbn: return *regex_language(lower ? "[0-9]{9}[0-9x]|[0-9]{13}" : "[0-9]{9}[0-9X]|[0-9]{13}");
    case Kind::Email: return email(transform);
    case Kind::Url: return url(transform);
    case Kind::Binary:
    case Kind::List:
    case Kind::Set:
    case Kind::Map:
    case Kind::Any: return Language::anything();
    case Kind::String: break;
  }
  return free_text(type, transform);
}

using TypeOf = std::function<const Type*(std::string_view)>;

Language part_language(const Template::Part& part, const TypeOf& type_of_hole, const Reading& reading) {
  if (const auto* literal = std::get_if<Template::Literal>(&part)) return Language::text(literal->text);
  if (const auto* shard = std::get_if<Template::Shard>(&part)) {
    return digits(static_cast<unsigned>(std::to_string(shard->count - 1).size()));
  }
  const auto& field = std::get<Field>(part);
  return hole_language(field, type_of_hole(field.attribute), reading);
}

Language parts_language(const std::vector<Template::Part>& parts, const TypeOf& type_of_hole, const Reading& reading) {
  auto language = Language::text("");
  for (const auto& part : parts) language = language + part_language(part, type_of_hole, reading);
  return language;
}

// Takes off the front of both what is the same, whatever the holes hold.
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

bool holds(const Record& record, const std::string& attribute) {
  return record.attributes.empty() ||
         std::find(record.attributes.begin(), record.attributes.end(), attribute) != record.attributes.end();
}

}  // namespace

std::vector<KeyAttribute> KeySpace::attributes() const {
  auto all = partition;
  all.insert(all.end(), sort.begin(), sort.end());
  return all;
}

std::vector<KeySpace> key_spaces(const Table& table) {
  std::vector<KeySpace> spaces = {{.index = nullptr,
                                   .name = table.name,
                                   .partition = {table.partition},
                                   .sort = table.sort ? std::vector{*table.sort} : std::vector<KeyAttribute>(),
                                   .position = table.position}};
  for (const auto& index : table.indexes) {
    spaces.push_back({.index = &index,
                      .name = index.name,
                      .partition = index.local ? std::vector{table.partition} : index.partition,
                      .sort = index.sort,
                      .position = index.position});
  }
  return spaces;
}

KeySpace key_space(const Table& table, const std::optional<std::string>& index) {
  auto spaces = key_spaces(table);
  if (!index) return spaces.front();
  return *std::find_if(spaces.begin() + 1, spaces.end(), [&](const KeySpace& space) { return space.name == *index; });
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

std::vector<KeyForm> forms(const Model& model, const KeyedRow& row, const KeyAttribute& key) {
  std::vector<KeyForm> all;
  if (const auto* rule = row.record->find_key(key.name)) {
    for (const auto& alternative : rule->alternatives) {
      all.push_back({alternative.text.parts(), alternative.text.text(), &alternative, rule->position});
    }
  } else if (key.name == model.table.type_attribute) {
    all.push_back({{Template::Literal{row.record->type}}, row.record->type, nullptr, row.record->position});
  } else if (const auto* attribute = row.entity->find_attribute(key.name);
             attribute != nullptr && !attribute->transient && holds(*row.record, key.name)) {
    all.push_back({{Field{.attribute = key.name, .transform = Transform::Raw, .width = 0}},
                   fmt::format("{{{}}}", key.name),
                   nullptr,
                   attribute->position});
  }
  return all;
}

std::optional<KeyForms> forms(const Model& model, const KeyedRow& row, const KeySpace& space) {
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

const Type* type_of(const Model& model, const Pattern& pattern, std::string_view path) {
  static const Type moment = [] {
    Type type;
    type.kind = Kind::Timestamp;
    return type;
  }();
  if (path == "now") return &moment;
  if (const auto* type = type_of(pattern.parameters, path)) return type;
  for (const auto& returned : pattern.returns) {
    const auto* entity = model.find_entity(returned.entity);
    const auto* type = entity == nullptr ? nullptr : type_of(*entity, path);
    if (type != nullptr) return type;
  }
  return nullptr;
}

bool is_number(const Type* type) {
  return type != nullptr && (type->kind == Kind::Integer || type->kind == Kind::Number);
}

bool has_fixed_digits(const Type* type) {
  return type != nullptr && type->kind == Kind::Integer && type->min && type->max && !type->min->is_negative() &&
         type->min->is_integer() && type->max->is_integer() &&
         type->min->to_string().size() == type->max->to_string().size();
}

bool is_free_text(const Type* type) {
  if (type == nullptr) return true;
  if (type->kind == Kind::String) return !plain_text(type, Transform::Raw);
  return type->kind == Kind::Email || type->kind == Kind::Url || type->kind == Kind::Any;
}

std::size_t moment_bytes(const Type* type, Transform transform) {
  switch (transform) {
    case Transform::Year: return 4;
    case Transform::Month: return 7;
    case Transform::Day: return 10;
    default: break;
  }
  if (type == nullptr) return 0;
  return type->kind == Kind::Timestamp ? 24 : type->kind == Kind::Date ? 10 : 0;
}

bool are_written_alike(const Type* type, Transform a, Transform b) {
  if (a == b) return true;
  if (is_free_text(type)) return false;
  const bool one_is_folded = (a == Transform::Sortable) != (b == Transform::Sortable);
  switch (type->kind) {
    case Kind::Enum:
      return std::all_of(type->values.begin(), type->values.end(),
                         [&](const auto& value) { return transformed(value, a) == transformed(value, b); });
    case Kind::String: return !one_is_folded || plain_text(type, Transform::Sortable);
    case Kind::Ulid:
    case Kind::Timestamp:
    case Kind::Isbn: return !one_is_folded;  // they have capitals
    default: return true;
  }
}

Language hole_language(const Field& field, const Type* type, const Reading& reading) {
  if (field.transform != Transform::Raw) return typed(field, type, field.transform);
  if (reading.forged == field.attribute) return typed(field, type, Transform::Raw) & with_escapable();
  const bool ordinary = reading.text == Reading::Text::Ordinary && is_free_text(type);
  return typed(field, type, ordinary ? Transform::Escaped : Transform::Raw);
}

Language form_language(const Entity& entity, const KeyForm& form, const Reading& reading) {
  const auto language = parts_language(
      form.parts, [&](std::string_view path) { return type_of(entity, path); }, reading);
  // A key is never empty: a row that would have an empty one is not in the index.
  return form.parts.size() == 1 ? language & Language::byte(0, 0xFF).repeated(1) : language;
}

Language forms_language(const Entity& entity, const std::vector<KeyForm>& forms, const Reading& reading) {
  auto language = Language::nothing();
  for (const auto& form : forms) language = language | form_language(entity, form, reading);
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
Language condition_language(const Model& model, const Pattern& pattern, const KeyCondition& condition,
                            const Reading& reading) {
  const TypeOf hole_type = [&](std::string_view path) { return type_of(model, pattern, path); };
  const auto& operand = condition.operands.front();
  const auto language = [&](const std::vector<Template::Part>& parts) {
    return parts_language(parts, hole_type, reading);
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
  // What both bounds begin with, the key begins with, too: the holes there have one value, not two.
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
  return language(front) + (language(low).and_above(true) & below());
}

std::vector<Language> languages(const Entity& entity, const KeyForms& forms, const Reading& reading) {
  std::vector<Language> all;
  for (const auto& each : forms) all.push_back(forms_language(entity, each, reading));
  return all;
}

std::optional<std::vector<std::string>> common_key(const std::vector<Language>& a, const std::vector<Language>& b) {
  std::vector<std::string> key;
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto text = common(a[i], b[i]);
    if (!text) return std::nullopt;
    key.push_back(std::move(*text));
  }
  return key;
}

std::vector<Language> reservation_language(const KeySpace& table) {
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
  add(unique.attributes, unique.fold ? Transform::Sortable : Transform::Escaped);
  return form;
}

Language reservation_sort() { return Language::text("unique"); }

std::vector<std::string> raw_texts(const Entity& entity, const std::vector<KeyForm>& forms) {
  std::vector<std::string> names;
  for (const auto& form : forms) {
    for (const auto& part : form.parts) {
      const auto* field = std::get_if<Field>(&part);
      if (field == nullptr || field->transform != Transform::Raw || !is_free_text(type_of(entity, field->attribute)) ||
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

std::string spell_key(const std::vector<KeyAttribute>& attributes, const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < attributes.size() && i < values.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", attributes[i].name, spell_text(values[i]));
  }
  return text;
}

}  // namespace stator::model
