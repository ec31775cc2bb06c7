#include "stator/http/message/body_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/http/message/content_coding.h"

namespace stator::http {

BodyReader::BodyReader(std::string_view content_encoding, std::string_view body, std::size_t max_bytes)
    : left_(max_bytes), max_bytes_(max_bytes) {
  const auto coding = content_coding_of(content_encoding);
  known_ = coding.has_value();
  if (!known_) return;
  if (*coding == ContentCoding::Identity) {
    rest_ = body;
  } else {
    inflation_ = std::make_unique<Inflation>(*coding, body);
    buffer_ = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  }
}

Result<std::string_view> BodyReader::next() {
  if (!known_) return unknown_coding();
  const auto read = TRY(piece());
  if (read.size() > left_) return inflation_ ? inflated_too_large(max_bytes_) : body_too_large(max_bytes_);
  left_ -= read.size();
  return read;
}

Result<std::string_view> BodyReader::piece() {
  if (inflation_) return std::string_view(buffer_.get(), TRY(inflation_->read(buffer_.get(), kPieceBytes)));
  const auto piece = rest_.substr(0, kPieceBytes);
  rest_.remove_prefix(piece.size());
  return piece;
}

}  // namespace stator::http
