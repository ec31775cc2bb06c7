#include "stator/api/functions.h"
#include "stator/api/tables/table_description.h"
#include "stator/api/tables/table_name.h"

namespace stator::api {

void run(CallContext call, DeleteTableRequest request, Done<ChangedTableAnswer> done) {
  const auto name = table_name(request.table);
  if (!name) return done(call, to_fault(name.error()));
  auto& engine = call.engine();
  engine.delete_table(std::string(*name),
                      [call = std::move(call), done = std::move(done)](Result<engine::TablePtr> deleted) mutable {
                        if (!deleted) return done(call, to_fault(deleted.error()));
                        call.about_table((*deleted)->name);
                        done(call, ChangedTableAnswer{describe_deleted_table(call.environment(), **deleted)});
                      });
}

}  // namespace stator::api
