#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/http/message/message.h"
#include "stator/http/signature/sigv4.h"
#include "stator/http/signature/sigv4_canonical.h"

namespace stator::http {

struct ClientRequest;

struct SignerOptions {
  AccessKey key;
  std::string session_token = {};  // empty: the key is not a session's
  std::string region, service;
};

// Signs requests with AWS Signature Version 4, in their headers.  The other side is SignatureVerifier.  Thread-safe.
class Signer {
 public:
  explicit Signer(SignerOptions options) : options_(std::move(options)) {}

  // The headers that are to be added to the request: the date, a session's token, and the signature.  It covers every
  // header that the request has, and one of them must be Host.
  OwnedHeaders sign(const Request& request, WallTime now) const;
  // Adds them to a request that a client sends to `host`, which may have a port.
  void sign(ClientRequest& request, std::string_view host, WallTime now) const;

 private:
  sigv4::Digest signing_key(const std::string& date) const;

  const SignerOptions options_;

  // The key of the day that was last signed on.
  mutable Mutex mutex_;
  mutable std::string date_ GUARDED_BY(mutex_);
  mutable sigv4::Digest signing_key_ GUARDED_BY(mutex_){};
};

}  // namespace stator::http
