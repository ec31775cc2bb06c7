#pragma once

#include <string_view>
#include <utility>

#include "stator/base/result.h"

namespace stator {

// Bytes that come in pieces, so that they are never all in memory.  Confined to one thread.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // The next piece, which is valid until the next call; empty when there is no more.  Behind an error there is no more.
  virtual Result<std::string_view> next() = 0;
};

// A text that is all there, as one piece.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : text_(text) {}  // the text outlives the source

  Result<std::string_view> next() override { return std::exchange(text_, {}); }

 private:
  std::string_view text_;
};

}  // namespace stator
