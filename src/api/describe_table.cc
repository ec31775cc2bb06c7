#include <fmt/format.h>

#include "stator/api/table_description.h"
#include "stator/api/table_name.h"

namespace stator::api {
namespace {

Result<std::string> run_describe_table(OperationCall& call) {
  const auto name = TRY(table_name(call.request().string("TableName").value_or("")));
  const auto table = call.engine().catalog().find(name);
  if (table == nullptr) {
    return Error{ErrorCode::ResourceNotFound, fmt::format("Requested resource not found: Table: {} not found", name)};
  }
  call.about_table(table->name);
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("Table");
  TRY(write_table_description(json, call.environment(), *table, table->is_building() ? "UPDATING" : "ACTIVE"));
  json.end_object();
  return body;
}

}  // namespace

void describe_table(OperationCall call) { immediate<run_describe_table>(std::move(call)); }

}  // namespace stator::api
