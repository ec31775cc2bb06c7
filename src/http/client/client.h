#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stator/base/result.h"
#include "stator/base/unique_function.h"
#include "stator/http/message/message.h"
#include "stator/http/origin.h"

namespace stator::http {

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";
  OwnedHeaders headers = {};  // besides Host and Content-Length, which the client writes
  std::string body = {};
  // Sending it twice does no more than sending it once.  Then a kept connection that the server closed before any byte
  // of an answer came is replaced once by a fresh one; otherwise that is a failure.
  bool idempotent = false;
};

struct ClientResponse {
  int status = 0;
  OwnedHeaders headers = {};
  std::string body = {};

  // The value of the first header of that name, compared without case; empty when there is none.
  std::string_view header(std::string_view name) const;
};

// Why there is no response.
struct ClientFailure {
  enum class Kind : std::uint8_t {
    Unreachable,  // no such host, no listener, no handshake
    Untrusted,    // the server's certificate is not one to believe
    TimedOut,
    Broken,     // the connection ended before the answer was whole
    Malformed,  // the answer was not HTTP, or too large
    Busy,       // too many requests wait already
    Stopped,    // the client is being destroyed
  };

  Kind kind = Kind::Unreachable;
  std::string message;         // "cannot connect to 127.0.0.1:8000: Connection refused"
  bool maybe_handled = false;  // part of the request was sent, so the server may have carried it out
};

// Called once, on the transport's thread; must not block.
using Exchange = Result<ClientResponse, ClientFailure>;
using ExchangeCallback = UniqueFunction<void(Exchange)>;

// Sends requests and keeps time.  An interface, so that a test can be the network and the clock.  Thread-safe.
//
// Destroying it answers everything outstanding, with Stopped, before the destructor returns; that must not happen on
// the transport's own thread.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual void send(const Origin& origin, ClientRequest request, ExchangeCallback done) = 0;
  // Calls `then` on the transport's thread when the delay is over, or at once when the transport is being destroyed.
  virtual void after(std::chrono::milliseconds delay, UniqueFunction<void()> then) = 0;
};

struct ClientOptions {
  std::string ca_file = {};  // certificates in PEM form that are trusted besides the system's

  // Of one origin.
  std::size_t connections = 50;
  std::size_t waiting = 10'000;  // requests for which no connection is free; more fail

  // Of one response; more is a failure.
  std::size_t header_bytes = 16 << 10;
  std::size_t header_count = 100;
  std::size_t body_bytes = 32 << 20;

  std::chrono::milliseconds connect_timeout{5'000};  // finding the address, connecting and the TLS handshake together
  std::chrono::milliseconds timeout{30'000};         // from send() to the last byte of the response
  std::chrono::milliseconds idle_timeout{30'000};    // how long an unused connection is kept
};

// An HTTP/1.1 client on one thread of its own: connections are kept and used again, one request at a time on each.
//
// With TLS (1.2 or 1.3) the server's certificate must be for its host and lead to a trusted root; there is no way to
// turn that off.  Redirects are answers like any other.  Nothing is logged.  docs/internals/remote.md.
class Client final : public Transport {
 public:
  // Errors: Usage (a CA file that cannot be read).
  static Result<std::unique_ptr<Client>> start(const ClientOptions& options);
  ~Client() override;

  void send(const Origin& origin, ClientRequest request, ExchangeCallback done) override;
  void after(std::chrono::milliseconds delay, UniqueFunction<void()> then) override;

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace stator::http
