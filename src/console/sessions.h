#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/base/result.h"
#include "stator/console/signed_sessions.h"
#include "stator/http/signature/sigv4.h"

namespace stator::console {

// The sessions of users who have signed in to the console with an access key.
//
// A session is known by a token of 256 random bits, of which only the hash is kept, in memory: a restart signs
// everybody out.  It ends after kLifetime, and at once when its key is removed or gets another secret.  There are at
// most kMost; one more ends the oldest.  Where several servers share a database, tokens are signed instead, and good at
// all of them (signed_sessions.h).  Thread-safe.
class Sessions {
 public:
  static constexpr std::chrono::hours kLifetime{12};
  static constexpr std::size_t kMost = 256;
  static constexpr int kFailuresPerSecond = 10;

  // Keys and clock outlive the sessions.  `shared`: the text that the servers of a database have in common; nullopt:
  // there is one server.
  Sessions(const http::SignatureVerifier& keys, const Clock& clock, std::optional<SharedText> shared = std::nullopt);

  // Whether sign_in() and sign_out() may wait for a database.
  bool is_shared() const { return signed_.has_value(); }
  // Reads the sessions that other servers have ended.  Call it once a second, where sessions are shared.
  void refresh();

  // Whether a session is needed: once there are keys, as for requests to the API.
  bool required() const { return keys_.required(); }
  bool has_keys() const { return keys_.has_keys(); }

  enum class Refusal : std::uint8_t {
    WrongKey,  // no such key, or another secret; which of them is not told, and takes the same time
    TooMany,   // the same, and there were too many within a second
    NoStore,   // the database does not answer
  };
  // The token of a new session.
  Result<std::string, Refusal> sign_in(std::string_view key_id, std::string_view secret);
  // The id of the key that the session was opened with; nothing when there is no such session.
  std::optional<std::string> key_of(std::string_view token);
  Result<void> sign_out(std::string_view token);  // Errors: Storage

 private:
  using Digest = http::sigv4::Digest;
  struct Session {
    std::string key_id;
    Digest secret;
    WallTime until;
  };

  Refusal note_failure(WallTime now);

  const http::SignatureVerifier& keys_;
  const Clock& clock_;
  std::optional<SignedSessions> signed_;
  std::atomic<bool> refresh_failed_{false};

  Mutex mutex_;
  std::map<Digest, Session> sessions_ GUARDED_BY(mutex_);  // by the hash of their token
  WallTime failures_since_ GUARDED_BY(mutex_);
  int failures_ GUARDED_BY(mutex_) = 0;
};

}  // namespace stator::console
