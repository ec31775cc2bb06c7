#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "stator/api/reply.h"
#include "stator/client/client.h"
#include "stator/runtime/problem.h"
#include "stator/value/json.h"

// One operation of DynamoDB's API at a time: the request as text, the answer as a tree.
namespace stator::runtime {

Problem unreadable_answer(std::string_view operation);

// What an exception, or the reason why a transaction was cancelled, means for whoever asked.
//
// Throttling is Busy, what the database finds wrong with a request is Invalid, an item that is too large TooLarge, a
// transaction that met another one Conflict.  The rest is Unavailable, with the fault's name as its code.
Problem to_problem(std::string_view name, std::string_view message);
Problem to_problem(const api::Fault& fault);

// An answer, and the parser that holds it.
class Answer {
 public:
  static Result<Answer, Problem> read(std::string_view operation, std::string_view body);
  const value::JsonObject& root() const { return root_; }

 private:
  std::unique_ptr<value::JsonParser> parser_ = std::make_unique<value::JsonParser>();
  value::JsonObject root_;
};

Result<Answer, Problem> ask_json(client::Client& client, std::string_view operation, std::string_view json);

// Members by name; nothing when one is absent or of another type.
std::optional<std::string_view> text_at(const value::JsonObject& object, std::string_view name);
std::optional<value::JsonObject> object_at(const value::JsonObject& object, std::string_view name);
std::vector<value::JsonElement> array_at(const value::JsonObject& object, std::string_view name);

// An item in an answer to `operation`; item_at: the one that `object` holds under `name`, when there is one.
Result<value::Item, Problem> item_from(value::JsonElement json, std::string_view operation);
Result<std::optional<value::Item>, Problem> item_at(const value::JsonObject& object, std::string_view name,
                                                    std::string_view operation);

}  // namespace stator::runtime
