#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stator/api/any_request.h"
#include "stator/api/reply.h"

namespace stator::engine {
class Engine;
}

namespace stator::api {

struct OperationsOptions {
  std::string region = "us-east-1";
  std::string account_id = "000000000000";
};

// How one call is carried out.
struct CallOptions {
  std::string_view endpoint = {};  // the address that the client used, for DescribeEndpoints; empty when there is none
  MemoryBudget* memory = nullptr;  // for what the call decodes and answers; null: no limit.  Outlives the reply.
  std::size_t quick_bytes = SIZE_MAX;  // a read whose answer gets larger is not carried out, and the reply says so
  bool measure = false;  // the reply says what the call has consumed, also if its client did not ask for that
  const std::function<bool()>* abandoned = nullptr;  // asked now and then: whether nobody waits for the answer any more
};

// The DynamoDB API: a request in, an answer or a fault out, both as types or both as JSON.  Thread-safe.
class Operations {
 public:
  explicit Operations(engine::Engine& engine, OperationsOptions options = {});  // the engine outlives it
  ~Operations();

  // `body` is read before the call returns and must be followed by value::kJsonPadding readable bytes.
  // The reply may come before the call returns, or later from another thread.
  void call(std::string_view operation, std::string_view padded_body, ReplyCallback reply, CallOptions options = {});

  // The same for a request as a type: no JSON is written or read.
  void run(AnyRequest request, AnyReplyCallback reply, const CallOptions& options = {});

  // Whether there is an operation of that name.
  static bool knows(std::string_view operation);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stator::api
