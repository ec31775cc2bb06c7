#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "stator/base/mutex.h"
#include "stator/base/result.h"
#include "stator/base/wall_time.h"
#include "stator/console/shared_text.h"
#include "stator/http/signature/sigv4.h"

namespace stator::console {

// Sessions that all servers of a database accept.  A token has the key's id and the end of the session, and is signed
// with a secret that the servers have in common.  Sessions that were ended before their time are in a list beside it:
//
//   secret <32 bytes in base64url>
//   ended <SHA-256 of the token in base64url> <the time at which the session ends by itself, in seconds since 1970>
//
// A server reads the text with refresh(), once a second: a session that ended at one server has ended at all of them
// within two seconds.  When the list is full, the secret is replaced, which ends all sessions.  Thread-safe.
class SignedSessions {
 public:
  static constexpr std::size_t kMostEnded = 1024;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // of the text

  // The keys outlive it.
  SignedSessions(const http::SignatureVerifier& keys, SharedText text) : keys_(keys), text_(std::move(text)) {}

  // Reads the text, and makes it when there is none.  Errors: Storage, Corruption.
  Result<void> refresh();
  // A new token for the holder of a key; the caller has checked the key's secret.  Errors: Storage.
  Result<std::string> open(std::string_view key_id, WallTime until);
  // Knows at once, as of the last refresh().
  std::optional<std::string> key_of(std::string_view token, WallTime now) const;
  // Errors: Storage.
  Result<void> end(std::string_view token, WallTime now);

 private:
  struct State {
    std::string secret;
    std::map<std::string, std::int64_t, std::less<>> ended;  // the hash of a token -> seconds since 1970
  };
  struct Claims {
    std::string key_id;
    std::int64_t until = 0;  // seconds since 1970
  };

  bool is_known() const;
  static Result<State> parse(std::string_view text);
  static std::string print(const State& state);
  // nullopt: it is none of ours, or its key has gone.
  std::optional<Claims> claims_of(std::string_view token, const std::string& secret) const;
  std::optional<std::string> signature(std::string_view claims, std::string_view key_id,
                                       const std::string& secret) const;

  const http::SignatureVerifier& keys_;
  const SharedText text_;

  mutable Mutex mutex_;
  State state_ GUARDED_BY(mutex_);  // an empty secret: not known yet
  // Ends of sessions at this server: a text that was read before the last of them does not know it.
  std::uint64_t ends_ GUARDED_BY(mutex_) = 0;
};

}  // namespace stator::console
