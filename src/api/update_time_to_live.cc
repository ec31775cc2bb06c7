#include <fmt/format.h>

#include "stator/api/table_name.h"

namespace stator::api {
namespace {

Result<engine::Table> apply(engine::Table table, bool enabled, const std::string& attribute) {
  if (!enabled && !table.ttl_attribute) return validation_error("TimeToLive is already disabled");
  if (table.ttl_attribute && *table.ttl_attribute != attribute) {
    return validation_error(fmt::format(
        "TimeToLive is active on a different AttributeName: current AttributeName is {}", *table.ttl_attribute));
  }
  if (enabled && table.ttl_attribute) return validation_error("TimeToLive is already enabled");
  table.ttl_attribute = enabled ? std::optional(attribute) : std::nullopt;
  return table;
}

std::string response(bool enabled, std::string_view attribute) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("TimeToLiveSpecification").begin_object();
  json.key("Enabled").boolean(enabled).key("AttributeName").string(attribute);
  json.end_object().end_object();
  return body;
}

}  // namespace

void update_time_to_live(OperationCall call) {
  const auto name = table_name(call.request().string("TableName").value_or(""));
  if (!name) return call.fail(name.error());
  const auto specification = call.request().object("TimeToLiveSpecification");
  const bool enabled = specification && specification->boolean("Enabled").value_or(false);
  std::string attribute(specification ? specification->string("AttributeName").value_or("") : "");
  auto& engine = call.engine();
  engine.update_table(
      std::string(*name), [=](engine::Table table) { return apply(std::move(table), enabled, attribute); },
      [=, call = std::move(call)](Result<engine::TablePtr> updated) mutable {
        if (!updated) return call.fail(updated.error());
        call.about_table((*updated)->name);
        call.succeed(response(enabled, attribute));
      });
}

}  // namespace stator::api
