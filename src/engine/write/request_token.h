#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stator/engine/write/pending_commit.h"

namespace stator::engine {

inline constexpr std::chrono::minutes kRequestTokenLifetime{10};

// A client's token for a transaction.  Within ten minutes a second transaction with the same token does nothing, if it
// asks for the same; if it asks for something else it is an error.  Kept in the store, so a restart changes nothing.
//
//   't' token -> version:u8 = 2  time:u64be (microseconds)  fingerprint:u64be  size:u32be ...
//
// There is one size for each action of the transaction.  Version 1 has none.
struct RequestToken {
  std::string token;
  std::uint64_t fingerprint = 0;  // of the transaction's actions

  // A transaction that had the token: for each action the size that it was charged for, in bytes.
  using Sizes = std::vector<std::uint32_t>;
  // nullopt when there is none.  Errors: IdempotentMismatch, Storage, Corruption.
  Result<std::optional<Sizes>> seen_before(PendingCommit& commit) const;
  void remember(PendingCommit& commit, const Sizes& sizes) const;
  // Whether these bytes are a record of a token.
  static bool is_record(BytesView bytes);
};

// The keys of tokens that no longer count.
std::vector<KeyBytes> expired_request_tokens(const storage::Snapshot& snapshot, WallTime now);
// Erases one of them, if it has not been used again since.  Errors: Storage.
Result<void> erase_expired_token(PendingCommit& commit, const KeyBytes& key);

}  // namespace stator::engine
