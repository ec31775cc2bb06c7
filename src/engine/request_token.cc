#include "stator/engine/request_token.h"

namespace stator::engine {
namespace {

constexpr char kTokenVersion = 1;
constexpr std::size_t kTokenBytes = 1 + 8 + 8;

bool is_valid(BytesView record) { return record.size() == kTokenBytes && record[0] == kTokenVersion; }

bool is_expired(BytesView record, WallTime now) {
  const auto micros = static_cast<std::int64_t>(read_u64be(record.data() + 1));
  return now - WallTime{std::chrono::microseconds{micros}} > kRequestTokenLifetime;
}

}  // namespace

Result<bool> RequestToken::seen_before(PendingCommit& commit) const {
  const auto record = TRY(commit.get(request_token_key(token)));
  if (!record) return false;
  if (!is_valid(*record)) return Error{ErrorCode::Corruption, "request token record has an unknown format"};
  if (is_expired(*record, commit.time())) return false;
  if (read_u64be(record->data() + 9) != fingerprint) {
    return Error{ErrorCode::IdempotentMismatch,
                 "DynamoDB rejected the request because you retried a request with a different payload but with an "
                 "idempotent token that was already used."};
  }
  return true;
}

bool RequestToken::is_record(BytesView bytes) { return is_valid(bytes); }

void RequestToken::remember(PendingCommit& commit) const {
  Bytes record(1, kTokenVersion);
  append_u64be(record, static_cast<std::uint64_t>(commit.time().time_since_epoch().count()));
  append_u64be(record, fingerprint);
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
