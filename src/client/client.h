#pragma once

#include <string_view>
#include <vector>

#include "stator/api/reply.h"
#include "stator/api/write.h"

namespace stator::api {
class Operations;
}

namespace stator::client {

// The DynamoDB API, wherever it is.  Who holds one cannot tell an engine in the same process from an endpoint at the other
// end of a wire.  Thread-safe.
class Client {
 public:
  virtual ~Client() = default;

  // Runs one operation.  `json` is read before the call returns; the reply may come before it does, or later from another
  // thread.
  virtual void call(std::string_view operation, std::string_view json, api::ReplyCallback reply) = 0;

  // The same for writes whose values are at hand: one as PutItem, UpdateItem or DeleteItem (not a check), several as
  // TransactWriteItems.  As JSON through call(), where nobody knows a shorter way.
  virtual void write(api::Write write, api::ReplyCallback reply);
  virtual void transact(std::vector<api::Write> writes, api::ReplyCallback reply);
};

// The engine in this process.
class InProcessClient final : public Client {
 public:
  // Both outlive the client; without a budget there is no limit to what its calls decode and answer.
  explicit InProcessClient(api::Operations& service, MemoryBudget* memory = nullptr)
      : service_(service), memory_(memory) {}
  void call(std::string_view operation, std::string_view json, api::ReplyCallback reply) override;
  void write(api::Write write, api::ReplyCallback reply) override;
  void transact(std::vector<api::Write> writes, api::ReplyCallback reply) override;

 private:
  api::Operations& service_;
  MemoryBudget* const memory_;
};

}  // namespace stator::client
