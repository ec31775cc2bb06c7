#include "stator/client/client.h"

#include <algorithm>
#include <array>

#include "stator/client/operation_json.h"

namespace stator::client {

bool is_throttling(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kNames = {"ProvisionedThroughputExceeded",
                                                             "ProvisionedThroughputExceededException",
                                                             "RequestLimitExceeded",
                                                             "RequestThrottled",
                                                             "RequestThrottledException",
                                                             "Throttling",
                                                             "ThrottledException",
                                                             "ThrottlingError",
                                                             "ThrottlingException"};
  return std::ranges::find(kNames, name) != kNames.end();
}

void Client::run(api::AnyRequest request, api::AnyReplyCallback reply) {
  const auto name = api::operation_name(request);
  const auto json = encode_request(request);
  call(name, json, [request = std::move(request), reply = std::move(reply)](api::Reply answer) mutable {
    if (!answer.ok()) return reply(std::move(answer.outcome).error());
    reply(decode_answer(request, *answer.outcome));
  });
}

}  // namespace stator::client
