#include "stator/api/functions.h"
#include "stator/api/tables/table_description.h"
#include "stator/api/tables/table_name.h"

namespace stator::api {

Result<DescribeTableAnswer> run(CallContext& call, const DescribeTableRequest& request) {
  const auto table = TRY(find_described_table(call, request.table));
  return DescribeTableAnswer{
      TRY(describe_table(call.environment(), *table, table->is_building() ? "UPDATING" : "ACTIVE"))};
}

}  // namespace stator::api
