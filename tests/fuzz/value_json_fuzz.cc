// Feeds bytes from outside to the codec for DynamoDB's JSON: never a crash, and what it accepts it prints in one
// spelling that it reads back as the same.

#include <cstdint>

#include "stator/base/assert.h"
#include "stator/value/json.h"
#include "stator/value/stored_item.h"
#include "stator/value/test_ordered_number.h"

using namespace stator;
using namespace stator::value;

namespace {

void check_item(std::string_view text) {
  static JsonParser parser;
  const auto json = parser.parse(text);
  if (!json) return;
  const auto item = decode_item(*json);
  if (!item) return;
  const StoredItem stored = StoredItem::from(*item);
  const auto again = stored.parse();
  STATOR_ASSERT(again.ok(), "what was written is read");
  STATOR_ASSERT(*again == *item, "and is the same");
  STATOR_ASSERT(StoredItem::from(*again).bytes() == stored.bytes(), "and is written the same again");
}

void check_stored(std::string_view bytes) {
  const auto stored = StoredItem::from_bytes(Bytes(bytes));
  if (!stored) return;
  const auto item = stored->parse();
  STATOR_ASSERT(item.ok() || item.error().code == ErrorCode::Corruption, "damage is reported as corruption");
}

void check_number(std::string_view text) {
  const auto number = Number::parse(text);
  if (!number) return;
  STATOR_ASSERT(Number::parse(number->to_string()).value() == *number, "a number reads back what it prints");
  Bytes key;
  number->append_ordered(key);
  BytesView view = key;
  STATOR_ASSERT(take_ordered(view).value() == *number && view.empty(), "and what it writes into keys");
}

void check_ordered(BytesView bytes) {
  BytesView view = bytes;
  const auto number = take_ordered(view);
  if (!number) return;
  Bytes key;
  number->append_ordered(key);
  STATOR_ASSERT(bytes.starts_with(key) && key.size() == bytes.size() - view.size(), "a number has one key");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_item(text);
  check_stored(text);
  check_number(text);
  check_ordered(text);
  return 0;
}
