#include <fmt/format.h>

#include <algorithm>

#include "stator/model/syntax/parse.h"

namespace stator::model {
namespace {

bool parse_flag(Words& words, std::string_view word, Report& report) {
  const YamlNode* node = words.find(word);
  return node != nullptr && read_boolean(*node, word, report).value_or(false);
}

// Names that mean something else wherever an attribute's name can stand.
bool check_attribute_name(const Text& name, std::string_view what, Syntax& syntax, Report& report) {
  if (!check_name(name, fmt::format("the name of {}", what), report)) return false;
  if (name.text != "me" && name.text != "now" && name.text != "shard") return true;
  syntax.reserved.push_back({.name = name, .what = std::string(what)});
  return false;
}

std::vector<Children> parse_children(const YamlNode& node, Report& report) {
  std::vector<Children> children;
  for (const auto& text : read_texts(node, "a counted relation", report)) {
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

Next parse_next(const YamlNode& node, EntitySyntax& entity, AttributeSyntax& written, Report& report) {
  Words words(node, "next", report);
  Next next;
  const YamlNode* by = words.find("by");
  if (by != nullptr) parse_giver(*by, next, entity, report);
  if (const YamlNode* in = by == nullptr ? words.need("in") : words.find("in")) {
    if (by != nullptr) {
      written.order = in->key.position;
    } else if (const auto pattern = read_text(*in, "a pattern", report)) {
      next.pattern = pattern->text;
      next.position = pattern->position;
    }
  }
  if (const YamlNode* step = words.find("step"))
    next.step = read_integer(*step, "step", {.min = 1, .max = kLargestStep}, report).value_or(1);
  if (const YamlNode* distinct = words.find("distinct")) {
    next.distinct = read_boolean(*distinct, "distinct", report).value_or(false);
    if (by != nullptr) written.distinct = distinct->key.position;
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

void parse_unique(Words& words, const std::string& attribute, AttributeSyntax& written, EntitySyntax& entity,
                  Report& report) {
  const YamlNode* within = words.find("unique_within");
  const YamlNode* fold = words.find("fold");
  if (within == nullptr) {
    if (fold != nullptr) written.fold = fold->key.position;
    return;
  }
  Unique unique{
      .attributes = {attribute}, .within = {}, .compared = parse_fold(fold, report), .position = within->key.position};
  const auto scope = read_texts(*within, "unique_within", report);
  for (const auto& name : scope) {
    if (name.text == "table" && scope.size() == 1) continue;
    unique.within.push_back(name.text);
    entity.names.push_back({.what = name, .stored_for = "a unique rule"});
  }
  entity.names.push_back(
      {.what = {.text = attribute, .position = within->key.position, .lead = 0}, .stored_for = "a unique rule"});
  entity.entity.uniques.push_back(std::move(unique));
}

constexpr std::array kGenerators{
    Choice<Generated>("uuid", Generated::Uuid),
    Choice<Generated>("ulid", Generated::Ulid),
    Choice<Generated>("now", Generated::Now),
};

}  // namespace

std::optional<Kind> implied_kind(const Attribute& attribute) {
  if (attribute.count || attribute.next || attribute.last) return Kind::Integer;
  if (attribute.sum) return Kind::Number;
  if (attribute.updated || attribute.generated == Generated::Now) return Kind::Timestamp;
  if (attribute.generated == Generated::Uuid) return Kind::Uuid;
  if (attribute.generated == Generated::Ulid) return Kind::Ulid;
  if (attribute.copy_of) return Kind::String;  // until the source is known
  return std::nullopt;
}

namespace {

void parse_stored_words(Words& words, Attribute& attribute, EntitySyntax& entity, Syntax& syntax, Report& report) {
  AttributeSyntax written;
  // The source of the value: the first such word that is given.
  const auto find_source = [&](std::string_view word) -> const YamlNode* {
    const YamlNode* node = words.find(word);
    if (node != nullptr) written.sources.push_back(node->key);
    return written.sources.size() > 1 ? nullptr : node;
  };
  if (const YamlNode* type = words.find("type")) written.type = type->position;
  if (const YamlNode* node = find_source("generated"))
    attribute.generated = read_choice(*node, "generated", kGenerators, report).value_or(Generated::No);
  if (const YamlNode* node = find_source("updated"))
    attribute.updated = read_boolean(*node, "updated", report).value_or(false);
  if (const YamlNode* node = find_source("derived")) {
    if (auto expression = read_expression(*node, report)) {
      attribute.derived = expression->value;
      entity.expressions.push_back({.what = std::move(*expression)});
    }
  }
  if (const YamlNode* node = find_source("count")) attribute.count = Count{.of = parse_children(*node, report)};
  if (const YamlNode* node = find_source("sum")) attribute.sum = parse_sum(*node, entity, report);
  if (const YamlNode* node = find_source("copy_of")) attribute.copy_of = parse_copy(*node, entity, report);
  if (const YamlNode* node = find_source("next")) attribute.next = parse_next(*node, entity, written, report);
  if (const YamlNode* node = find_source("last")) attribute.last = read_boolean(*node, "last", report).value_or(false);
  attribute.type = parse_type(words, implied_kind(attribute), syntax, report);
  attribute.type.form = attribute.description;
  const bool is_copy = !entity.copies.empty() && entity.copies.back().attribute == entity.entity.attributes.size();
  if (is_copy && written.type) entity.copies.back().type = attribute.type;
  attribute.default_value = parse_default(find_source("default"), attribute.name, attribute.type, syntax, report);
  attribute.immutable = parse_flag(words, "immutable", report);
  attribute.hidden = parse_flag(words, "hidden", report);
  attribute.internal = written.internal = parse_flag(words, "internal", report);
  attribute.transient = parse_flag(words, "transient", report);
  attribute.drifts = parse_flag(words, "drifts", report);
  parse_unique(words, attribute.name, written, entity, report);
  entity.attributes.push_back(std::move(written));
}

}  // namespace

std::optional<Attribute> parse_plain_attribute(const YamlNode& node, std::string_view what, Syntax& syntax,
                                               Report& report) {
  Attribute attribute;
  attribute.name = node.key.text;
  attribute.position = node.key.position;
  if (!check_attribute_name(node.key, what, syntax, report)) return std::nullopt;
  if (node.is_scalar()) {
    attribute.type = parse_short_type(node, report);
    return attribute;
  }
  Words words(node, what, report);
  attribute.description = parse_description(words, report);
  attribute.type = parse_type(words, std::nullopt, syntax, report);
  attribute.type.form = attribute.description;
  attribute.required = parse_flag(words, "required", report);
  attribute.default_value = parse_default(words.find("default"), attribute.name, attribute.type, syntax, report);
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

void parse_attribute(const YamlNode& node, EntitySyntax& entity, Syntax& syntax, Report& report) {
  Attribute attribute;
  attribute.name = node.key.text;
  attribute.position = node.key.position;
  if (!check_attribute_name(node.key, "an attribute", syntax, report)) return;
  if (node.is_scalar()) {
    attribute.type = parse_short_type(node, report);
    entity.attributes.emplace_back();
  } else {
    Words words(node, "an attribute", report);
    attribute.description = parse_description(words, report);
    attribute.required = parse_flag(words, "required", report);
    parse_stored_words(words, attribute, entity, syntax, report);
    words.done();
  }
  entity.entity.attributes.push_back(std::move(attribute));
}

}  // namespace stator::model
