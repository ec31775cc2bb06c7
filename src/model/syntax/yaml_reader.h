#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/model/expression/expression.h"
#include "stator/model/expression/template.h"
#include "stator/model/report.h"
#include "stator/model/syntax/yaml_tree.h"
#include "stator/value/number.h"

// Functions that read a value of a YAML tree as the type which the language expects there.  Each function reports a
// value that does not fit, and returns nothing; `what` names the value in the message: "the owner".
namespace stator::model {

// The words of one map.  A word is known after find() or need() has asked for it, so the code that reads a construct is
// also the list of its words.
class Words {
 public:
  // `what` is the construct: "an entity".  A node that is no map is reported, and has no words.
  Words(const YamlNode& node, std::string_view what, Report& report);

  // The value of `word`; null when it is not given.
  const YamlNode* find(std::string_view word);
  // Like find(), and reports a word that is missing.
  const YamlNode* need(std::string_view word);
  // Reports the words that were not asked for.  Every map may have a description.
  void done() const;

  bool is_map() const { return is_map_; }
  Position position() const { return node_.position; }

 private:
  const YamlNode& node_;
  std::string what_;
  Report& report_;
  bool is_map_;
  std::vector<std::string_view> asked_;
};

// Something written in a file in a language of its own.
template <typename T>
struct Written {
  T value;
  Text source;
};

std::optional<Text> read_text(const YamlNode& node, std::string_view what, Report& report);
std::optional<bool> read_boolean(const YamlNode& node, std::string_view what, Report& report);
std::optional<value::Number> read_number(const YamlNode& node, std::string_view what, Report& report);
struct IntegerRange {
  std::int64_t min;
  std::int64_t max;
};
std::optional<std::int64_t> read_integer(const YamlNode& node, std::string_view what, IntegerRange range,
                                         Report& report);
// 90s, 15m, 12h, 30d.
std::optional<std::chrono::seconds> read_duration(const YamlNode& node, std::string_view what, Report& report);
// Both are quoted strings.  A string without quotes is reported, and is read anyway.
std::optional<Written<Template>> read_template(const YamlNode& node, Report& report);
std::optional<Written<Expression>> read_expression(const YamlNode& node, Report& report);

// A list, or a single value as a list of one.
std::span<const YamlNode> read_list(const YamlNode& node);
std::vector<Text> read_texts(const YamlNode& node, std::string_view what, Report& report);
// The members of a map, each with its key.  A node that is no map is reported, and has no members.
std::span<const YamlNode> read_members(const YamlNode& node, std::string_view what, Report& report);

// One of a few words.
template <typename T>
using Choice = std::pair<std::string_view, T>;
std::optional<std::size_t> read_word(const YamlNode& node, std::string_view what,
                                     std::span<const std::string_view> words, Report& report);
template <typename T, std::size_t N>
std::optional<T> read_choice(const YamlNode& node, std::string_view what, const std::array<Choice<T>, N>& choices,
                             Report& report) {
  std::array<std::string_view, N> words;
  for (std::size_t i = 0; i < N; ++i) words[i] = choices[i].first;
  const auto found = read_word(node, what, words, report);
  return found ? std::optional<T>(choices[*found].second) : std::nullopt;
}

// Names: letters, digits and underscores, not beginning with a digit; `dashes`: also dashes inside.
enum class Dashes : bool { No, Yes };
bool is_name(std::string_view text, Dashes dashes = Dashes::No);
// Reports a text that is no name.
bool check_name(const Text& name, std::string_view what, Report& report, Dashes dashes = Dashes::No);

// The two halves of "child.relation".  Reports a text without that form; `form` is the form in the message.
std::optional<std::pair<Text, Text>> split_at_dot(const Text& text, std::string_view form, Report& report);

// The place of a hole's name inside a template.
Position place_in_template(const Text& source, std::string_view name);

}  // namespace stator::model
