#include "stator/value/stored_item.h"

#include <fmt/format.h>

#include "stator/value/canonical_json.h"
#include "stator/value/item_size.h"
#include "stator/value/json.h"

namespace stator::value {
namespace {

// Stored item.
//
//   version:u8 = 1   item_size:varint   canonical JSON object
//
// On disk: a new layout takes a new version; this one keeps its meaning.

// The size of canonical JSON without escapes.  It is used to reserve memory, so a wrong size costs only time.
std::size_t expected_json_bytes(const AttributeMap& map);

std::size_t expected_json_bytes(const AttributeValue& value) {
  constexpr std::size_t kFrame = 10;       // {"SS":[""]}
  constexpr std::size_t kMemberFrame = 3;  // "",
  const auto base64 = [](const std::string& bytes) { return (bytes.size() + 2) / 3 * 4; };
  const auto number = [](const Number& n) { return 2 * n.size_bytes() + 2; };
  switch (value.type()) {
    case Type::S: return kFrame + value.as_string()->size();
    case Type::N: return kFrame + number(*value.as_number());
    case Type::B: return kFrame + base64(value.as_binary()->bytes);
    case Type::M: return kFrame + expected_json_bytes(*value.as_map());
    case Type::Null:
    case Type::Bool: return kFrame + kMemberFrame;
    default: break;
  }
  std::size_t size = kFrame;
  if (const auto* list = value.as_list()) {
    for (const auto& element : *list) size += 1 + expected_json_bytes(element);
  } else if (const auto* strings = value.as_string_set()) {
    for (const auto& member : strings->members) size += kMemberFrame + member.size();
  } else if (const auto* numbers = value.as_number_set()) {
    for (const auto& member : numbers->members) size += kMemberFrame + number(member);
  } else if (const auto* binaries = value.as_binary_set()) {
    for (const auto& member : binaries->members) size += kMemberFrame + base64(member);
  }
  return size;
}

std::size_t expected_json_bytes(const AttributeMap& map) {
  std::size_t size = 2;
  for (const auto& [name, value] : map) size += name.size() + 4 + expected_json_bytes(value);
  return size;
}

Error corrupt(std::string message) { return {ErrorCode::Corruption, std::move(message)}; }

struct Header {
  std::size_t json_at;
  std::size_t item_size;
};

Result<Header> read_header(BytesView bytes) {
  if (bytes.empty()) return corrupt("a stored item is empty");
  const auto version = static_cast<unsigned char>(bytes[0]);
  if (version > kStoredItemVersion) {
    return corrupt(
        fmt::format("a stored item has format version {}, this binary knows up to {}", version, kStoredItemVersion));
  }
  if (version == 0) return corrupt("a stored item has format version 0, which does not exist");
  BytesView rest = bytes.substr(1);
  std::uint64_t item_size = 0;
  if (!take_varint(rest, item_size)) return corrupt("a stored item ends inside its header");
  if (rest.size() < 2 || rest.front() != '{' || rest.back() != '}')
    return corrupt("a stored item holds no JSON object");
  return Header{bytes.size() - rest.size(), static_cast<std::size_t>(item_size)};
}

JsonParser& parser_of_thread() {
  thread_local JsonParser parser;
  return parser;
}

Result<Item> decode(const Result<JsonElement>& json) {
  if (!json) return corrupt(fmt::format("a stored item is not JSON: {}", json.error().message));
  auto item = decode_stored_item(*json);
  if (!item) return corrupt(fmt::format("a stored item is not an item: {}", item.error().message));
  return item;
}

}  // namespace

StoredItem StoredItem::from(const Item& item) {
  constexpr std::size_t kHeaderBytes = 11;
  StoredItem stored(Bytes(), 0, value::item_size_bytes(item));
  Bytes& bytes = stored.bytes_;
  bytes.reserve(kHeaderBytes + expected_json_bytes(item) + kJsonPadding);
  bytes.push_back(static_cast<char>(kStoredItemVersion));
  append_varint(bytes, stored.item_size_);
  stored.json_at_ = bytes.size();
  append_json(bytes, item);
  bytes.reserve(bytes.size() + kJsonPadding);  // nothing to do, unless escapes took the room
  return stored;
}

Result<StoredItem> StoredItem::from_bytes(Bytes bytes) {
  const Header header = TRY(read_header(bytes));
  return StoredItem(std::move(bytes), header.json_at, header.item_size);
}

Result<Item> StoredItem::parse() const {
  if (auto item = read_canonical_json(json())) return *std::move(item);
  // A copy, or bytes that came from elsewhere, may have no room behind the text.
  const bool padded = bytes_.capacity() - bytes_.size() >= kJsonPadding;
  return decode(padded ? parser_of_thread().parse_padded(json()) : parser_of_thread().parse(json()));
}

Result<StoredItemView> StoredItemView::from(BytesView bytes) {
  const Header header = TRY(read_header(bytes));
  return StoredItemView{bytes.substr(header.json_at), header.item_size};
}

Result<Item> StoredItemView::parse() const {
  if (auto item = read_canonical_json(json)) return *std::move(item);
  return decode(parser_of_thread().parse(json));
}

}  // namespace stator::value
