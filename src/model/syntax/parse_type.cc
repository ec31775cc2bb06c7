#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "stator/base/article.h"
#include "stator/model/syntax/parse.h"
#include "stator/model/validate.h"

namespace stator::model {
namespace {

constexpr std::array kKinds{
    Choice<Kind>("string", Kind::String),
    Choice<Kind>("number", Kind::Number),
    Choice<Kind>("integer", Kind::Integer),
    Choice<Kind>("boolean", Kind::Boolean),
    Choice<Kind>("binary", Kind::Binary),
    Choice<Kind>("uuid", Kind::Uuid),
    Choice<Kind>("ulid", Kind::Ulid),
    Choice<Kind>("date", Kind::Date),
    Choice<Kind>("timestamp", Kind::Timestamp),
    Choice<Kind>("email", Kind::Email),
    Choice<Kind>("domain", Kind::Domain),
    Choice<Kind>("isbn", Kind::Isbn),
    Choice<Kind>("url", Kind::Url),
    Choice<Kind>("enum", Kind::Enum),
    Choice<Kind>("list", Kind::List),
    Choice<Kind>("set", Kind::Set),
    Choice<Kind>("map", Kind::Map),
    Choice<Kind>("any", Kind::Any),
};

}  // namespace

std::string_view kind_name(Kind kind) {
  return std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& choice) { return choice.second == kind; })->first;
}

bool is_number(Kind kind) { return kind == Kind::Number || kind == Kind::Integer; }

namespace {

bool is_free_text(Kind kind) { return kind == Kind::String || kind == Kind::Email || kind == Kind::Url; }
bool is_text(Kind kind) {
  return is_free_text(kind) || kind == Kind::Uuid || kind == Kind::Ulid || kind == Kind::Date ||
         kind == Kind::Timestamp || kind == Kind::Enum;
}
bool has_length(Kind kind) {
  return is_free_text(kind) || kind == Kind::List || kind == Kind::Set || kind == Kind::Binary;
}

constexpr std::array kTypeWords{
    TypeWord{"min", "numbers, and for the length of texts, lists, sets and binary values",
             [](Kind kind) { return is_number(kind) || has_length(kind); }},
    TypeWord{"max", "numbers, and for the length of texts, lists, sets and binary values",
             [](Kind kind) { return is_number(kind) || has_length(kind); }},
    TypeWord{"step", "numbers", is_number},
    TypeWord{"pattern", "texts", is_text},
    TypeWord{"lower", "texts", is_free_text},
    TypeWord{"lines", "strings", [](Kind kind) { return kind == Kind::String; }},
    TypeWord{"date", "timestamps", [](Kind kind) { return kind == Kind::Timestamp; }},
    TypeWord{"values", "enums", [](Kind kind) { return kind == Kind::Enum; }},
    TypeWord{"of", "lists and sets", [](Kind kind) { return kind == Kind::List || kind == Kind::Set; }},
    TypeWord{"shape", "maps", [](Kind kind) { return kind == Kind::Map; }},
};

}  // namespace

const TypeWord& type_word(std::string_view word) {
  return *std::find_if(kTypeWords.begin(), kTypeWords.end(), [&](const TypeWord& known) { return known.word == word; });
}

namespace {

// Reads the words of one type.
class TypeParser {
 public:
  TypeParser(Words& words, Syntax& syntax, Report& report) : words_(words), syntax_(syntax), report_(report) {}

  Type parse(std::optional<Kind> implied) {
    const YamlNode* node = implied ? words_.find("type") : words_.need("type");
    type_.kind = implied.value_or(Kind::String);
    if (node != nullptr) type_.kind = read_choice(*node, "a type", kKinds, report_).value_or(type_.kind);
    parse_values();
    parse_members();
    parse_bounds();
    parse_spelling();
    syntax_.types.push_back(std::move(written_));
    return syntax_.types.back().type;
  }

 private:
  // The value of a word that is given and fits the type.
  const YamlNode* find(std::string_view word) { return kept(words_.find(word)); }
  const YamlNode* need(std::string_view word) { return kept(words_.need(word)); }
  const YamlNode* kept(const YamlNode* node) {
    if (node == nullptr) return nullptr;
    written_.words.push_back({.word = node->key, .value = node->position});
    return type_word(node->key.text).fits(type_.kind) ? node : nullptr;
  }

