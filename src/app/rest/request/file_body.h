#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stator/app/rest/rest_call.h"
#include "stator/base/byte_source.h"
#include "stator/http/message/body_reader.h"
#include "stator/runtime/problem.h"
#include "stator/value/utf8_source.h"

namespace stator::app {

// The body of a route that takes files, as a text in pieces of whole characters, without a byte order mark.  One piece
// is in memory at a time, however large the decompressed text is.  To read the text twice, make two of these.
class FileBody final : public ByteSource {
 public:
  // The call outlives it.  `most`: bytes that the file may have, if the service does not allow less.
  explicit FileBody(const RestCall& call, std::size_t most = SIZE_MAX);

  Result<std::string_view> next() override;

 private:
  const bool bounded_by_setting_;
  http::BodyReader bytes_;
  value::Utf8Source text_;
};

// The problem of a body that could not be read to its end: it is too large, not of its encoding, or not UTF-8.  Any
// other error becomes `Invalid` with the error's message.
runtime::Problem unreadable(const Error& error);

// The error of a body beyond a limit, with the setting that is the limit.
Error naming_setting(Error error, std::string_view setting);

}  // namespace stator::app
