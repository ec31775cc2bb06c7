#include "stator/engine/expiry/ttl.h"

#include <charconv>

namespace stator::engine {
namespace {

constexpr char kVersion = 1;

}  // namespace

std::optional<std::uint64_t> expiry_of(const Table& table, const value::AttributeMap& item) {
  if (!table.ttl_attribute) return std::nullopt;
  const auto* number = item.number(*table.ttl_attribute);
  if (number == nullptr || number->is_negative()) return std::nullopt;
  const auto text = number->to_string();  // plain digits; a fraction of a second is not looked at
  std::uint64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || (end != text.data() + text.size() && *end != '.')) return std::nullopt;
  return seconds;
}

Bytes expiry_entry_value() { return Bytes(1, kVersion); }

void change_time_to_live(PendingCommit& commit, const Table& before, const Table& after) {
  if (before.ttl_attribute == after.ttl_attribute) return;
  commit.erase_range(table_expiries(before.id));
  if (after.ttl_attribute) {
    commit.put(expiry_progress_key(after.id), encode_expiry_progress({}));
  } else {
    commit.erase(expiry_progress_key(after.id));
  }
}

Bytes encode_expiry_progress(BytesView last_item_key) { return Bytes(1, kVersion).append(last_item_key); }

Result<KeyBytes> decode_expiry_progress(BytesView bytes) {
  if (bytes.empty() || bytes[0] != kVersion) {
    return Error{ErrorCode::Corruption, "progress of time to live has an unknown format"};
  }
  return KeyBytes(bytes.substr(1));
}

}  // namespace stator::engine
