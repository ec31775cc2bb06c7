#include "stator/runtime/dynamo/fault_problem.h"

#include <fmt/format.h>

#include "stator/client/client.h"

namespace stator::runtime {

Problem unreadable_answer(std::string_view operation) {
  return {.kind = ProblemKind::Unavailable,
          .code = "UnexpectedAnswer",
          .message = fmt::format("the database's answer to {} could not be read", operation),
          .details = {}};
}

Problem to_problem(std::string_view name, std::string_view message) {
  const auto problem = [&](ProblemKind kind, std::string_view code) {
    return Problem{.kind = kind, .code = std::string(code), .message = std::string(message), .details = {}};
  };
  // Too many tables are being changed, or a shard is read too often: that passes, though not at once.
  const bool over_limit = name == "LimitExceededException";
  if (over_limit || client::is_throttling(name)) return problem(ProblemKind::Busy, "Busy");
  if (name == "ValidationException" || name == "ValidationError") {
    const bool too_large = message.find("size has exceeded") != std::string_view::npos ||
                           message.find("size to update has exceeded") != std::string_view::npos;
    return too_large ? problem(ProblemKind::TooLarge, "TooLarge") : problem(ProblemKind::Invalid, "Rejected");
  }
  if (name == "TransactionConflictException") return problem(ProblemKind::Conflict, "Contention");
  // A table that is gone, credentials that are refused, an endpoint that is down: the caller cannot change that.  Also
  // a transaction in progress, because it is unknown whether it will succeed.
  return problem(ProblemKind::Unavailable, name);
}

Problem to_problem(const api::Fault& fault) { return to_problem(fault.name(), fault.message); }

}  // namespace stator::runtime
