#include "stator/engine/stream/change_log.h"

#include <cstring>

namespace stator::engine {
namespace {

constexpr char kChangeVersion = 1;
constexpr std::size_t kTimeAt = 1;
constexpr std::size_t kKindAt = 9;
constexpr std::size_t kByAt = 10;
constexpr std::size_t kHeaderBytes = 1 + 8 + 1 + 1;

void append_image(Bytes& out, const value::StoredItem* image) {
  if (image == nullptr) {
    append_varint(out, 0);
    return;
  }
  append_varint(out, image->bytes().size());
  out += image->bytes();
}

Result<std::optional<value::StoredItem>> take_image(BytesView& in) {
  std::uint64_t length = 0;
  if (!take_varint(in, length) || length > in.size()) return Error{ErrorCode::Corruption, "change record is cut short"};
  if (length == 0) return std::optional<value::StoredItem>();
  auto image = TRY(value::StoredItem::from_bytes(Bytes(in.substr(0, length))));
  in.remove_prefix(length);
  return std::optional<value::StoredItem>(std::move(image));
}

}  // namespace

Bytes ChangeRecord::encode() const {
  Bytes out(1, kChangeVersion);
  append_u64be(out, static_cast<std::uint64_t>(time.time_since_epoch().count()));
  out.push_back(static_cast<char>(kind));
  out.push_back(static_cast<char>(by));
  append_image(out, &keys);
  append_image(out, new_image ? &*new_image : nullptr);
  append_image(out, old_image ? &*old_image : nullptr);
  return out;
}

Result<ChangeRecord> ChangeRecord::decode(BytesView bytes) {
  if (bytes.size() < kHeaderBytes || bytes[0] != kChangeVersion) {
    return Error{ErrorCode::Corruption, "change record has an unknown format"};
  }
  const auto micros = static_cast<std::int64_t>(read_u64be(bytes.data() + kTimeAt));
  const auto kind = static_cast<ChangeKind>(bytes[kKindAt]);
  const auto by = static_cast<ChangeBy>(bytes[kByAt]);
  if (kind > ChangeKind::Remove || by > ChangeBy::TimeToLive) {
    return Error{ErrorCode::Corruption, "change record has an unknown kind or author"};
  }
  bytes.remove_prefix(kHeaderBytes);
  auto keys = TRY(take_image(bytes));
  if (!keys) return Error{ErrorCode::Corruption, "change record has no keys"};
  auto new_image = TRY(take_image(bytes));
  auto old_image = TRY(take_image(bytes));
  if (!bytes.empty()) return Error{ErrorCode::Corruption, "change record has bytes behind its end"};
  return ChangeRecord{WallTime{std::chrono::microseconds{micros}},
                      kind,
                      by,
                      std::move(*keys),
                      std::move(new_image),
                      std::move(old_image)};
}

void set_change_time(Bytes& record, WallTime time) {
  Bytes encoded;
  append_u64be(encoded, static_cast<std::uint64_t>(time.time_since_epoch().count()));
  std::memcpy(record.data() + kTimeAt, encoded.data(), encoded.size());
}

}  // namespace stator::engine
