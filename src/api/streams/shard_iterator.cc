#include "stator/api/streams/shard_iterator.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "stator/value/json.h"

namespace stator::api {
namespace {

constexpr std::string_view kDivider = "|1|";
constexpr char kVersion = 1;
constexpr std::size_t kPayloadBytes = 1 + 8 + 1 + 8 + 4 + 8;

std::uint64_t check_of(std::string_view arn, std::string_view payload) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), XXH3_64bits(arn.data(), arn.size()));
}

}  // namespace

std::string ShardIterator::encode() const {
  Bytes payload(1, kVersion);
  append_u64be(payload, begin.value);
  payload.push_back(static_cast<char>(partition));
  append_u64be(payload, at.sequence.value);
  append_u32be(payload, at.ordinal);
  append_u64be(payload, static_cast<std::uint64_t>(issued.time_since_epoch().count()));
  append_u64be(payload, check_of(stream_arn, payload));
  std::string text = stream_arn;
  text += kDivider;
  value::append_base64(text, payload);
  return text;
}

Result<ShardIterator> ShardIterator::decode(std::string_view text) {
  static constexpr std::string_view kInvalid = "Invalid ShardIterator";
  const auto divider = text.rfind(kDivider);
  std::string bytes;
  if (divider == std::string_view::npos || !value::decode_base64(text.substr(divider + kDivider.size()), bytes) ||
      bytes.size() != kPayloadBytes + 8 || bytes[0] != kVersion) {
    return validation_error(std::string(kInvalid));
  }
  const auto arn = text.substr(0, divider);
  const std::string_view payload(bytes.data(), kPayloadBytes);
  if (read_u64be(bytes.data() + kPayloadBytes) != check_of(arn, payload))
    return validation_error(std::string(kInvalid));
  const auto micros = static_cast<std::int64_t>(read_u64be(payload.data() + 22));
  return ShardIterator{.stream_arn = std::string(arn),
                       .begin = {read_u64be(payload.data() + 1)},
                       .partition = static_cast<std::uint8_t>(payload[9]),
                       .at = {{read_u64be(payload.data() + 10)}, read_u32be(payload.data() + 18)},
                       .issued = WallTime{std::chrono::microseconds{micros}}};
}

}  // namespace stator::api
