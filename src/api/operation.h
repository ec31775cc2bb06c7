#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/api/answer_item.h"
#include "stator/api/json/json_members.h"
#include "stator/api/no_memory.h"
#include "stator/api/operations.h"
#include "stator/api/reply.h"
#include "stator/engine/engine.h"
#include "stator/expr/cache.h"

// The parts that all operations are made of.  Internal to the layer.
namespace stator::api {

struct Environment {
  engine::Engine& engine;
  expr::Cache& expressions;
  std::string region;  // in ARNs
  std::string account_id;
};

inline Error out_of_memory() { return {ErrorCode::Busy, std::string(kNoMemory)}; }

// The context of one call, from the start to the answer.  Confined to one request; it moves to the thread that answers.
class CallContext {
 public:
  // `typed`: the caller is in this process and takes values.
  explicit CallContext(Environment& environment, const CallOptions& options = {}, bool typed = false)
      : environment_(&environment), options_(options), memory_(options.memory, MemoryPart::Answers), typed_(typed) {}

  engine::Engine& engine() const { return environment_->engine; }
  expr::Cache& expressions() const { return environment_->expressions; }
  const Environment& environment() const { return *environment_; }
  // The address by which the client reached the service, if there is one; valid until the operation's function returns.
  std::string_view endpoint() const { return options_.endpoint; }

  // The list to which a read adds its items: JSON or values, as the caller takes them.
  AnswerItems no_items() const { return typed_ ? AnswerItems(std::vector<value::Item>()) : AnswerItems(); }

  // For the memory that a write holds while it waits.
  MemoryClaim write_memory() const { return {options_.memory, MemoryPart::Values}; }

  // For reads that can get large: the answer has grown to `bytes`, and `read` bytes were looked at for it.  The call
  // ends with an error.  Errors: Busy: there is no memory; the client has gone; or the answer exceeds quick_bytes.
  Result<void> answer_grows(std::size_t bytes, std::size_t read = 0) {
    if (std::max(bytes, read) > options_.quick_bytes) {
      takes_long_ = true;
      return Error{ErrorCode::Busy, "The answer takes long"};
    }
    if (options_.abandoned != nullptr && (*options_.abandoned)()) return Error{ErrorCode::Busy, "The client has gone"};
    return hold_answer(2 * bytes);  // a string that grows holds its old bytes for a moment
  }
  // Memory for an answer of that size.  Errors: Busy.
  Result<void> hold_answer(std::size_t bytes) {
    if (!memory_.resize(bytes)) return out_of_memory();
    return {};
  }

  // See CallOptions::reader.
  storage::LoopReader* reader() const { return options_.reader; }
  // `ahead`: values that were read for this call. From now on, the call reads nothing else.  Outlives the call.
  void use(const storage::ReadAhead& ahead) { ahead_ = &ahead; }
  Result<engine::ItemImage> get(const engine::Table& table, const value::Item& key) {
    if (ahead_ == nullptr) return engine().get(table, key);
    return engine().image_of(table, TRY(ahead_->get(engine::item_key(table, key))));
  }
  std::unique_ptr<storage::Snapshot> snapshot() const {
    return ahead_ == nullptr ? engine().snapshot() : ahead_->snapshot();
  }
  // Nothing was done, and it is to be done where it may take long.
  void put_off() { takes_long_ = true; }

  void about_table(std::string_view name) { table_ = name; }

  bool measures() const { return options_.measure; }
  void has_consumed(double units) { units_ = units; }

  // The end of the call as JSON.
  Reply succeeded(std::string body) {
    if (memory_.bytes() > 0) memory_.resize(std::min(memory_.bytes(), body.size()));
    return {.outcome = std::move(body),
            .table = std::move(table_),
            .memory = std::move(memory_),
            .takes_long = false,
            .capacity = units_};
  }
  Reply failed(Fault fault) {
    return {.outcome = std::move(fault),
            .table = std::move(table_),
            .memory = std::move(memory_),
            .takes_long = takes_long_};
  }

 private:
  Environment* environment_;
  std::string table_;
  CallOptions options_;
  MemoryClaim memory_;  // of the answer, where it was claimed
  bool typed_;
  bool takes_long_ = false;
  const storage::ReadAhead* ahead_ = nullptr;
  std::optional<double> units_;
};

// Takes the answer of an operation, once, on any thread.
template <typename Answer>
using Done = UniqueFunction<void(CallContext&, Result<Answer, Fault>)>;

// One request of the DynamoDB endpoint on its way through an operation: its JSON, and the way to answer.  Answered
// exactly once.
class OperationCall : public CallContext {
 public:
  OperationCall(Environment& environment, JsonMembers request, ReplyCallback reply, const CallOptions& options = {})
      : CallContext(environment, options), request_(request), reply_(std::move(reply)) {}

  // Valid until the operation's function returns: a callback that runs later must have copied the parts that it needs.
  const JsonMembers& request() const { return request_; }

  void succeed(std::string body) { reply_(succeeded(std::move(body))); }
  void fail(const Error& error) { fail(to_fault(error)); }
  void fail(Fault fault) { reply_(failed(std::move(fault))); }
  void end_put_off() {
    put_off();
    fail(Error{ErrorCode::Busy, "It takes long"});
  }

  // The way to answer of an operation that answers with a type; `encode` makes JSON of it.
  template <typename Answer, typename Encode>
  Done<Answer> answer_as_json(Encode encode) {
    return [reply = std::move(reply_), encode](CallContext& context, Result<Answer, Fault> answer) mutable {
      if (!answer) return reply(context.failed(std::move(answer).error()));
      reply(context.succeeded(encode(context, std::move(*answer))));
    };
  }

 private:
  JsonMembers request_;
  ReplyCallback reply_;
};

using OperationFunction = void (*)(OperationCall call);

// The operation by its name, or nullptr.
OperationFunction function_of(std::string_view name);

}  // namespace stator::api
