#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/base/result.h"
#include "stator/model/problem_list.h"
#include "stator/model/validate.h"

namespace stator::runtime {

// Why a request of an application failed.  The names are those of HTTP, because every reader knows them.
enum class ProblemKind : std::uint8_t {
  Invalid,             // 400
  Unauthenticated,     // 401
  Forbidden,           // 403: the caller may see it, and may not do this
  NotFound,            // 404: it is not there, or not for this caller
  Conflict,            // 409: duplicate, wrong state, a race lost after retries
  PreconditionFailed,  // 412: If-Match
  TooLarge,            // 413
  Busy,                // 429: throttled
  Unavailable,         // 503: the database cannot be reached
  Internal,            // 500
};

struct Problem {
  ProblemKind kind = ProblemKind::Internal;
  std::string code;     // "Duplicate", "AlreadyLent": for programs
  std::string message;  // for people
  std::vector<model::ValueProblem> details;
};

// The problems that more than one part of the runtime reports.

inline Problem invalid(std::string message, std::vector<model::ValueProblem> details = {}) {
  return {ProblemKind::Invalid, "Invalid", std::move(message), std::move(details)};
}
inline Problem invalid(std::vector<model::ValueProblem> details) {
  auto message = details.size() == 1 ? details.front().attribute + ' ' + details.front().problem
                                     : std::to_string(model::problem_count(details)) + " values are wrong";
  return invalid(std::move(message), std::move(details));
}
inline Problem unauthenticated() { return {ProblemKind::Unauthenticated, "Unauthenticated", "sign in first", {}}; }
inline Problem forbidden() { return {ProblemKind::Forbidden, "Forbidden", "you may not do this", {}}; }
inline Problem not_found(const std::string& entity) {
  return {ProblemKind::NotFound, "NotFound", "there is no such " + entity, {}};
}
inline Problem conflict(std::string code, std::string message, std::vector<model::ValueProblem> details = {}) {
  return {ProblemKind::Conflict, std::move(code), std::move(message), std::move(details)};
}

inline Problem version_mismatch(std::string message = "it is in another version than expected") {
  return {ProblemKind::PreconditionFailed, "VersionMismatch", std::move(message), {}};
}

// An entity cannot be created until the children of a deleted entity with the same name are removed.
inline constexpr std::string_view kStillGoing = "StillGoing";
inline Problem still_going(const std::string& entity) {
  return conflict(std::string(kStillGoing),
                  "the children of the former " + entity + " are still being removed; try again");
}

inline constexpr std::string_view kFull = "Full";  // of numbers that go on from the last one
inline constexpr std::string_view kContention = "Contention";
inline Problem contention() { return conflict(std::string(kContention), "others keep changing the same rows"); }

// The process stops, and the wait ends.  `doing`: "waiting for ...".
inline Problem stopped(const std::string& doing) {
  return {ProblemKind::Unavailable, "Stopping", "stopped while " + doing, {}};
}

// The result of a pure function of the model, with its error as a problem of the values that a caller gave.
template <typename T>
Result<T, Problem> checked(Result<T> result) {
  if (!result) return invalid(std::move(result).error().message);
  return std::move(*result);
}
inline Result<void, Problem> checked(const Result<void>& result) {
  if (!result) return invalid(result.error().message);
  return {};
}

}  // namespace stator::runtime
