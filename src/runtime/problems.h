#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "stator/base/result.h"
#include "stator/model/problem_list.h"
#include "stator/runtime/outcome.h"

// The problems that more than one part of the runtime tells.
namespace stator::runtime {

inline Problem invalid(std::string message, std::vector<model::Problem> details = {}) {
  return {ProblemKind::Invalid, "Invalid", std::move(message), std::move(details)};
}
inline Problem invalid(std::vector<model::Problem> details) {
  auto message = details.size() == 1 ? details.front().attribute + ' ' + details.front().problem
                                     : std::to_string(model::problem_count(details)) + " values are wrong";
  return invalid(std::move(message), std::move(details));
}
inline Problem unauthenticated() { return {ProblemKind::Unauthenticated, "Unauthenticated", "sign in first", {}}; }
inline Problem forbidden() { return {ProblemKind::Forbidden, "Forbidden", "you may not do this", {}}; }
inline Problem not_found(const std::string& entity) {
  return {ProblemKind::NotFound, "NotFound", "there is no such " + entity, {}};
}
inline Problem conflict(std::string code, std::string message, std::vector<model::Problem> details = {}) {
  return {ProblemKind::Conflict, std::move(code), std::move(message), std::move(details)};
}

inline Problem version_mismatch(std::string message = "it is in another version than expected") {
  return {ProblemKind::PreconditionFailed, "VersionMismatch", std::move(message), {}};
}

inline constexpr std::string_view kFull = "Full";  // of numbers that go on from the last one
inline constexpr std::string_view kContention = "Contention";
inline Problem contention() { return conflict(std::string(kContention), "others keep changing the same rows"); }

// What a pure function of the model found wrong with somebody's values.
template <typename T>
Outcome<T> checked(Result<T> result) {
  if (!result) return invalid(std::move(result).error().message);
  return std::move(*result);
}
inline Outcome<Done> checked(const Result<void>& result) {
  if (!result) return invalid(result.error().message);
  return Done{};
}

}  // namespace stator::runtime
