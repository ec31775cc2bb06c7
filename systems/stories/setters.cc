#include "stator/systems/stories/setters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "stator/base/ascii.h"
#include "stator/model/expression/expression.h"
#include "stator/systems/stories/response_rules.h"

namespace stator::systems::stories {
namespace {

using value::AttributeValue;
using value::Item;

constexpr std::string_view kSpace = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kSpace);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

// The name, number or sign at the front of `text`, which loses it.  Empty: something else is there.
std::string_view take_token(std::string_view& text) {
  const auto first = text.find_first_not_of(kSpace);
  text.remove_prefix(std::min(first, text.size()));
  std::size_t size = 0;
  const bool is_name = !text.empty() && (text.front() == '$' || is_word(text.front()));
  if (is_name) {
    size = 1;
    while (size < text.size() && (is_word(text[size]) || (is_digit(text.front()) && text[size] == '.'))) ++size;
  } else if (!text.empty() && std::string_view("+-*/()").find(text.front()) != std::string_view::npos) {
    size = 1;
  }
  const auto token = text.substr(0, size);
  text.remove_prefix(size);
  return token;
}

// A number, a quoted text, true or false.
std::optional<AttributeValue> read_literal(std::string_view text) {
  if (text == "true" || text == "false") return AttributeValue::boolean(text == "true");
  const bool is_quoted =
      text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  if (is_quoted) {
    const auto inside = text.substr(1, text.size() - 2);
    const std::array<char, 2> special{text.front(), '\\'};
    if (inside.find_first_of(std::string_view(special.data(), special.size())) != std::string_view::npos) return {};
    return AttributeValue::string(inside);
  }
  const bool is_number = !text.empty() && text.find_first_not_of("-.0123456789") == std::string_view::npos;
  if (!is_number) return std::nullopt;
  const auto number = value::Number::parse(text);
  return number ? std::optional(AttributeValue(*number)) : std::nullopt;
}

// Arithmetic with `from` before each name of a variable there, and `to` here.  nullopt: it is something else.
std::optional<std::string> translate(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  bool after_operand = false;  // two of them without a sign between: a word such as AND, or a function
  while (!trimmed(text).empty()) {
    const auto token = take_token(text);
    if (token.empty()) return std::nullopt;
    const bool is_name = token.front() == '$' || is_letter(token.front()) || token.front() == '_';
    const bool is_operand = is_name || is_digit(token.front());
    if (after_operand && (is_operand || token == "(")) return std::nullopt;
    after_operand = is_operand || token == ")";
    out += out.empty() ? "" : " ";
    if (!is_name) {
      out += token;
    } else if (token.starts_with('$') != (from == "$") || token == "true" || token == "false" || token == "null") {
      return std::nullopt;
    } else {
      out += fmt::format("{}{}", to, token.substr(from.size()));
    }
  }
  return out;
}

// A text as a response holds it: one that begins with = is an expression.
AttributeValue kept_text(const AttributeValue& literal) {
  const auto* text = computed(literal);
  if (text == nullptr) return literal;
  std::string quoted = "='";
  for (const char c : *text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return AttributeValue(quoted + "'");
}

std::optional<AttributeValue> expression_of(std::string_view expression) {
  const auto translated = translate(expression, "$", "");
  if (!translated || !model::Expression::parse(*translated)) return std::nullopt;
  return AttributeValue("=" + *translated);
}

// The parts between commas and semicolons that are not in quotes or brackets.
std::vector<std::string_view> statements_of(std::string_view text) {
  std::vector<std::string_view> statements;
  std::size_t begin = 0;
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ';';
    if (quote != 0 && i < text.size()) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (i == text.size() || ((c == ',' || c == ';') && depth <= 0)) {
      if (const auto statement = trimmed(text.substr(begin, i - begin)); !statement.empty()) {
        statements.push_back(statement);
      }
      begin = i + 1;
    }
  }
  return statements;
}

// `$coins += 3` taken apart.
struct Statement {
  std::string name;
  char sign = 0;  // of an assignment that computes: + - * /
  std::string_view expression;
};

std::optional<Statement> read_statement(std::string_view text) {
  if (text.starts_with("set ")) text = trimmed(text.substr(4));
  const auto token = take_token(text);
  Statement statement;
  if (!token.starts_with('$') || !is_variable_name(std::string(token.substr(1)))) return std::nullopt;
  statement.name = token.substr(1);
  text = trimmed(text);
  if (text == "++" || text == "--") {
    statement.sign = text.front();
    statement.expression = "1";
    return statement;
  }
  if (text.starts_with("to ")) {
    text.remove_prefix(3);
  } else if (text.size() > 1 && text[1] == '=' && std::string_view("+-*/").find(text[0]) != std::string_view::npos) {
    statement.sign = text.front();
    text.remove_prefix(2);
  } else if (text.starts_with('=') && !text.starts_with("==")) {
    text.remove_prefix(1);
  } else {
    return std::nullopt;
  }
  statement.expression = trimmed(text);
  return statement;
}

std::optional<AttributeValue> value_of(const Statement& statement) {
  if (statement.sign != 0) {
    return expression_of(fmt::format("${} {} {}", statement.name, statement.sign,
                                     read_literal(statement.expression) ? std::string(statement.expression)
                                                                        : fmt::format("({})", statement.expression)));
  }
  const auto literal = read_literal(statement.expression);
  return literal ? kept_text(*literal) : expression_of(statement.expression);
}

// The variables that a value of `set` is computed from.
std::vector<std::string> names_read(const AttributeValue& content) {
  const auto* text = computed(content);
  if (text == nullptr) return {};
  const auto expression = model::Expression::parse(std::string_view(*text).substr(1));
  return expression ? expression->paths() : std::vector<std::string>();
}

std::optional<std::string> write_literal(const AttributeValue& content) {
  if (const auto* number = content.as_number()) return number->to_string();
  if (const auto* flag = content.as_bool()) return *flag ? "true" : "false";
  const auto* text = content.as_string();
  if (text == nullptr) return std::nullopt;
  const char quote = text->find('"') == std::string::npos ? '"' : '\'';
  const bool fits = text->find_first_of("\\\r\n") == std::string::npos && text->find(quote) == std::string::npos &&
                    text->find(">>") == std::string::npos;
  return fits ? std::optional(fmt::format("{}{}{}", quote, *text, quote)) : std::nullopt;
}

}  // namespace

