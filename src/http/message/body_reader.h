#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "stator/base/byte_source.h"
#include "stator/http/message/inflation.h"

namespace stator::http {

// A request's body in pieces, decompressed as its Content-Encoding says.  Holds one piece, however much the body stands
// for.
class BodyReader final : public ByteSource {
 public:
  static constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

  // Of a body that has at most `max_bytes` once it is decompressed.  The body outlives the reader.
  BodyReader(std::string_view content_encoding, std::string_view body, std::size_t max_bytes);

  // Errors: as decode_content().
  Result<std::string_view> next() override;

 private:
  Result<std::string_view> piece();

  std::string_view rest_;  // of a body that is not compressed
  std::unique_ptr<Inflation> inflation_;
  std::unique_ptr<char[]> buffer_;
  std::size_t left_;  // of max_bytes
  const std::size_t max_bytes_;
  bool known_ = true;  // the coding is
};

}  // namespace stator::http
