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

// Reports that `node`, the value of a word, says nothing of values of that kind.
void unfit(const YamlNode& node, Kind kind, std::string_view meant_for, Report& report) {
  report.error(node.key.position, "contradiction",
               fmt::format("{} is for {}, and this is of type {}", node.key.text, meant_for, kind_name(kind)));
}

Type parse_type_of(Words& words, std::optional<Kind> implied, Report& report);

// The type of the members of a list or set: a type's name, or an attribute's words.
std::shared_ptr<const Type> parse_element(const YamlNode& node, Report& report) {
  if (node.is_scalar()) {
    const auto kind = read_choice(node, "the type of members", kKinds, report);
    if (!kind) return nullptr;
    Type type;
    type.kind = *kind;
    return std::make_shared<const Type>(std::move(type));
  }
  Words words(node, "the type of members", report);
  auto type = parse_type_of(words, std::nullopt, report);
  words.done();
  return std::make_shared<const Type>(std::move(type));
}

void parse_bounds(Words& words, Type& type, Report& report) {
  const auto bound = [&](std::string_view word, std::optional<value::Number>& member) {
    const YamlNode* node = words.find(word);
    if (node == nullptr) return;
    if (!is_number(type.kind) && !has_length(type.kind)) {
      unfit(*node, type.kind, "numbers, and for the length of texts, lists, sets and binary values", report);
    } else if (is_number(type.kind)) {
      member = read_number(*node, word, report);
    } else if (const auto length = read_integer(*node, word, {.min = 0, .max = 400 * 1024}, report)) {
      member = value::Number::from_int(*length);
    }
    if (type.min && type.max && *type.min > *type.max)
      report.error(node->position, "contradiction",
                   fmt::format("no value is at least {} and at most {}", type.min->to_string(), type.max->to_string()));
  };
  bound("min", type.min);
  bound("max", type.max);
  if (const YamlNode* step = words.find("step")) {
    if (!is_number(type.kind)) {
      unfit(*step, type.kind, "numbers", report);
    } else {
      type.step = read_number(*step, "step", report);
      if (type.step && (type.step->is_zero() || type.step->is_negative())) {
        report.error(step->position, "out-of-range", "step is greater than 0");
        type.step.reset();
      }
    }
  }
  if (const YamlNode* pattern = words.find("pattern")) {
    if (!is_text(type.kind)) {
      unfit(*pattern, type.kind, "texts", report);
    } else if (const auto text = read_text(*pattern, "pattern", report)) {
      const RE2 regex(text->text, RE2::Quiet);
      if (!regex.ok())
        report.error(text->position, "bad-pattern",
                     fmt::format("\"{}\" is no regular expression: {}", text->text, regex.error()));
      type.pattern = text->text;
    }
  }
}

// How a text is spelled, and what else is taken for it.
void parse_spelling(Words& words, Type& type, Report& report) {
  constexpr std::array kLines{Choice<bool>("one", false), Choice<bool>("many", true)};
  constexpr std::array kDayEnds{Choice<DayEnd>("start", DayEnd::Start), Choice<DayEnd>("end", DayEnd::End)};
  if (const YamlNode* lower = words.find("lower")) {
    if (!is_free_text(type.kind)) unfit(*lower, type.kind, "texts", report);
    type.lower = read_boolean(*lower, "lower", report).value_or(false);
  }
  if (const YamlNode* lines = words.find("lines")) {
    if (type.kind != Kind::String) unfit(*lines, type.kind, "strings", report);
    type.many_lines = read_choice(*lines, "lines", kLines, report).value_or(false);
  }
  if (const YamlNode* date = words.find("date")) {
    if (type.kind != Kind::Timestamp) unfit(*date, type.kind, "timestamps", report);
    type.date = read_choice(*date, "date", kDayEnds, report);
  }
}