Assignments read_setter(std::string_view text) {
  Assignments made;
  std::set<std::string, std::less<>> assigned;
  for (const auto statement : statements_of(text.substr(0, kMostSetterBytes))) {
    const auto read = read_statement(statement);
    const auto content = read ? value_of(*read) : std::nullopt;
    const auto names = content ? names_read(*content) : std::vector<std::string>();
    const bool too_late = std::ranges::any_of(names, [&](const auto& name) { return assigned.contains(name); });
    if (!content || too_late) {
      made.unknown.emplace_back(statement);
      continue;
    }
    assigned.insert(read->name);
    made.values.set(read->name, *content);
  }
  return made;
}

std::optional<std::string> write_setter(const Item& set) {
  std::vector<std::pair<std::string, std::string>> waiting;  // name, expression
  std::map<std::string, std::vector<std::string>> reads;
  for (const auto& [name, content] : set) {
    const auto* text = computed(content);
    auto expression = text != nullptr ? translate(std::string_view(*text).substr(1), "", "$") : write_literal(content);
    if (!expression) return std::nullopt;
    reads[name] = names_read(content);
    waiting.emplace_back(name, std::move(*expression));
  }
  // Last is what others still read.
  std::string out;
  while (!waiting.empty()) {
    const auto is_free = [&](const auto& one) {
      return std::ranges::none_of(waiting, [&](const auto& other) {
        return other.first != one.first && std::ranges::count(reads[other.first], one.first) > 0;
      });
    };
    const auto next = std::ranges::find_if(waiting, is_free);
    if (next == waiting.end()) return std::nullopt;
    out += fmt::format("{}${} to {}", out.empty() ? "" : ", ", next->first, next->second);
    waiting.erase(next);
  }
  return out.size() <= kMostSetterBytes ? std::optional(out) : std::nullopt;
}

Assignments read_story_init(std::string_view text) {
  constexpr std::string_view kBegin = "<<set ", kEnd = ">>";
  Assignments made;
  const auto unknown = [&](std::string_view part) {
    if (!trimmed(part).empty()) made.unknown.emplace_back(trimmed(part));
  };
  while (!text.empty()) {
    const auto begin = std::min(text.find(kBegin), text.size());
    const auto end = text.find(kEnd, begin);
    if (end == std::string_view::npos) break;
    unknown(text.substr(0, begin));
    for (const auto statement : statements_of(text.substr(begin + kBegin.size(), end - begin - kBegin.size()))) {
      const auto read = read_statement(statement);
      const auto content = read && read->sign == 0 ? read_literal(read->expression) : std::nullopt;
      if (content && made.values.size() < kMostVariables) {
        made.values.set(read->name, *content);
      } else {
        unknown(statement);
      }
    }
    text.remove_prefix(end + kEnd.size());
  }
  unknown(text);
  return made;
}

std::string write_story_init(const Item& variables) {
  std::string out;
  for (const auto& [name, content] : variables) {
    if (const auto literal = write_literal(content)) out += fmt::format("<<set ${} to {}>>\n", name, *literal);
  }
  return out;
}

}  // namespace stator::systems::stories
