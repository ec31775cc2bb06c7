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

// Who a token speaks for.
struct Identity {
  runtime::Caller caller;
  std::string name;   // the claim of that name; empty when the token has none
  std::string email;  // likewise; empty also when the token says that it is not verified
};

// What a token must look like beside its signature.
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
// A token names its algorithm, but the keys decide: HS256 goes with the secret only, RS256 and ES256 with a key of that
// kind only, and there is no other (`none` least of all).  `sub` and `exp` must be there.  What has been checked is
// remembered until it expires or the key set was read again, up to a bound.  The key set is read again every five
// minutes, and when a token names a key that it does not hold, but not more often than every half minute; while it
// cannot be read, the keys stay as they are. So a key that is withdrawn is accepted for at most five minutes more.
// Thread-safe; may block to read the key set.
class TokenVerifier {
 public:
  static constexpr std::size_t kMaxTokenBytes = 8 << 10;
  static constexpr std::chrono::seconds kRefreshEvery{300};
  static constexpr std::chrono::seconds kRefreshAtMostEvery{30};

  TokenVerifier(TokenKeys keys, TokenRules rules, const Clock& clock);  // the clock outlives the verifier

  // Reads the key set for the first time.  Errors: those of the reader, and of read_jwks().
  Result<void> load();

  // Errors: Validation; the message tells the caller what is wrong with his token, and nothing else.
  Result<std::shared_ptr<const Identity>> verify(std::string_view token) { return verify(token, KeyReading::Allowed); }

  // The same by the keys that are there, for those who must not block.  Errors: Busy, too, when the token names an
  // unknown key and the key set has not been read for a while: read_keys_again(), on a thread that may block, and ask
  // again.
  Result<std::shared_ptr<const Identity>> verify_at_once(std::string_view token) {
    return verify(token, KeyReading::Forbidden);
  }
  // Reads the key set, unless that was tried within the last half minute.
  void read_keys_again();

 private:
  struct Checked {
    std::shared_ptr<const Identity> identity;
    WallTime until;
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Cache = std::unordered_map<std::string, Checked, TextHash, std::equal_to<>>;
  using KeySet = std::shared_ptr<const std::vector<PublicKey>>;

  enum class KeyReading : std::uint8_t { Allowed, Forbidden };

  Result<std::shared_ptr<const Identity>> verify(std::string_view token, KeyReading reading);
  Result<Checked> check(std::string_view token, KeyReading reading);
  Result<void> check_signature(std::string_view header, std::string_view text, std::string_view signature,
                               KeyReading reading);
  Result<Checked> check_claims(std::string_view claims) const;
  // The key for this token; reads the set again when that may help and is allowed.
  Result<PublicKey> find_key(Algorithm algorithm, std::string_view id, KeyReading reading);
  bool may_be_read_again(std::chrono::seconds when_older_than) const REQUIRES(mutex_);
  // Whether the set was read again.  One thread reads, others go on with what there is.
  bool refresh(std::chrono::seconds when_older_than);

  const TokenKeys keys_;
  const TokenRules rules_;
  const Clock& clock_;

  mutable Mutex mutex_;
  KeySet key_set_ GUARDED_BY(mutex_);
  std::uint64_t sets_read_ GUARDED_BY(mutex_) = 0;  // what was checked by an earlier set is not remembered
  WallTime refreshed_ GUARDED_BY(mutex_);
  bool refreshing_ GUARDED_BY(mutex_) = false;
  // Two generations: when the younger is full, it becomes the older, whose tokens are checked anew.
  Cache young_ GUARDED_BY(mutex_);
  Cache old_ GUARDED_BY(mutex_);
};

// What a new token says.
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
