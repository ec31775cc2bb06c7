#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/http/message/message.h"
#include "stator/http/signature/sigv4_canonical.h"

namespace stator::http {

struct AccessKey {
  std::string id, secret;
};

// Why a request is not believed.  The kinds are AWS's, and so are the texts where they are known.
struct SignatureFault {
  enum class Kind : std::uint8_t {
    MissingToken,  // not signed at all
    Incomplete,    // something that a signature needs is missing or malformed
    UnknownKey,    // signed with a key that we do not have
    Invalid,       // signed wrongly, too long ago, or for somebody else
    Unconfirmed,   // it is not known now which keys are good
  };

  Kind kind = Kind::Invalid;
  std::string message;
  std::string key_id =
      {};  // the key id of the request, in printable ASCII; empty if the request was refused before it was read
};

struct SignatureOptions {
  std::string service;                           // the service that signatures are for; any region will do
  std::vector<std::string> signed_headers = {};  // lower case; must be signed where they are sent, as host always must
  std::chrono::minutes skew = std::chrono::minutes(15);  // how far a client's clock may be off, either way
  std::chrono::seconds keys_last{0};  // without confirm_keys(), keys are good for so long; 0: for ever
};

// Checks AWS Signature Version 4, in the Authorization header or in the query of a presigned URL.
//
// The hash of the body is always computed, never taken from the client.  Signatures are compared in constant time.
// Signing keys are derived once for each credential and remembered, but only when a signature made with one was right,
// so that strangers cannot fill the memory.  Thread-safe.  docs/internals/access_keys.md.
class SignatureVerifier {
 public:
  SignatureVerifier(SignatureOptions options, const Clock& clock);  // the clock outlives the verifier
  ~SignatureVerifier();

  // From now on only these are known.
  void set_keys(std::span<const AccessKey> keys);
  // The keys were still the right ones at that time.
  void confirm_keys(SteadyTime as_of);
  // Otherwise every request is refused until they are confirmed.
  bool keys_are_confirmed() const;
  SteadyTime steady_now() const { return clock_.steady_now(); }

  // Asks for signatures even before there is a key.
  void require() { required_.store(true, std::memory_order_release); }
  // Whether there has ever been a key.  Taking the last one away shuts everybody out rather than letting everybody in.
  bool required() const { return required_.load(std::memory_order_acquire); }

  // Whether there is a key now.  Without keys, if signatures are required, every request is refused.
  bool has_keys() const;
  // SHA-256 of the secret of a key that we have, and that is confirmed.
  std::optional<sigv4::Digest> secret_digest(std::string_view id) const;

  // Nothing, when the request carries a valid and fresh signature of a key that we have.
  std::optional<SignatureFault> check(const Request& request) const;
  // The fault that the head alone shows: not signed, unknown key, too old.
  std::optional<SignatureFault> check_head(const Request& head) const;

 private:
  struct Keys;
  struct Signed;
  std::optional<SignatureFault> read_signed(const Request& request, Signed& out) const;
  std::shared_ptr<Keys> keys() const;
  std::optional<SignatureFault> find_fault(const Request& request) const;

  const SignatureOptions options_;
  const Clock& clock_;
  std::atomic<bool> required_ = false;
  std::atomic<SteadyTime> confirmed_at_;

  mutable Mutex mutex_;
  std::shared_ptr<Keys> keys_ GUARDED_BY(mutex_);
};

}  // namespace stator::http