  void parse_values() {
    const YamlNode* node = type_.kind == Kind::Enum ? need("values") : find("values");
    if (node == nullptr) return;
    written_.values = read_texts(*node, "a value of an enum", report_);
    for (const auto& value : written_.values) type_.values.push_back(value.text);
  }

  void parse_members() {
    if (const YamlNode* of = type_.kind == Kind::Set ? need("of") : find("of")) type_.element = parse_element(*of);
    const YamlNode* shape = find("shape");
    if (shape == nullptr) return;
    for (const auto& member : read_members(*shape, "shape", report_)) {
      if (auto attribute = parse_plain_attribute(member, "a member of a map", syntax_, report_))
        type_.shape.push_back(std::move(*attribute));
    }
  }

  // The type of the members of a list or set: a type's name, or an attribute's words.
  std::shared_ptr<const Type> parse_element(const YamlNode& node) {
    if (!node.is_scalar()) {
      Words words(node, "the type of members", report_);
      auto type = parse_type(words, std::nullopt, syntax_, report_);
      words.done();
      return std::make_shared<const Type>(std::move(type));
    }
    const auto kind = read_choice(node, "the type of members", kKinds, report_);
    if (!kind) return nullptr;
    Type type;
    type.kind = *kind;
    return std::make_shared<const Type>(std::move(type));
  }

  std::optional<value::Number> parse_bound(std::string_view word) {
    const YamlNode* node = find(word);
    if (node == nullptr) return std::nullopt;
    if (is_number(type_.kind)) return read_number(*node, word, report_);
    const auto length = read_integer(*node, word, {.min = 0, .max = 400 * 1024}, report_);
    return length ? std::optional(value::Number::from_int(*length)) : std::nullopt;
  }

  void parse_bounds() {
    type_.min = parse_bound("min");
    type_.max = parse_bound("max");
    if (const YamlNode* step = find("step")) {
      type_.step = read_number(*step, "step", report_);
      if (type_.step && (type_.step->is_zero() || type_.step->is_negative())) {
        report_.error(step->position, "out-of-range", "step is greater than 0");
        type_.step.reset();
      }
    }
    const YamlNode* pattern = find("pattern");
    const auto text = pattern == nullptr ? std::nullopt : read_text(*pattern, "pattern", report_);
    if (!text) return;
    const RE2 regex(text->text, RE2::Quiet);
    if (!regex.ok())
      report_.error(text->position, "bad-pattern",
                    fmt::format("\"{}\" is no regular expression: {}", text->text, regex.error()));
    type_.pattern = text->text;
  }

  // How a text is spelled, and what else is taken for it.
  void parse_spelling() {
    constexpr std::array kLines{Choice<bool>("one", false), Choice<bool>("many", true)};
    constexpr std::array kDayEnds{Choice<DayEnd>("start", DayEnd::Start), Choice<DayEnd>("end", DayEnd::End)};
    if (const YamlNode* lower = find("lower")) type_.lower = read_boolean(*lower, "lower", report_).value_or(false);
    if (const YamlNode* lines = find("lines"))
      type_.many_lines = read_choice(*lines, "lines", kLines, report_).value_or(false);
    if (const YamlNode* date = find("date")) type_.date = read_choice(*date, "date", kDayEnds, report_);
  }

  Words& words_;
  Syntax& syntax_;
  Report& report_;
  TypeSyntax written_;
  Type& type_ = written_.type;
};

}  // namespace

Type parse_type(Words& words, std::optional<Kind> implied, Syntax& syntax, Report& report) {
  return TypeParser(words, syntax, report).parse(implied);
}

Type parse_short_type(const YamlNode& node, Report& report) {
  Type type;
  type.kind = read_choice(node, "a type", kKinds, report).value_or(Kind::String);
  if (type.kind == Kind::Enum)
    report.error(node.position, "missing-word", "an enum needs the word values", "{ type: enum, values: [A, B] }");
  if (type.kind == Kind::Set)
    report.error(node.position, "missing-word", "a set needs the word of", "{ type: set, of: string }");
  return type;
}