void parse_enum_values(Words& words, Type& type, Report& report) {
  const YamlNode* node = type.kind == Kind::Enum ? words.need("values") : words.find("values");
  if (node == nullptr) return;
  if (type.kind != Kind::Enum) return unfit(*node, type.kind, "enums", report);
  for (const auto& value : read_texts(*node, "a value of an enum", report)) {
    if (std::find(type.values.begin(), type.values.end(), value.text) != type.values.end())
      report.error(value.position, "repeated-word", fmt::format("the enum has {} already", value.text));
    type.values.push_back(value.text);
  }
}

void parse_members(Words& words, Type& type, Report& report) {
  if (const YamlNode* of = type.kind == Kind::Set ? words.need("of") : words.find("of")) {
    if (type.kind != Kind::List && type.kind != Kind::Set) {
      unfit(*of, type.kind, "lists and sets", report);
    } else {
      type.element = parse_element(*of, report);
      if (type.kind == Kind::Set && type.element && !is_text(type.element->kind) && !is_number(type.element->kind) &&
          type.element->kind != Kind::Binary)
        report.error(of->position, "wrong-type",
                     fmt::format("a set holds texts, numbers or binary values, not {}", kind_name(type.element->kind)),
                     "list");
    }
  }
  if (const YamlNode* shape = words.find("shape")) {
    if (type.kind != Kind::Map) return unfit(*shape, type.kind, "maps", report);
    for (const auto& member : read_members(*shape, "shape", report)) {
      if (auto attribute = parse_plain_attribute(member, "a member of a map", report))
        type.shape.push_back(std::move(*attribute));
    }
  }
}

Type parse_type_of(Words& words, std::optional<Kind> implied, Report& report) {
  Type type;
  const YamlNode* node = implied ? words.find("type") : words.need("type");
  type.kind = implied.value_or(Kind::String);
  if (node != nullptr) type.kind = read_choice(*node, "a type", kKinds, report).value_or(type.kind);
  parse_enum_values(words, type, report);
  parse_members(words, type, report);
  parse_bounds(words, type, report);
  parse_spelling(words, type, report);
  return type;
}

// `name: string` is short for `name: { type: string }`.
Type parse_short_type(const YamlNode& node, Report& report) {
  Type type;
  type.kind = read_choice(node, "a type", kKinds, report).value_or(Kind::String);
  if (type.kind == Kind::Enum)
    report.error(node.position, "missing-word", "an enum needs the word values", "{ type: enum, values: [A, B] }");
  if (type.kind == Kind::Set)
    report.error(node.position, "missing-word", "a set needs the word of", "{ type: set, of: string }");
  return type;
}

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

std::optional<value::AttributeValue> value_of(const YamlNode& node, const Type& type, Report& report);

std::optional<value::AttributeValue> set_of(const YamlNode& node, const Type& element, Report& report) {
  std::vector<std::string> texts;
  std::vector<value::Number> numbers;
  for (const auto& item : read_list(node)) {
    const auto member = value_of(item, element, report);
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
std::optional<value::AttributeValue> value_of(const YamlNode& node, const Type& type, Report& report) {
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
        auto member = type.element ? value_of(item, *type.element, report) : any_value(item);
        if (!member) return std::nullopt;
        list.push_back(std::move(*member));
      }
      return value::AttributeValue(std::move(list));
    }
    case Kind::Set: return type.element ? set_of(node, *type.element, report) : std::nullopt;
    case Kind::Map:
      if (!node.is_map()) break;
      return any_value(node);
    case Kind::Any: return any_value(node);
    case Kind::Binary:
      report.error(node.position, "bad-default", "a binary value cannot have a default");
      return std::nullopt;
    default: {
      const auto text = read_text(node, kWhat, report);
      return text ? std::optional(value::AttributeValue::string(text->text)) : std::nullopt;
    }
  }
  report.error(node.position, "wrong-type",
               fmt::format("the default of {0} is {0}, not {1}", with_article(kind_name(type.kind)), node.kind_name()));
  return std::nullopt;
}

