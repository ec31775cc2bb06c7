#include "stator/model/syntax/yaml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "stator/base/ascii.h"
#include "stator/model/expression/name_start.h"

namespace stator::model {
namespace {

constexpr std::string_view kColumn = "column ";

void wrong_kind(const YamlNode& node, std::string_view what, std::string_view expected, Report& report) {
  report.error(node.position, "wrong-type", fmt::format("{} is {}, not {}", what, expected, node.kind_name()));
}

// A value as a message shows it.
std::string shown(const YamlNode& node) {
  if (!node.is_scalar()) return std::string(node.kind_name());
  return node.quoted ? fmt::format("the text \"{}\"", node.text.text) : node.text.text;
}

// Templates and expressions say where they went wrong as "column 4: ...".  Reports that at its place in the file.
void report_parse_error(const Text& source, const Error& error, std::string_view code, std::string_view what,
                        Report& report) {
  std::string_view message = error.message;
  std::size_t offset = 0;
  if (message.starts_with(kColumn)) {
    std::size_t column = 0;
    const auto [end, failure] =
        std::from_chars(message.data() + kColumn.size(), message.data() + message.size(), column);
    if (failure == std::errc() && std::string_view(end, 2) == ": ") {
      message.remove_prefix(static_cast<std::size_t>(end - message.data()) + 2);
      offset = column == 0 ? 0 : column - 1;
    }
  }
  report.error(source.at(offset), code, fmt::format("{} \"{}\": {}", what, source.text, message));
}

// The text of a template or expression, if the node can be one.
std::optional<Text> quoted_text(const YamlNode& node, std::string_view what, Report& report) {
  if (!node.is_scalar()) {
    // An opening brace begins a map in YAML, so a forgotten quote looks like one.
    const bool looks_like_template =
        node.is_map() && !node.items.empty() && node.items.front().kind == YamlNode::Kind::Nothing;
    report.error(
        node.position, fmt::format("unquoted-{}", what),
        fmt::format("{} {} is a quoted string, not {}", what == "expression" ? "an" : "a", what, node.kind_name()),
        looks_like_template ? fmt::format("\"{{{}}}\"", node.items.front().key.text) : std::string());
    return std::nullopt;
  }
  if (!node.quoted) {
    report.error(node.position, fmt::format("unquoted-{}", what),
                 fmt::format("{} {} is always written in quotes", what == "expression" ? "an" : "a", what),
                 fmt::format("\"{}\"", node.text.text));
  }
  return node.text;
}

}  // namespace

Words::Words(const YamlNode& node, std::string_view what, Report& report)
    : node_(node), what_(what), report_(report), is_map_(node.is_map()) {
  if (!is_map_) wrong_kind(node, what, "a map of words", report);
}

const YamlNode* Words::find(std::string_view word) {
  const bool is_first = std::find(asked_.begin(), asked_.end(), word) == asked_.end();
  if (is_first) asked_.push_back(word);
  if (!is_map_) return nullptr;
  const auto found =
      std::find_if(node_.items.begin(), node_.items.end(), [&](const YamlNode& item) { return item.key.text == word; });
  const bool given = found != node_.items.end();
  report_.looked_for({.kind = KnownWord::Kind::Word,
                      .construct = what_,
                      .word = word,
                      .given = given ? &found->key.position : nullptr});
  if (!given) return nullptr;
  if (found->kind == YamlNode::Kind::Nothing) {
    if (is_first) report_.error(found->key.position, "missing-value", fmt::format("{} is given without a value", word));
    return nullptr;
  }
  return &*found;
}

const YamlNode* Words::need(std::string_view word) {
  const bool given = is_map_ && std::any_of(node_.items.begin(), node_.items.end(),
                                            [&](const YamlNode& item) { return item.key.text == word; });
  if (is_map_ && !given)
    report_.error(node_.position, "missing-word", fmt::format("{} needs the word {}", what_, word));
  return find(word);
}

void Words::done() const {
  if (!is_map_) return;
  for (const auto& item : node_.items) {
    if (item.key.text == "description" || std::find(asked_.begin(), asked_.end(), item.key.text) != asked_.end())
      continue;
    report_.unknown(item.key.position, "unknown-word",
                    fmt::format("{} has no word {}; its words are {}", what_, item.key.text, spelled_out(asked_)),
                    item.key.text, asked_);
  }
}

std::optional<Text> read_text(const YamlNode& node, std::string_view what, Report& report) {
  if (!node.is_scalar()) {
    wrong_kind(node, what, "a text", report);
    return std::nullopt;
  }
  return node.text;
}

std::optional<bool> read_boolean(const YamlNode& node, std::string_view what, Report& report) {
  if (node.is_scalar() && !node.quoted) {
    if (node.text.text == "true") return true;
    if (node.text.text == "false") return false;
  }
  report.error(node.position, "wrong-type", fmt::format("{} is true or false, not {}", what, shown(node)));
  return std::nullopt;
}

std::optional<value::Number> read_number(const YamlNode& node, std::string_view what, Report& report) {
  if (node.is_scalar() && !node.quoted) {
    if (auto number = value::Number::parse(node.text.text)) return *number;
  }
  report.error(node.position, "wrong-type", fmt::format("{} is a number, not {}", what, shown(node)));
  return std::nullopt;
}

std::optional<std::int64_t> read_integer(const YamlNode& node, std::string_view what, IntegerRange range,
                                         Report& report) {
  const auto number = read_number(node, what, report);
  if (!number) return std::nullopt;
  const auto integer = number->to_int64();
  if (!integer || *integer < range.min || *integer > range.max) {
    report.error(node.position, "out-of-range",
                 fmt::format("{} is a whole number from {} to {}, not {}", what, range.min, range.max, node.text.text));
    return std::nullopt;
  }
  return integer;
}

std::optional<std::chrono::seconds> read_duration(const YamlNode& node, std::string_view what, Report& report) {
  constexpr std::array kUnits{std::pair('s', 1), std::pair('m', 60), std::pair('h', 3600), std::pair('d', 86400)};
  constexpr std::int64_t kLongest = 100L * 365 * 86400;
  if (node.is_scalar() && !node.text.text.empty()) {
    const std::string_view text = node.text.text;
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& u) { return u.first == text.back(); });
    std::int64_t count = 0;
    const char* end = text.data() + text.size() - 1;
    const auto [stopped, failure] = std::from_chars(text.data(), end, count);
    if (unit != kUnits.end() && failure == std::errc() && stopped == end && count > 0 &&
        count <= kLongest / unit->second)
      return std::chrono::seconds(count * unit->second);
  }
  report.error(node.position, "bad-duration",
               fmt::format("{} is a time such as 90s, 15m, 12h or 30d, not {}", what, shown(node)));
  return std::nullopt;
}

