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
namespace stator::storage {
class LoopReader;
}

namespace stator::api {

struct OperationsOptions {
  std::string region = "us-east-1";
  std::string account_id = "000000000000";
};

// How one call is carried out.
struct CallOptions {
  std::string_view endpoint = {};  // the address that the client used, for DescribeEndpoints; empty when there is none
  MemoryBudget* memory = nullptr;  // for decoding and the answer; null: no limit.  Outlives the reply.
  std::size_t quick_bytes = SIZE_MAX;  // a read with a larger answer is not carried out, and the reply says so
  bool measure = false;  // the reply says how much the call consumed, also if its client did not ask for that
  // The calling thread runs an event loop, which must not wait for a database server: reads use this reader. A call
  // that could wait otherwise is not carried out, and the reply says so.  Outlives the reply.
  storage::LoopReader* reader = nullptr;
  const std::function<bool()>* abandoned = nullptr;  // asked now and then: true if the client has gone
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

  // An answer of run() as the JSON that call() would give.
  static std::string encode(AnyAnswer answer);

  // Whether there is an operation of that name.
  static bool knows(std::string_view operation);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stator::api
