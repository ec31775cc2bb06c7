#include "stator/api/json/expressions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace stator::api {

Result<expr::Binder> read_placeholders(const JsonMembers& request, expr::Cache& cache) {
  std::optional<expr::Names> names;
  if (const auto object = request.object("ExpressionAttributeNames")) {
    names.emplace();
    for (const auto [placeholder, json] : object->json()) {
      std::string_view name;
      if (!json.get(name)) continue;
      if (name.empty()) {
        return validation_error(fmt::format(
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key {}", placeholder));
      }
      names->insert_or_assign(std::string(placeholder), std::string(name));
    }
  }
  std::optional<expr::Values> values;
  std::optional<Error> bad_value;
  if (const auto object = request.object("ExpressionAttributeValues")) {
    values.emplace();
    for (const auto [placeholder, json] : object->json()) {
      auto value = value::decode_value(json);
      if (!value && !bad_value) bad_value = bad_expression_value(value.error(), placeholder);
      values->insert_or_assign(std::string(placeholder), value ? std::move(*value) : value::AttributeValue());
    }
  }
  expr::Binder binder(std::move(names), std::move(values), cache);
  TRY(binder.check_placeholders());
  if (bad_value) return *bad_value;
  return binder;
}

Error bad_expression_value(const Error& error, std::string_view placeholder) {
  return {error.code,
          fmt::format("ExpressionAttributeValues contains invalid value: {} for key {}", error.message, placeholder)};
}

Result<void> check_expression_parameters(const JsonMembers& request, const ExpressionParameters& parameters) {
  const auto present = [&](std::initializer_list<std::string_view> names) {
    std::vector<std::string_view> found;
    std::copy_if(names.begin(), names.end(), std::back_inserter(found), [&](auto name) { return request.has(name); });
    return found;
  };
  const auto expressions = present(parameters.expressions);
  auto legacy = present(parameters.legacy);
  // KeyConditions go with the other expressions, as long as it is not KeyConditionExpression.
  if (!request.has("KeyConditionExpression")) std::erase(legacy, "KeyConditions");
  if (!expressions.empty() && !legacy.empty()) {
    return validation_error(
        fmt::format("Can not use both expression and non-expression parameters in the same request: Non-expression "
                    "parameters: {{{}}} Expression parameters: {{{}}}",
                    fmt::join(legacy, ", "), fmt::join(expressions, ", ")));
  }
  if (request.has("ExpressionAttributeNames") && expressions.empty()) {
    return validation_error("ExpressionAttributeNames can only be specified when using expressions");
  }
  // A projection has no values.
  std::vector<std::string_view> with_values;
  std::copy_if(parameters.expressions.begin(), parameters.expressions.end(), std::back_inserter(with_values),
               [](auto name) { return name != "ProjectionExpression"; });
  const bool none = std::none_of(with_values.begin(), with_values.end(), [&](auto name) { return request.has(name); });
  if (request.has("ExpressionAttributeValues") && none && !with_values.empty()) {
    return validation_error(
        fmt::format("ExpressionAttributeValues can only be specified when using expressions: {} {} null",
                    fmt::join(with_values, " and "), with_values.size() > 1 ? "are" : "is"));
  }
  return {};
}

}  // namespace stator::api
