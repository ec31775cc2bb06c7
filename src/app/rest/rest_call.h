#pragma once

#include <cstddef>
#include <string_view>

#include "stator/app/auth/jwt.h"
#include "stator/app/rest/request/target.h"
#include "stator/base/memory_budget.h"
#include "stator/base/result.h"
#include "stator/http/message/message.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/repository.h"

namespace stator::app {

// Codes that both the service and the routes behind it answer with.
inline constexpr std::string_view kBodyTooLarge = "BodyTooLarge";
inline constexpr std::string_view kOverloaded = "Overloaded";

// The answer of a route.  problem_answer() makes an answer of a problem.
using RestAnswer = Result<http::Response, runtime::Problem>;

// One request to a system, as its routes see it.
struct RestCall {
  const http::Request& request;
  std::string_view path;         // below the system's prefix
  const QueryParameters& query;  // decoded
  // Decompressed.  A route that takes files gets the body as it was sent, and reads it with FileBody.
  std::string_view body;
  const TokenUser* user;                  // null: nobody signed in
  std::size_t max_file_bytes = 16 << 20;  // of a file, decompressed
  MemoryBudget* memory = nullptr;         // the memory of the request is taken from it; null: unlimited

  const runtime::Caller& caller() const { return caller_of(user); }
  static const runtime::Caller& caller_of(const TokenUser* user);
};

}  // namespace stator::app
