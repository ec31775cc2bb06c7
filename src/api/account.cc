// What does not belong to any table: DescribeEndpoints and DescribeLimits.
#include <fmt/format.h>

#include "stator/api/operation.h"

namespace stator::api {

void describe_endpoints(OperationCall call) {
  std::string address(call.endpoint());
  if (address.empty()) address = fmt::format("dynamodb.{}.amazonaws.com", call.environment().region);
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("Endpoints").begin_array().begin_object();
  json.key("Address").string(address).key("CachePeriodInMinutes").integer(1440);
  json.end_object().end_array().end_object();
  call.succeed(std::move(body));
}

// The service's quotas for an account that has not asked for more.  Nothing here is throttled.
void describe_limits(OperationCall call) {
  call.succeed(R"({"AccountMaxReadCapacityUnits":80000,"AccountMaxWriteCapacityUnits":80000,)"
               R"("TableMaxReadCapacityUnits":40000,"TableMaxWriteCapacityUnits":40000})");
}

}  // namespace stator::api
