#include "stator/client/call.h"

#include <future>
#include <utility>

namespace stator::client {

api::Reply call_and_wait(Client& client, std::string_view operation, std::string_view json) {
  std::promise<api::Reply> promise;
  auto reply = promise.get_future();
  // The promise is the callback's: this function may return, and a local one be gone, before set_value() has.
  client.call(operation, json,
              [promise = std::move(promise)](api::Reply answer) mutable { promise.set_value(std::move(answer)); });
  return reply.get();
}

}  // namespace stator::client
