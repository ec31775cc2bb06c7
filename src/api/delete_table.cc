#include "stator/api/table_description.h"
#include "stator/api/table_name.h"

namespace stator::api {

void delete_table(OperationCall call) {
  const auto name = table_name(call.request().string("TableName").value_or(""));
  if (!name) return call.fail(name.error());
  auto& engine = call.engine();
  engine.delete_table(std::string(*name), [call = std::move(call)](Result<engine::TablePtr> deleted) mutable {
    if (!deleted) return call.fail(deleted.error());
    call.about_table((*deleted)->name);
    call.succeed(deleted_table_body(call.environment(), **deleted));
  });
}

}  // namespace stator::api
