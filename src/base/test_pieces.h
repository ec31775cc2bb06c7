#pragma once

#include <cstddef>
#include <string_view>

#include "stator/base/byte_source.h"

namespace stator::testing {

// A text in pieces of one size.
class Pieces final : public ByteSource {
 public:
  Pieces(std::string_view text, std::size_t size) : text_(text), size_(size) {}

  Result<std::string_view> next() override {
    const auto piece = text_.substr(0, size_);
    text_.remove_prefix(piece.size());
    return piece;
  }

 private:
  std::string_view text_;
  const std::size_t size_;
};

}  // namespace stator::testing
