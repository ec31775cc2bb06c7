#pragma once

#include <cstdint>
#include <optional>

#include "stator/base/clock.h"
#include "stator/base/result.h"
#include "stator/engine/schema.h"
#include "stator/value/stored_item.h"

// The changes of items, in order.  Streams read them.
namespace stator::engine {

enum class ChangeKind : std::uint8_t { Insert = 0, Modify = 1, Remove = 2 };
enum class ChangeBy : std::uint8_t { User = 0, TimeToLive = 1 };

// docs/formats/change_log.md draws it:
//
//   version:u8 = 1  time:u64be (microseconds)  kind:u8  by:u8  keys:image  new:image  old:image
//   image: length:varint, 0 when it is not kept, then that many bytes of a stored item
struct ChangeRecord {
  WallTime time;
  ChangeKind kind = ChangeKind::Insert;
  ChangeBy by = ChangeBy::User;
  value::StoredItem keys;
  std::optional<value::StoredItem> new_image;
  std::optional<value::StoredItem> old_image;

  Bytes encode() const;
  static Result<ChangeRecord> decode(BytesView bytes);  // Errors: Corruption
};

// A record's bytes are put together while the write is planned; its time is known when it is committed.
void set_change_time(Bytes& record, WallTime time);

}  // namespace stator::engine
