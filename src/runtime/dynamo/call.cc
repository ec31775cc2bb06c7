#include "stator/runtime/dynamo/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stator/client/call.h"

namespace stator::runtime {

using value::JsonArray;
using value::JsonElement;
using value::JsonObject;

Problem unreadable_answer(std::string_view operation) {
  return {.kind = ProblemKind::Unavailable,
          .code = "UnexpectedAnswer",
          .message = fmt::format("the database's answer to {} could not be read", operation),
          .details = {}};
}

Problem to_problem(std::string_view name, std::string_view message) {
  constexpr std::array<std::string_view, 6> kThrottling = {"ProvisionedThroughputExceededException",
                                                           "ProvisionedThroughputExceeded",
                                                           "ThrottlingException",
                                                           "ThrottlingError",
                                                           "RequestLimitExceeded",
                                                           "LimitExceededException"};
  const auto problem = [&](ProblemKind kind, std::string_view code) {
    return Problem{.kind = kind, .code = std::string(code), .message = std::string(message), .details = {}};
  };
  if (std::find(kThrottling.begin(), kThrottling.end(), name) != kThrottling.end()) {
    return problem(ProblemKind::Busy, "Busy");
  }
  if (name == "ValidationException" || name == "ValidationError") {
    const bool too_large = message.find("size has exceeded") != std::string_view::npos ||
                           message.find("size to update has exceeded") != std::string_view::npos;
    return too_large ? problem(ProblemKind::TooLarge, "TooLarge") : problem(ProblemKind::Invalid, "Rejected");
  }
  if (name == "TransactionConflictException") return problem(ProblemKind::Conflict, "Contention");
  // A table that is gone, credentials that are not taken, an endpoint that is down: nothing that whoever asked can
  // change.  And a transaction that is still in progress, of which nobody knows whether it will be carried out.
  return problem(ProblemKind::Unavailable, name);
}

Problem to_problem(const api::Fault& fault) { return to_problem(fault.name(), fault.message); }

Result<Answer, Problem> Answer::read(std::string_view operation, std::string_view body) {
  Answer answer;
  auto root = answer.parser_->parse(body);
  JsonObject object;
  if (!root || !root->get(object)) return unreadable_answer(operation);
  answer.root_ = object;
  return answer;
}

Result<Answer, Problem> ask_json(client::Client& client, std::string_view operation, std::string_view json) {
  const auto reply = client::call_and_wait(client, operation, json);
  if (const auto* fault = std::get_if<api::Fault>(&reply.outcome)) return to_problem(*fault);
  return Answer::read(operation, std::get<std::string>(reply.outcome));
}

std::optional<std::string_view> text_at(const JsonObject& object, std::string_view name) {
  std::string_view text;
  if (!object[name].get(text)) return std::nullopt;
  return text;
}

std::optional<JsonObject> object_at(const JsonObject& object, std::string_view name) {
  JsonObject found;
  if (!object[name].get(found)) return std::nullopt;
  return found;
}

std::vector<JsonElement> array_at(const JsonObject& object, std::string_view name) {
  JsonArray found;
  if (!object[name].get(found)) return {};
  return {found.begin(), found.end()};
}

Result<value::Item, Problem> item_from(JsonElement json, std::string_view operation) {
  auto item = value::decode_stored_item(json);
  if (!item) return unreadable_answer(operation);
  return std::move(*item);
}

Result<std::optional<value::Item>, Problem> item_at(const JsonObject& object, std::string_view name,
                                                    std::string_view operation) {
  JsonElement json;
  if (!object[name].get(json)) return std::optional<value::Item>();
  return std::optional(TRY(item_from(json, operation)));
}

}  // namespace stator::runtime
