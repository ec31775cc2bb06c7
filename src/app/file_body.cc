#include "stator/app/file_body.h"

#include <algorithm>
#include <string>

#include "stator/app/answer.h"

namespace stator::app {

using runtime::Problem;
using runtime::ProblemKind;

FileBody::FileBody(const Call& call, std::size_t most)
    : bytes_(call.request.header("Content-Encoding"), call.body, std::min(call.max_file_bytes, most)), text_(bytes_) {}

Problem unreadable(const Error& error) {
  switch (error.code) {
    case ErrorCode::LimitExceeded: return problem(ProblemKind::TooLarge, kBodyTooLarge, error.message);
    case ErrorCode::Internal: return problem(ProblemKind::Invalid, "InvalidEncoding", error.message);
    case ErrorCode::Serialization: return problem(ProblemKind::Invalid, "InvalidText", "the body is not UTF-8");
    case ErrorCode::Busy: return problem(ProblemKind::Unavailable, kOverloaded, error.message);
    default: return problem(ProblemKind::Invalid, "Invalid", error.message);
  }
}

}  // namespace stator::app
