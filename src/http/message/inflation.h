#pragma once

#include <zlib.h>

#include <cstddef>
#include <string_view>

#include "stator/base/result.h"
#include "stator/http/message/content_coding.h"

namespace stator::http {

// zlib's word for a coding: 15 bits of window; 16 more mean gzip's header and trailer instead of zlib's own.
inline int window_bits(ContentCoding coding) { return coding == ContentCoding::Gzip ? 15 + 16 : 15; }

// Decompresses a body piece by piece.  Confined to one thread.
class Inflation {
 public:
  Inflation(ContentCoding coding, std::string_view body);  // Gzip or Deflate; the body outlives it
  ~Inflation();
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;

  // Writes at most `room` bytes, which is more than 0; how many, and 0 at the end.  Errors: Internal, when the body is
  // not of that coding, or ends early.
  Result<std::size_t> read(char* out, std::size_t room);

 private:
  const ContentCoding coding_;
  z_stream stream_{};
  bool ended_ = false;
};

}  // namespace stator::http
