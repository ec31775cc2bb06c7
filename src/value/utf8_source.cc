#include "stator/value/utf8_source.h"

#include <algorithm>
#include <cstdint>

#include "stator/value/well_formed.h"

namespace stator::value {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// How many bytes a character has whose first byte is this; 1 for a byte that is none.
std::size_t character_bytes(char first) {
  const auto byte = static_cast<std::uint8_t>(first);
  if (byte >= 0xF0) return 4;
  if (byte >= 0xE0) return 3;
  return byte >= 0xC0 ? 2 : 1;
}

// Without the character at the end, if not all of it is there.
std::size_t whole_characters(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const char byte = text[text.size() - back];
    if ((static_cast<std::uint8_t>(byte) & 0xC0) == 0x80) continue;
    return character_bytes(byte) > back ? text.size() - back : text.size();
  }
  return text.size();
}

}  // namespace

Result<std::string_view> Utf8Source::next() {
  const Error not_utf8{ErrorCode::Serialization, "it is not UTF-8"};
  while (true) {
    auto piece = TRY(bytes_.next());
    if (piece.empty()) {
      if (!cut_.empty()) return not_utf8;
      return piece;
    }
    if (!cut_.empty()) {
      joined_.assign(cut_).append(piece);
      piece = joined_;
    }
    const auto whole = whole_characters(piece);
    cut_ = piece.substr(whole);
    piece = piece.substr(0, whole);
    if (!is_utf8(piece)) return not_utf8;
    if (!begun_ && piece.starts_with(kByteOrderMark)) piece.remove_prefix(kByteOrderMark.size());
    begun_ = begun_ || whole > 0;
    if (!piece.empty()) return piece;
  }
}

}  // namespace stator::value
