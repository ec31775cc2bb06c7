#pragma once

#include <string_view>
#include <utility>

#include "stator/api/any_request.h"
#include "stator/api/reply.h"

namespace stator::api {
class Operations;
}

namespace stator::client {

// Faults that no endpoint sends, beside the faults of endpoints.
inline constexpr std::string_view kNetworkFailure = "stator.client#NetworkFailure";      // there is no answer
inline constexpr std::string_view kUnexpectedAnswer = "stator.client#UnexpectedAnswer";  // it is not DynamoDB's JSON

// Whether an endpoint refuses with this name, of an exception or of a cancellation reason, because too much is asked of
// it: the request was not carried out, and may be later.
bool is_throttling(std::string_view name);

// A client of the DynamoDB API. The engine can be in this process or at a remote endpoint; callers see no difference.
// Thread-safe.
class Client {
 public:
  virtual ~Client() = default;

  // Runs one operation.  The reply may come before the call returns, or later from another thread.  The default
  // implementation encodes the request and uses call().
  virtual void run(api::AnyRequest request, api::AnyReplyCallback reply);

  // The same with JSON, which is read before the call returns.
  virtual void call(std::string_view operation, std::string_view json, api::ReplyCallback reply) = 0;
};

// The engine in this process.
class InProcessClient final : public Client {
 public:
  // Both outlive the client; without a budget there is no limit to the memory of its calls.
  explicit InProcessClient(api::Operations& operations, MemoryBudget* memory = nullptr)
      : operations_(operations), memory_(memory) {}
  void run(api::AnyRequest request, api::AnyReplyCallback reply) override;
  void call(std::string_view operation, std::string_view json, api::ReplyCallback reply) override;

 private:
  api::Operations& operations_;
  MemoryBudget* const memory_;
};

}  // namespace stator::client
