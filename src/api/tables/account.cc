// Operations that belong to no table: DescribeEndpoints and DescribeLimits.
#include <fmt/format.h>

#include "stator/api/functions.h"

namespace stator::api {

Result<DescribeEndpointsAnswer> run(CallContext& call, const DescribeEndpointsRequest& /*request*/) {
  constexpr std::int64_t kDay = 24 * 60;
  std::string address(call.endpoint());
  if (address.empty()) address = fmt::format("dynamodb.{}.amazonaws.com", call.environment().region);
  return DescribeEndpointsAnswer{{{.address = std::move(address), .cache_minutes = kDay}}};
}

// The service's quotas for an account that has not asked for more.  Nothing here is throttled.
Result<DescribeLimitsAnswer> run(CallContext& /*call*/, const DescribeLimitsRequest& /*request*/) {
  return DescribeLimitsAnswer{
      .account_read_units = 80000, .account_write_units = 80000, .table_read_units = 40000, .table_write_units = 40000};
}

}  // namespace stator::api
