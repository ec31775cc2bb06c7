#include "stator/api/tables/table_name.h"

#include <fmt/format.h>

#include "stator/api/json/shape_constraints.h"

namespace stator::api {
Result<std::string_view> table_name(std::string_view name_or_arn) {
  std::string_view name = name_or_arn;
  if (is_arn(name)) {
    const auto at = name.find(":table/");
    if (at == std::string_view::npos) {
      return validation_error(fmt::format("Invalid table ARN: {}", name_or_arn));
    }
    name.remove_prefix(at + 7);
  }
  if (!is_table_name(name)) {
    return validation_error(
        "Invalid table/index name.  Table/index names must be between 3 and 255 characters long, and may contain only "
        "the "
        "characters a-z, A-Z, 0-9, '_', '-', and '.'");
  }
  return name;
}

Result<engine::TablePtr> find_table(CallContext& call, std::string_view name_or_arn) {
  auto table = TRY(call.engine().find_table(TRY(table_name(name_or_arn))));
  call.about_table(table->name);
  return table;
}

Result<std::string_view> table_of_resource_arn(std::string_view arn) {
  const auto invalid = [&](std::string_view what) {
    return validation_error(fmt::format("One or more parameter values were invalid: {}: {}", what, arn));
  };
  if (!is_arn(arn)) return invalid("ARNs must start with 'arn:'");
  // arn:partition:service:region:account:resource
  std::string_view part[5];
  std::string_view resource = arn;
  for (auto& p : part) {
    const auto colon = resource.find(':');
    if (colon == std::string_view::npos) return invalid("Provided Arn is not a DynamoDB resource arn");
    p = resource.substr(0, colon);
    resource.remove_prefix(colon + 1);
  }
  if (part[2] != "dynamodb" || !resource.starts_with("table/")) {
    return invalid("Provided Arn is not a DynamoDB resource arn");
  }
  resource.remove_prefix(6);
  const auto slash = resource.find('/');
  const auto name = resource.substr(0, slash);
  if (!is_table_name(name)) return invalid("Provided Arn is not a DynamoDB resource arn");
  if (slash == std::string_view::npos) return name;
  const auto part_of_table = resource.substr(slash);
  if (part_of_table.starts_with("/index/")) {
    return invalid("Invalid resource arn provided, only table or stream is accepted. Provided resource arn");
  }
  if (part_of_table.starts_with("/stream/")) {
    return validation_error(fmt::format("Invalid TableArn: Invalid ResourceArn provided as input {}", arn));
  }
  return invalid("Provided Arn is not a DynamoDB resource arn");
}

std::string table_arn(const Environment& environment, std::string_view name) {
  return fmt::format("arn:aws:dynamodb:{}:{}:table/{}", environment.region, environment.account_id, name);
}

}  // namespace stator::api
