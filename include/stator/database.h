#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "stator/api/any_request.h"
#include "stator/api/fault.h"
#include "stator/base/result.h"
#include "stator/base/unique_function.h"
#include "stator/expr/bind.h"
#include "stator/expr/build.h"
#include "stator/value/attribute_value.h"

namespace stator {

struct DatabaseOptions {
  std::string data_folder = "./stator-data";
  bool in_memory = false;            // keep nothing; data_folder is not used
  bool relaxed_durability = false;   // answer a write before it is on disk; the disk follows within milliseconds
  std::string region = "us-east-1";  // in ARNs
};

class OpenError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A DynamoDB inside your process: the same operations, limits and errors as over the wire, without the wire.
//
//   stator::Database database({.in_memory = true});
//   const auto tables = database.ask(stator::api::ListTablesRequest{});
//   if (tables) print(tables->names);
//
// An operation is a type of stator::api, GetItemRequest for example, and has an answer of its own, GetItemAnswer.
// Expressions are made in C++ (stator/expr/build.h) or bound from text (stator/expr/bind.h).  docs/embedding.md has
// more.  Thread-safe.
class Database {
 public:
  explicit Database(const DatabaseOptions& options = {});  // throws OpenError
  ~Database();                                             // waits for answers that are still to come

  template <typename Request>
  using AnswerTo = Result<typename Request::Answer, api::Fault>;

  // Runs one operation and waits for its answer.  Not from a reply: the thread that it runs on may be the one that
  // would bring the answer.
  template <typename Request>
  AnswerTo<Request> ask(Request request) {
    return answer_to<Request>(run_and_wait(std::move(request)));
  }

  // The same without waiting: `reply` is called once with the answer, before ask() returns or later on a thread of the
  // database.  Writes of others wait meanwhile, so it must not block.  It may ask again, with another reply.
  template <typename Request>
  void ask(Request request, UniqueFunction<void(AnswerTo<Request>)> reply) {
    run(std::move(request), [reply = std::move(reply)](Result<api::AnyAnswer, api::Fault> answer) mutable {
      reply(answer_to<Request>(std::move(answer)));
    });
  }

  struct Answer {
    bool ok = false;
    std::string body;        // the operation's answer, or {"__type":...,"message":...}
    std::string error_name;  // "ResourceNotFoundException"; empty when ok
  };
  // Runs one operation, such as "PutItem", with its JSON body, and waits for its answer.
  Answer call(std::string_view operation, std::string_view json);

 private:
  template <typename Request>
  static AnswerTo<Request> answer_to(Result<api::AnyAnswer, api::Fault> answer) {
    if (!answer) return std::move(answer).error();
    return std::get<typename Request::Answer>(*std::move(answer));
  }
  Result<api::AnyAnswer, api::Fault> run_and_wait(api::AnyRequest request);
  void run(api::AnyRequest request, api::AnyReplyCallback reply);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stator
