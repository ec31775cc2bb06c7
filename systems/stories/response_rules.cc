#include "stator/systems/stories/response_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/base/ascii.h"
#include "stator/model/expression/expression.h"

namespace stator::systems::stories {
namespace {

using model::Expression;
using value::AttributeValue;
using value::Item;

constexpr std::size_t kLongestName = 100;

void check_expression(std::string_view text, const std::string& path, std::vector<model::ValueProblem>& problems) {
  const auto expression = Expression::parse(text);
  if (!expression) {
    problems.push_back({path, expression.error().message});
  } else if (!expression->inputs().empty()) {
    problems.push_back({path, fmt::format("there is no :{} here", expression->inputs().front())});
  }
}

void check_response(const Item& response, const std::string& path, std::vector<model::ValueProblem>& problems) {
  const auto* condition = response.find("condition");
  if (condition != nullptr && condition->as_string() != nullptr) {
    check_expression(*condition->as_string(), path + ".condition", problems);
  }
  for (const auto& [name, content] : map_of(response, "set")) {
    const auto place = fmt::format("{}.set.{}", path, name);
    if (!is_variable_name(name)) problems.push_back({place, "is not the name of a variable: letters, digits and _"});
    if (const auto* text = computed(content)) check_expression(text->substr(1), place, problems);
  }
}

}  // namespace

const Item& map_of(const Item& attributes, std::string_view name) {
  static const Item kNone;
  const auto* found = attributes.find(name);
  const auto* map = found != nullptr ? found->as_map() : nullptr;
  return map != nullptr ? *map : kNone;
}

const std::string* computed(const AttributeValue& content) {
  const auto* text = content.as_string();
  return text != nullptr && text->starts_with('=') ? text : nullptr;
}

bool is_variable_name(const std::string& name) {
  const auto is_word = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  return !name.empty() && name.size() <= kLongestName && !is_digit(name.front()) && std::ranges::all_of(name, is_word);
}

std::vector<model::ValueProblem> check_responses(const value::List& responses, const std::string& path) {
  std::vector<model::ValueProblem> problems;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    if (const auto* response = responses[i].as_map())
      check_response(*response, fmt::format("{}[{}]", path, i), problems);
  }
  return problems;
}

std::vector<model::ValueProblem> check_variables(const Item& variables, const std::string& path) {
  std::vector<model::ValueProblem> problems;
  std::string json;
  for (const auto& [name, content] : variables) {
    if (!is_variable_name(name)) {
      problems.push_back({fmt::format("{}.{}", path, name), "is not the name of a variable: letters, digits and _"});
    }
    model::append_plain_json(json, content);
  }
  if (variables.size() > kMostVariables) problems.push_back({path, fmt::format("must be at most {}", kMostVariables)});
  if (json.size() > kMostVariableBytes) {
    problems.push_back({path, fmt::format("must take at most {} bytes", kMostVariableBytes)});
  }
  return problems;
}

Result<bool> is_open(const Item& response, const Item& variables) {
  const auto& condition = response.text("condition");
  if (condition.empty()) return true;
  return TRY(Expression::parse(condition)).holds(model::scope_of(variables));
}

Result<Item> variables_after(const Item& response, const Item& variables) {
  auto after = variables;
  for (const auto& [name, content] : map_of(response, "set")) {
    const auto* text = computed(content);
    if (text == nullptr) {
      after.set(name, content);
      continue;
    }
    const auto result = TRY(TRY(Expression::parse(text->substr(1))).evaluate(model::scope_of(variables)));
    if (result) {
      after.set(name, *result);
    } else {
      after.erase(name);
    }
  }
  return after;
}

}  // namespace stator::systems::stories