// ------------------------------------------------------------------------------------------------------------ defaults

namespace {

// A value as the file has it, for an attribute that may be anything.
value::AttributeValue any_value(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::Nothing: return value::AttributeValue();
    case YamlNode::Kind::Scalar: {
      if (!node.quoted && (node.text.text == "true" || node.text.text == "false"))
        return value::AttributeValue::boolean(node.text.text == "true");
      if (!node.quoted) {
        if (const auto number = value::Number::parse(node.text.text)) return value::AttributeValue(*number);
      }
      return value::AttributeValue::string(node.text.text);
    }
    case YamlNode::Kind::List: {
      value::List list;
      for (const auto& item : node.items) list.push_back(any_value(item));
      return value::AttributeValue(std::move(list));
    }
    case YamlNode::Kind::Map: {
      value::Item map;
      for (const auto& item : node.items) map.set(item.key.text, any_value(item));
      return value::AttributeValue(std::move(map));
    }
  }
  return value::AttributeValue();
}

std::optional<value::AttributeValue> value_of(const YamlNode& node, const Type& type, Syntax& syntax, Report& report);

std::optional<value::AttributeValue> set_of(const YamlNode& node, const Type& element, Syntax& syntax, Report& report) {
  std::vector<std::string> texts;
  std::vector<value::Number> numbers;
  for (const auto& item : read_list(node)) {
    const auto member = value_of(item, element, syntax, report);
    if (!member) return std::nullopt;
    if (const auto* number = member->as_number()) numbers.push_back(*number);
    if (const auto* text = member->as_string()) texts.push_back(*text);
  }
  auto set =
      is_number(element.kind) ? value::make_number_set(std::move(numbers)) : value::make_string_set(std::move(texts));
  if (set) return std::move(*set);
  report.error(node.position, "bad-default", fmt::format("this is no set: {}", set.error().message));
  return std::nullopt;
}

// A value of the file as one of that type, by its form; check_value() looks at the rest.
std::optional<value::AttributeValue> value_of(const YamlNode& node, const Type& type, Syntax& syntax, Report& report) {
  constexpr std::string_view kWhat = "the default";
  switch (type.kind) {
    case Kind::Number:
    case Kind::Integer: {
      const auto number = read_number(node, kWhat, report);
      return number ? std::optional(value::AttributeValue(*number)) : std::nullopt;
    }
    case Kind::Boolean: {
      const auto boolean = read_boolean(node, kWhat, report);
      return boolean ? std::optional(value::AttributeValue::boolean(*boolean)) : std::nullopt;
    }
    case Kind::List: {
      if (!node.is_list()) break;
      value::List list;
      for (const auto& item : node.items) {
        auto member = type.element ? value_of(item, *type.element, syntax, report) : any_value(item);
        if (!member) return std::nullopt;
        list.push_back(std::move(*member));
      }
      return value::AttributeValue(std::move(list));
    }
    case Kind::Set: return type.element ? set_of(node, *type.element, syntax, report) : std::nullopt;
    case Kind::Map:
      if (!node.is_map()) break;
      return any_value(node);
    case Kind::Any: return any_value(node);
    case Kind::Binary: syntax.binary_defaults.push_back(node.position); return std::nullopt;
    default: {
      const auto text = read_text(node, kWhat, report);
      return text ? std::optional(value::AttributeValue::string(text->text)) : std::nullopt;
    }
  }
  report.error(node.position, "wrong-type",
               fmt::format("the default of {0} is {0}, not {1}", with_article(kind_name(type.kind)), node.kind_name()));
  return std::nullopt;
}

}  // namespace

std::optional<value::AttributeValue> parse_default(const YamlNode* node, const std::string& attribute, const Type& type,
                                                   Syntax& syntax, Report& report) {
  auto value = node == nullptr ? std::nullopt : value_of(*node, type, syntax, report);
  if (!value) return std::nullopt;
  syntax.defaults.push_back({.attribute = attribute, .type = type, .value = *value, .position = node->position});
  std::vector<ValueProblem> problems;  // which check/ looks for
  check_value(type, attribute, *value, problems);
  return value;
}

}  // namespace stator::model