void parse_default(const YamlNode* node, Attribute& attribute, Report& report) {
  if (node == nullptr) return;
  auto value = value_of(*node, attribute.type, report);
  if (!value) return;
  std::vector<ValueProblem> problems;
  check_value(attribute.type, attribute.name, *value, problems);
  for (const auto& problem : problems)
    report.error(node->position, "bad-default",
                 fmt::format("the default of {} {}", problem.attribute, problem.problem));
  attribute.default_value = std::move(value);
}

bool parse_flag(Words& words, std::string_view word, Report& report) {
  const YamlNode* node = words.find(word);
  return node != nullptr && read_boolean(*node, word, report).value_or(false);
}

// Names that mean something else wherever an attribute's name can stand.
bool check_attribute_name(const Text& name, std::string_view what, Report& report) {
  if (!check_name(name, fmt::format("the name of {}", what), report)) return false;
  if (name.text != "me" && name.text != "now" && name.text != "shard") return true;
  report.error(
      name.position, "reserved-name",
      fmt::format("{} cannot be called {}: templates and expressions mean something else by it", what, name.text));
  return false;
}

std::vector<Children> parse_children(const YamlNode& node, Report& report) {
  std::vector<Children> children;
  for (const auto& text : read_texts(node, "what is counted", report)) {
    if (const auto halves = split_at_dot(text, "CHILD.relation", report))
      children.push_back({.entity = halves->first.text, .relation = halves->second.text, .position = text.at(0)});
  }
  return children;
}

Sum parse_sum(const YamlNode& node, EntitySyntax& entity, Report& report) {
  Words words(node, "a sum", report);
  Sum sum;
  std::optional<Text> summed;
  if (const YamlNode* of = words.need("of")) sum.of = parse_children(*of, report);
  if (const YamlNode* of = words.need("attribute")) summed = read_text(*of, "the attribute of a sum", report);
  words.done();
  if (summed) {
    sum.attribute = summed->text;
    entity.sums.push_back({.attribute = entity.entity.attributes.size(), .summed = std::move(*summed)});
  }
  return sum;
}

constexpr std::int64_t kLargestStep = 1'000'000'000'000;

// The parent's attribute that has the last number: `relation.attribute`.
void parse_giver(const YamlNode& node, Next& next, EntitySyntax& entity, Report& report) {
  const auto text = read_text(node, "by", report);
  const auto halves = text ? split_at_dot(*text, "relation.attribute", report) : std::nullopt;
  next.position = node.position;
  if (!halves) return;
  next.relation = halves->first.text;
  next.counter = halves->second.text;
  entity.numbers.push_back({.attribute = entity.entity.attributes.size(),
                            .relation = halves->first,
                            .source = halves->second,
                            .type = std::nullopt});
}

Next parse_next(const YamlNode& node, EntitySyntax& entity, Report& report) {
  Words words(node, "next", report);
  Next next;
  const YamlNode* by = words.find("by");
  if (by != nullptr) parse_giver(*by, next, entity, report);
  if (const YamlNode* in = by == nullptr ? words.need("in") : words.find("in")) {
    if (by != nullptr) {
      report.error(in->key.position, "contradiction", "a number is of an order (in), or a parent gives it (by)");
    } else if (const auto pattern = read_text(*in, "a pattern", report)) {
      next.pattern = pattern->text;
      next.position = pattern->position;
    }
  }
  if (const YamlNode* step = words.find("step"))
    next.step = read_integer(*step, "step", {.min = 1, .max = kLargestStep}, report).value_or(1);
  if (const YamlNode* distinct = words.find("distinct")) {
    next.distinct = read_boolean(*distinct, "distinct", report).value_or(false);
    if (by != nullptr)
      report.error(distinct->key.position, "contradiction",
                   "a parent never gives a number twice; distinct is for `in`");
  }
  words.done();
  return next;
}

CopyOf parse_copy(const YamlNode& node, EntitySyntax& entity, Report& report) {
  const auto text = read_text(node, "copy_of", report);
  const auto halves = text ? split_at_dot(*text, "relation.attribute", report) : std::nullopt;
  if (!halves) return {};
  entity.copies.push_back({.attribute = entity.entity.attributes.size(),
                           .relation = halves->first,
                           .source = halves->second,
                           .type = std::nullopt});
  return {.relation = halves->first.text, .attribute = halves->second.text};
}