std::optional<Written<Template>> read_template(const YamlNode& node, Report& report) {
  const auto source = quoted_text(node, "template", report);
  if (!source) return std::nullopt;
  auto parsed = Template::parse(source->text);
  if (!parsed) {
    report_parse_error(*source, parsed.error(), "bad-template", "the template", report);
    return std::nullopt;
  }
  return Written<Template>{.value = std::move(*parsed), .source = *source};
}

std::optional<Written<Expression>> read_expression(const YamlNode& node, Report& report) {
  const auto source = quoted_text(node, "expression", report);
  if (!source) return std::nullopt;
  auto parsed = Expression::parse(source->text);
  if (!parsed) {
    report_parse_error(*source, parsed.error(), "bad-expression", "the expression", report);
    return std::nullopt;
  }
  return Written<Expression>{.value = std::move(*parsed), .source = *source};
}

std::span<const YamlNode> read_list(const YamlNode& node) {
  if (node.is_list()) return node.items;
  return {&node, 1};
}

std::vector<Text> read_texts(const YamlNode& node, std::string_view what, Report& report) {
  std::vector<Text> texts;
  for (const auto& item : read_list(node)) {
    if (auto text = read_text(item, what, report)) texts.push_back(std::move(*text));
  }
  return texts;
}

std::span<const YamlNode> read_members(const YamlNode& node, std::string_view what, Report& report) {
  if (node.is_map()) return node.items;
  wrong_kind(node, what, "a map", report);
  return {};
}

std::optional<std::size_t> read_word(const YamlNode& node, std::string_view what,
                                     std::span<const std::string_view> words, Report& report) {
  const auto text = read_text(node, what, report);
  if (!text) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), text->text);
  for (const auto word : words) {
    report.looked_for({.kind = KnownWord::Kind::Value,
                       .construct = what,
                       .word = word,
                       .given = word == text->text ? &node.position : nullptr});
  }
  if (found == words.end()) {
    report.unknown(node.position, "unknown-value",
                   fmt::format("{} is {}, not {}", what, spelled_out(words, "or"), text->text), text->text, words);
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - words.begin());
}

bool is_name(std::string_view text, Dashes dashes) {
  constexpr std::size_t kLongest = 255;
  return !text.empty() && text.size() <= kLongest && is_name_start(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_name_start(c) || is_digit(c) || (c == '-' && dashes == Dashes::Yes); });
}

bool check_name(const Text& name, std::string_view what, Report& report, Dashes dashes) {
  if (is_name(name.text, dashes)) return true;
  report.error(name.position, "bad-name",
               fmt::format("{} has letters, digits{} and begins with a letter: \"{}\" cannot be one", what,
                           dashes == Dashes::Yes ? ", underscores and dashes" : " and underscores", name.text));
  return false;
}

std::optional<std::pair<Text, Text>> split_at_dot(const Text& text, std::string_view form, Report& report) {
  const auto dot = text.text.find('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == text.text.size()) {
    report.error(text.position, "wrong-type", fmt::format("{} is expected here, not {}", form, text.text));
    return std::nullopt;
  }
  return std::pair(
      Text{.text = text.text.substr(0, dot), .position = text.position, .lead = text.lead},
      Text{.text = text.text.substr(dot + 1), .position = text.at(dot + 1), .lead = text.lead < 0 ? -1 : 0});
}

Position place_in_template(const Text& source, std::string_view name) {
  const auto found = source.text.find(fmt::format("{{{}", name));
  return found == std::string::npos ? source.position : source.at(found + 1);
}

}  // namespace stator::model
