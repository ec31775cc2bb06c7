#include "stator/api/operation.h"

namespace stator::api {
namespace {

constexpr std::int64_t kMaxNames = 100;

Result<std::string> run_list_tables(OperationCall& call) {
  const auto& request = call.request();
  const auto limit = static_cast<std::size_t>(request.integer("Limit").value_or(kMaxNames));
  // One more than asked for tells whether there is more.
  auto names = call.engine().catalog().names_after(request.string("ExclusiveStartTableName").value_or(""), limit + 1);
  const bool more = names.size() > limit;
  if (more) names.pop_back();
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("TableNames").begin_array();
  for (const auto& name : names) json.string(name);
  json.end_array();
  if (more) json.key("LastEvaluatedTableName").string(names.back());
  json.end_object();
  return body;
}

}  // namespace

void list_tables(OperationCall call) { immediate<run_list_tables>(std::move(call)); }

}  // namespace stator::api