void parse_unique(Words& words, const std::string& attribute, EntitySyntax& entity, Report& report) {
  const YamlNode* within = words.find("unique_within");
  const YamlNode* fold = words.find("fold");
  if (within == nullptr) {
    if (fold != nullptr)
      report.error(
          fold->key.position, "contradiction",
          "fold says how unique_within compares; for an order without case write {Name|alphabetical} in the key");
    return;
  }
  Unique unique{
      .attributes = {attribute}, .within = {}, .compared = parse_fold(fold, report), .position = within->key.position};
  const auto scope = read_texts(*within, "unique_within", report);
  for (const auto& name : scope) {
    if (name.text == "table" && scope.size() == 1) continue;
    unique.within.push_back(name.text);
    entity.names.push_back({.what = name, .stored_for = "what is unique"});
  }
  entity.names.push_back(
      {.what = {.text = attribute, .position = within->key.position, .lead = 0}, .stored_for = "what is unique"});
  entity.entity.uniques.push_back(std::move(unique));
}

// What, if anything, decides an attribute's value.  The words are looked at in order; a second one contradicts the
// first.
class Source {
 public:
  explicit Source(Words& words, Report& report) : words_(words), report_(report) {}

  const YamlNode* find(std::string_view word) {
    const YamlNode* node = words_.find(word);
    if (node == nullptr) return nullptr;
    if (first_ != nullptr) {
      report_.error(node->key.position, "contradiction",
                    fmt::format("a value has one source: {} and {} cannot both decide it", first_->key.text, word));
      return nullptr;
    }
    return first_ = node;
  }
  const YamlNode* first() const { return first_; }

 private:
  Words& words_;
  Report& report_;
  const YamlNode* first_ = nullptr;
};

constexpr std::array kGenerators{
    Choice<Generated>("uuid", Generated::Uuid),
    Choice<Generated>("ulid", Generated::Ulid),
    Choice<Generated>("now", Generated::Now),
};

// The type that comes with what decides the value; none when the file has to say it.
std::optional<Kind> implied_kind(const Attribute& attribute) {
  if (attribute.count || attribute.next || attribute.last) return Kind::Integer;
  if (attribute.sum) return Kind::Number;
  if (attribute.updated || attribute.generated == Generated::Now) return Kind::Timestamp;
  if (attribute.generated == Generated::Uuid) return Kind::Uuid;
  if (attribute.generated == Generated::Ulid) return Kind::Ulid;
  if (attribute.copy_of) return Kind::String;  // until the source is known
  return std::nullopt;
}

// Whether values that are decided so can be of that type.
bool can_be(const Attribute& attribute, Kind kind) {
  if (attribute.count || attribute.next || attribute.last) return kind == Kind::Integer;
  if (attribute.sum) return is_number(kind);
  if (attribute.updated || attribute.generated == Generated::Now) return kind == Kind::Timestamp;
  if (attribute.generated == Generated::Uuid) return kind == Kind::Uuid || kind == Kind::String;
  if (attribute.generated == Generated::Ulid) return kind == Kind::Ulid || kind == Kind::String;
  return true;
}

