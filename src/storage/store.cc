#include "stator/storage/store.h"

#include <fmt/format.h>

#include "stator/storage/loop_reader.h"

namespace stator::storage {
namespace {

constexpr std::size_t kCounterSize = 8;

}  // namespace

Bytes encode_counter(std::int64_t value) {
  Bytes bytes(kCounterSize, '\0');
  auto rest = static_cast<std::uint64_t>(value);
  for (auto& byte : bytes) {
    byte = static_cast<char>(rest & 0xFF);
    rest >>= 8;
  }
  return bytes;
}

Result<std::int64_t> decode_counter(BytesView bytes) {
  if (bytes.size() != kCounterSize) {
    return Error{ErrorCode::Corruption,
                 fmt::format("a counter has {} bytes instead of {}", bytes.size(), kCounterSize)};
  }
  std::uint64_t value = 0;
  for (std::size_t i = kCounterSize; i-- > 0;) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return static_cast<std::int64_t>(value);
}

std::int64_t add_to_counter(std::int64_t value, std::int64_t delta) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + static_cast<std::uint64_t>(delta));
}

void write_sequence(Bytes& key, std::size_t at, CommitSequence sequence) {
  STATOR_ASSERT(key.size() >= 8 && at <= key.size() - 8, "a sequenced key has room for its sequence");
  Bytes bytes;
  append_u64be(bytes, sequence.value);
  key.replace(at, bytes.size(), bytes);
}

Result<ValuesRead> Store::get_all(const std::vector<BytesView>& keys) const {
  ValuesRead read{.at = read_point(), .values = {}};
  const auto now = snapshot();
  read.values.reserve(keys.size());
  for (const auto key : keys) read.values.push_back(TRY(now->get(key)));
  return read;
}

std::unique_ptr<LoopReader> Store::reader_on(EventLoop& /*loop*/) { return nullptr; }

Result<void> Store::advance_to(CommitSequence least) {
  while (last_commit() < least) TRY(commit({}));
  return sync();
}

std::uint64_t size_of(const Batch::Operation& operation) { return operation.key.size() + operation.value.size(); }

}  // namespace stator::storage
