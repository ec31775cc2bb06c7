#include "stator/engine/write/request_token.h"

namespace stator::engine {
namespace {

constexpr char kTokenVersion = 2;
constexpr std::size_t kTokenBytes = 1 + 8 + 8;  // before the sizes
constexpr std::size_t kSizeBytes = 4;

bool is_valid(BytesView record) {
  if (record.size() < kTokenBytes) return false;
  const auto more = record.size() - kTokenBytes;
  return record[0] == kTokenVersion ? more % kSizeBytes == 0 : record[0] == 1 && more == 0;
}

bool is_expired(BytesView record, WallTime now) {
  const auto micros = static_cast<std::int64_t>(read_u64be(record.data() + 1));
  return now - WallTime{std::chrono::microseconds{micros}} > kRequestTokenLifetime;
}

}  // namespace

Result<std::optional<RequestToken::Sizes>> RequestToken::seen_before(PendingCommit& commit) const {
  std::optional<Sizes> sizes;
  const auto record = TRY(commit.get(request_token_key(token)));
  if (!record) return sizes;
  if (!is_valid(*record)) return Error{ErrorCode::Corruption, "request token record has an unknown format"};
  if (is_expired(*record, commit.time())) return sizes;
  if (read_u64be(record->data() + 9) != fingerprint) {
    return Error{ErrorCode::IdempotentMismatch,
                 "DynamoDB rejected the request because you retried a request with a different payload but with an "
                 "idempotent token that was already used."};
  }
  sizes.emplace();
  for (auto at = kTokenBytes; at < record->size(); at += kSizeBytes) sizes->push_back(read_u32be(record->data() + at));
  return sizes;
}

bool RequestToken::is_record(BytesView bytes) { return is_valid(bytes); }

void RequestToken::remember(PendingCommit& commit, const Sizes& sizes) const {
  Bytes record(1, kTokenVersion);
  append_u64be(record, static_cast<std::uint64_t>(commit.time().time_since_epoch().count()));
  append_u64be(record, fingerprint);
  for (const auto size : sizes) append_u32be(record, size);
  commit.put(request_token_key(token), std::move(record));
}

Result<void> erase_expired_token(PendingCommit& commit, const KeyBytes& key) {
  const auto record = TRY(commit.get(key));
  if (record && is_valid(*record) && is_expired(*record, commit.time())) commit.erase(key);
  return {};
}

std::vector<KeyBytes> expired_request_tokens(const storage::Snapshot& snapshot, WallTime now) {
  std::vector<KeyBytes> keys;
  const auto cursor = snapshot.cursor(all_request_tokens(), storage::Direction::Forward);
  for (; cursor->valid(); cursor->next()) {
    if (is_valid(cursor->value()) && is_expired(cursor->value(), now)) keys.emplace_back(cursor->key());
  }
  return keys;
}

}  // namespace stator::engine