void parse_stored_words(Words& words, Attribute& attribute, EntitySyntax& entity, Report& report) {
  Source source(words, report);
  const YamlNode* type = words.find("type");
  if (const YamlNode* node = source.find("generated"))
    attribute.generated = read_choice(*node, "generated", kGenerators, report).value_or(Generated::No);
  if (const YamlNode* node = source.find("updated"))
    attribute.updated = read_boolean(*node, "updated", report).value_or(false);
  if (const YamlNode* node = source.find("derived")) {
    if (auto expression = read_expression(*node, report)) {
      attribute.derived = expression->value;
      entity.expressions.push_back({.what = std::move(*expression)});
    }
  }
  if (const YamlNode* node = source.find("count")) attribute.count = Count{.of = parse_children(*node, report)};
  if (const YamlNode* node = source.find("sum")) attribute.sum = parse_sum(*node, entity, report);
  if (const YamlNode* node = source.find("copy_of")) attribute.copy_of = parse_copy(*node, entity, report);
  if (const YamlNode* node = source.find("next")) attribute.next = parse_next(*node, entity, report);
  if (const YamlNode* node = source.find("last")) attribute.last = read_boolean(*node, "last", report).value_or(false);
  const YamlNode* computed = source.first();

  attribute.type = parse_type_of(words, implied_kind(attribute), report);
  attribute.type.form = attribute.description;
  const bool is_copy = !entity.copies.empty() && entity.copies.back().attribute == entity.entity.attributes.size();
  if (is_copy && type != nullptr) entity.copies.back().type = attribute.type;
  if (computed != nullptr && !can_be(attribute, attribute.type.kind))
    report.error(type->position, "wrong-type",
                 fmt::format("with {} the type is {}, not {}", computed->key.text, kind_name(*implied_kind(attribute)),
                             kind_name(attribute.type.kind)),
                 std::string(kind_name(*implied_kind(attribute))));
  parse_default(source.find("default"), attribute, report);
  attribute.immutable = parse_flag(words, "immutable", report);
  attribute.hidden = parse_flag(words, "hidden", report);
  attribute.internal = parse_flag(words, "internal", report);
  attribute.transient = parse_flag(words, "transient", report);
  attribute.drifts = parse_flag(words, "drifts", report);
  const bool settable = computed == nullptr || attribute.updated || attribute.next;  // by actions, too
  if (attribute.drifts && (!settable || attribute.transient))
    report.error(attribute.position, "contradiction",
                 fmt::format("{} drifts: actions set it; nothing else can decide it", attribute.name));
  if (attribute.transient && (computed != nullptr || attribute.internal))
    report.error(attribute.position, "contradiction",
                 fmt::format("{} is transient: taken from a request and not stored; nothing else can decide it",
                             attribute.name));
  parse_unique(words, attribute.name, entity, report);
}

}  // namespace

std::optional<Attribute> parse_plain_attribute(const YamlNode& node, std::string_view what, Report& report) {
  Attribute attribute;
  attribute.name = node.key.text;
  attribute.position = node.key.position;
  if (!check_attribute_name(node.key, what, report)) return std::nullopt;
  if (node.is_scalar()) {
    attribute.type = parse_short_type(node, report);
    return attribute;
  }
  Words words(node, what, report);
  attribute.description = parse_description(words, report);
  attribute.type = parse_type_of(words, std::nullopt, report);
  attribute.type.form = attribute.description;
  attribute.required = parse_flag(words, "required", report);
  parse_default(words.find("default"), attribute, report);
  words.done();
  return attribute;
}

Transform parse_fold(const YamlNode* node, Report& report) {
  static constexpr std::array<Choice<Transform>, 3> kFolds = {
      Choice<Transform>{"true", Transform::Sortable},
      {"false", Transform::Escaped},
      {"letters", Transform::Alphabetical},
  };
  return node == nullptr ? Transform::Escaped : read_choice(*node, "fold", kFolds, report).value_or(Transform::Escaped);
}

void parse_attribute(const YamlNode& node, EntitySyntax& entity, Report& report) {
  Attribute attribute;
  attribute.name = node.key.text;
  attribute.position = node.key.position;
  if (!check_attribute_name(node.key, "an attribute", report)) return;
  if (node.is_scalar()) {
    attribute.type = parse_short_type(node, report);
  } else {
    Words words(node, "an attribute", report);
    attribute.description = parse_description(words, report);
    attribute.required = parse_flag(words, "required", report);
    parse_stored_words(words, attribute, entity, report);
    words.done();
  }
  entity.entity.attributes.push_back(std::move(attribute));
}

}  // namespace stator::model
