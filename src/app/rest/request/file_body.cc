#include "stator/app/rest/request/file_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "stator/app/rest/answer.h"

namespace stator::app {

using runtime::Problem;
using runtime::ProblemKind;

FileBody::FileBody(const RestCall& call, std::size_t most)
    : bounded_by_setting_(call.max_file_bytes <= most),
      bytes_(call.request.header("Content-Encoding"), call.body, std::min(call.max_file_bytes, most)),
      text_(bytes_) {}

Result<std::string_view> FileBody::next() {
  auto piece = text_.next();
  if (piece || piece.error().code != ErrorCode::LimitExceeded || !bounded_by_setting_) return piece;
  return naming_setting(std::move(piece).error(), "max_body_bytes");
}

Error naming_setting(Error error, std::string_view setting) {
  if (error.code == ErrorCode::LimitExceeded) error.message += fmt::format(" (the setting {})", setting);
  return error;
}

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
