#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stator/base/assert.h"
#include "stator/model/validate.h"

namespace stator::runtime {

// Why a request of an application was not carried out.  The names are those of HTTP because that is what everyone knows.
enum class ProblemKind : std::uint8_t {
  Invalid,             // 400
  Unauthenticated,     // 401
  Forbidden,           // 403: one may see it, and lacks the right
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
  std::vector<model::Problem> details;
};

// A T, or the Problem that stands in its place.
template <typename T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Outcome(Problem problem) : state_(std::in_place_index<1>, std::move(problem)) {}

  explicit operator bool() const { return ok(); }
  bool ok() const { return state_.index() == 0; }
  T& value() & { return checked(), std::get<0>(state_); }
  const T& value() const& { return checked(), std::get<0>(state_); }
  T&& value() && { return checked(), std::get<0>(std::move(state_)); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  const Problem& problem() const& { return std::get<1>(state_); }
  Problem&& problem() && { return std::get<1>(std::move(state_)); }

 private:
  void checked() const { STATOR_ASSERT(ok(), "value() of an Outcome that holds a problem"); }

  std::variant<T, Problem> state_;
};

struct Done {};

}  // namespace stator::runtime

// The value of an Outcome, or return its problem to the caller.
#define STATOR_ATTEMPT(name, ...)                                   \
  __extension__({                                                   \
    auto&& name = (__VA_ARGS__);                                    \
    if (!name) [[unlikely]]                                         \
      return ::stator::runtime::Problem(std::move(name).problem()); \
    std::move(name).value();                                        \
  })
#define STATOR_ATTEMPT_CONCAT_INNER(a, b) a##b
#define STATOR_ATTEMPT_CONCAT(a, b) STATOR_ATTEMPT_CONCAT_INNER(a, b)
#define ATTEMPT(...) STATOR_ATTEMPT(STATOR_ATTEMPT_CONCAT(attempt_, __COUNTER__), __VA_ARGS__)
