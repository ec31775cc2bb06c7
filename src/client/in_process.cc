#include <string>

#include "stator/api/operations.h"
#include "stator/client/client.h"
#include "stator/value/json.h"

namespace stator::client {

void InProcessClient::run(api::AnyRequest request, api::AnyReplyCallback reply) {
  operations_.run(std::move(request), std::move(reply), {.endpoint = {}, .memory = memory_});
}

void InProcessClient::call(std::string_view operation, std::string_view json, api::ReplyCallback reply) {
  thread_local std::string padded;
  padded.reserve(json.size() + value::kJsonPadding);
  padded = json;
  operations_.call(operation, padded, std::move(reply), {.endpoint = {}, .memory = memory_});
  constexpr std::size_t kKeptBytes = 64 << 10;
  if (padded.capacity() > kKeptBytes) std::string().swap(padded);  // assigning an empty string would keep the capacity
}

}  // namespace stator::client
