#include <fmt/format.h>

#include "stator/api/table_name.h"

namespace stator::api {
namespace {

Result<std::string> run_describe_time_to_live(OperationCall& call) {
  const auto name = TRY(table_name(call.request().string("TableName").value_or("")));
  const auto table = call.engine().catalog().find(name);
  if (table == nullptr) {
    return Error{ErrorCode::ResourceNotFound, fmt::format("Requested resource not found: Table: {} not found", name)};
  }
  call.about_table(table->name);
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("TimeToLiveDescription").begin_object();
  json.key("TimeToLiveStatus").string(table->ttl_attribute ? "ENABLED" : "DISABLED");
  if (table->ttl_attribute) json.key("AttributeName").string(*table->ttl_attribute);
  json.end_object().end_object();
  return body;
}

}  // namespace

void describe_time_to_live(OperationCall call) { immediate<run_describe_time_to_live>(std::move(call)); }

}  // namespace stator::api
