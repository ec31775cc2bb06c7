#pragma once

#include <string>
#include <string_view>

#include "stator/base/byte_source.h"

namespace stator::value {

// The text of another source: pieces of whole characters.  A byte order mark in front is left out.
class Utf8Source final : public ByteSource {
 public:
  explicit Utf8Source(ByteSource& bytes) : bytes_(bytes) {}  // outlives it

  // Errors: Serialization, when it is not UTF-8; those of the other source.
  Result<std::string_view> next() override;

 private:
  ByteSource& bytes_;
  std::string joined_;  // a piece with the beginning of its first character, which came before
  std::string cut_;     // the beginning of a character; the rest has not come yet
  bool begun_ = false;
};

}  // namespace stator::value
