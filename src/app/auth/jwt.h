#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stator/app/auth/jwks.h"
#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/base/result.h"
#include "stator/runtime/repository.h"

namespace stator::app {

// The user of a token.
struct TokenUser {
  runtime::Caller caller;
  std::string name;   // the claim of that name; empty when the token has none
  std::string email;  // likewise; empty also when the token says that it is not verified
};

// The claims that a token must have, beside a valid signature.
struct TokenRules {
  std::string issuer = {};    // `iss` must be it; empty: any
  std::string audience = {};  // `aud` must be it or hold it; empty: any
  std::string roles_claim = "roles";
  std::chrono::seconds clock_skew{60};
};

// Where the keys come from.
struct TokenKeys {
  std::string secret = {};                              // of HS256; empty: no such token is accepted
  std::function<Result<std::string>()> jwks = nullptr;  // reads the key set of RS256 and ES256; none: no such token is
};

// Checks JSON Web Tokens (RFC 7519).
//
// A token names its algorithm, but the keys decide: HS256 is accepted only with the secret, RS256 and ES256 only with a
// key of that kind, and all other algorithms (such as `none`) are refused.  `sub` and `exp` are required.  A valid
// token is cached until it expires or the key set is read again; the cache has a bound.  The key set is read again
// every five minutes, and when a token names an unknown key, but at most every half minute.  If it cannot be read, the
// old keys stay. So a key that is withdrawn is accepted for at most five minutes more. Thread-safe; may block to read
// the key set.
class TokenVerifier {
 public:
  static constexpr std::size_t kMaxTokenBytes = 8 << 10;
  static constexpr std::chrono::seconds kRefreshEvery{300};
  static constexpr std::chrono::seconds kRefreshAtMostEvery{30};

  TokenVerifier(TokenKeys keys, TokenRules rules, const Clock& clock);  // the clock outlives the verifier

  // Reads the key set for the first time.  Errors: those of the reader, and of read_jwks().
  Result<void> load();

  // Errors: Validation; the message names the mistake in the token, and nothing else.
  Result<std::shared_ptr<const TokenUser>> verify(std::string_view token) { return verify(token, KeyReading::Allowed); }

  // The same without reading the key set, for threads that must not block.  Errors: also Busy, when the token names an
  // unknown key and the key set may be read again: call read_keys_again() on a thread that may block, then try again.
  Result<std::shared_ptr<const TokenUser>> verify_at_once(std::string_view token) {
    return verify(token, KeyReading::Forbidden);
  }
  // Reads the key set, unless that was tried within the last half minute.
  void read_keys_again();

 private:
  struct Checked {
    std::shared_ptr<const TokenUser> user;
    WallTime until;
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Cache = std::unordered_map<std::string, Checked, TextHash, std::equal_to<>>;
  using KeySet = std::shared_ptr<const std::vector<PublicKey>>;

  enum class KeyReading : std::uint8_t { Allowed, Forbidden };

  Result<std::shared_ptr<const TokenUser>> verify(std::string_view token, KeyReading reading);
  Result<Checked> check(std::string_view token, KeyReading reading);
  Result<void> check_signature(std::string_view header, std::string_view text, std::string_view signature,
                               KeyReading reading);
  Result<Checked> check_claims(std::string_view claims) const;
  // The key for this token; reads the set again when that may help and is allowed.
  Result<PublicKey> find_key(Algorithm algorithm, std::string_view id, KeyReading reading);
  bool may_be_read_again(std::chrono::seconds when_older_than) const REQUIRES(mutex_);
  // Whether the set was read again.  One thread reads; other threads use the present keys.
  bool refresh(std::chrono::seconds when_older_than);

  const TokenKeys keys_;
  const TokenRules rules_;
  const Clock& clock_;

  mutable Mutex mutex_;
  KeySet key_set_ GUARDED_BY(mutex_);
  std::uint64_t sets_read_ GUARDED_BY(mutex_) = 0;  // tokens that an earlier set has verified are not cached
  WallTime refreshed_ GUARDED_BY(mutex_);
  bool refreshing_ GUARDED_BY(mutex_) = false;
  // Two generations: when the younger is full, it becomes the older. A token of the older one is checked again.
  Cache young_ GUARDED_BY(mutex_);
  Cache old_ GUARDED_BY(mutex_);
};

// The claims of a new token.
struct TokenClaims {
  std::string subject;
  std::vector<std::string> roles = {};
  std::string name = {};
  std::string email = {};
  std::string issuer = {};
  std::string audience = {};
  std::string roles_claim = "roles";
  std::chrono::seconds lifetime{3600};
};

// An HS256 token, for development.
std::string make_token(const TokenClaims& claims, std::string_view secret, const Clock& clock);

}  // namespace stator::app
