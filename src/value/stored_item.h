#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "stator/base/bytes.h"
#include "stator/base/result.h"
#include "stator/value/attribute_value.h"

namespace stator::value {

// The newest layout of a stored item that this program knows, and the one it writes.
inline constexpr unsigned char kStoredItemVersion = 1;

// An item as it is kept and sent: canonical DynamoDB JSON behind a small header.  docs/formats/item.md draws it.
//
//   version:u8 = 1   item_size:varint   canonical JSON object
//
// Reading an item back without looking inside copies json() into the answer and transcodes nothing.  A value type.
class StoredItem {
 public:
  static StoredItem from(const Item& item);
  // Errors: Corruption for a bad header, or one line naming the version when it is newer than this binary knows.
  static Result<StoredItem> from_bytes(Bytes bytes);

  const Bytes& bytes() const& { return bytes_; }
  Bytes&& bytes() && { return std::move(bytes_); }
  std::string_view json() const { return std::string_view(bytes_).substr(json_at_); }
  std::size_t item_size_bytes() const { return item_size_; }

  // Errors: Corruption.
  Result<Item> parse() const;

 private:
  StoredItem(Bytes bytes, std::size_t json_at, std::size_t item_size)
      : bytes_(std::move(bytes)), json_at_(json_at), item_size_(item_size) {}

  Bytes bytes_;  // from() leaves room for kJsonPadding bytes behind the text, so that parse() need not copy it
  std::size_t json_at_;
  std::size_t item_size_;
};

// The same for bytes somebody else owns, such as a cursor's: the JSON and the size, without a copy.
struct StoredItemView {
  std::string_view json;
  std::size_t item_size_bytes;
  static Result<StoredItemView> from(BytesView bytes);
  Result<Item> parse() const;  // may copy the text to pad it
};

}  // namespace stator::value
