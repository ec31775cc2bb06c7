#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stator/base/clock.h"
#include "stator/base/event_loop.h"
#include "stator/base/result.h"
#include "stator/http/message/message.h"

namespace stator::http {

class Connection;
class ConnectionLimits;
class TlsContext;

// Tells whether the client of a request has gone, so that its answer is useless.  Noticed within a second or two; for
// long work to look at.  Thread-safe.
class ClientWatch {
 public:
  explicit ClientWatch(Connection* connection);  // may be null
  ClientWatch(const ClientWatch& other) : ClientWatch(other.connection_) {}
  ClientWatch& operator=(const ClientWatch&) = delete;
  ~ClientWatch();
  bool has_gone() const;

 private:
  Connection* const connection_;
};

// Answers one request, once, from any thread.  Dropped unanswered, it answers 500.
//
// It keeps the request's bytes alive.  If the client has gone or the server has stopped, the answer is dropped; a
// Responder may outlive its Server.
class Responder {
 public:
  Responder() = default;  // belongs to no request; only to be assigned to
  Responder(Responder&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
  Responder& operator=(Responder&& other) noexcept;
  ~Responder() {
    if (connection_ != nullptr) abandon();
  }

  // The request that this answers is invalid from here on, except inside Handler::handle() until it returns.
  void send(Response response);

  ClientWatch watch() const { return ClientWatch(connection_); }
  // The event loop of the thread on which the request arrived, for use on that thread.
  EventLoop& loop() const;

 private:
  friend class Connection;
  explicit Responder(Connection* connection) : connection_(connection) {}  // takes over one reference
  void abandon();

  Connection* connection_ = nullptr;
};

// The decision about a request of which only the head has arrived.
struct Admission {
  std::optional<Response> refusal = {};  // answered now; the body is not read, and the connection is closed
  std::size_t body_bytes = SIZE_MAX;     // beyond this the body is refused, if ServerOptions does not refuse it before
};

// Handles the requests of a server.  Called on all I/O threads at once, so it is thread-safe.
class Handler {
 public:
  virtual ~Handler() = default;

  // Answers now, or later from any thread.  Long work belongs on another thread: until it returns, the other
  // connections of this I/O thread wait.  An exception answers 500.
  virtual void handle(const Request& request, Responder responder) = 0;

  // Called when a request's head has arrived and its body needs more room than an idle connection has, so that a
  // request that its head forbids costs no body.  `head` has no body yet.  A small request goes to handle() at once,
  // which therefore checks the same.
  virtual Admission admit(const Request& head);

  // The answer to bytes that never became a request: malformed, too large, too slow, or over a limit.  The connection
  // is closed behind it.  `reason` is one line of text.
  virtual Response refuse(int status, std::string_view reason);
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8000;  // 0: the system picks a free one
  int threads = 0;            // I/O threads, each with its own event loop; 0: one per core

  // Of one request; more is answered 414, 431 or 413.
  std::size_t header_bytes = 16 << 10;  // request line and headers together
  std::size_t header_count = 100;
  std::size_t target_bytes = 8 << 10;
  std::size_t body_bytes = 17 << 20;

  // Of the whole server; more is answered 503.
  std::size_t connections = 10'000;
  ConnectionLimits* limits = nullptr;  // in place of `connections`, for several servers together.  Outlives the server.
  // For memory beyond 4 KB per connection: requests that are being received or handled, and answers to slow clients,
  // whose connections are closed if it is exhausted.  Outlives the server and all its Responders; null: the server has
  // one of buffered_bytes.
  MemoryBudget* memory = nullptr;
  std::size_t buffered_bytes = 256 << 20;

  // All are kept by one coarse timer, so they may be late by up to two ticks.
  std::chrono::milliseconds idle_timeout{60'000};  // between requests; closes silently
  std::chrono::milliseconds request_timeout{
      30'000};  // from the first byte of a request's head to its last; answers 408.  Also for a TLS handshake; closes
  std::chrono::milliseconds body_timeout{10'000};   // for each 256 KB of a body, or its rest; answers 408
  std::chrono::milliseconds write_timeout{30'000};  // for each 64 KB of an answer; closes
  std::chrono::milliseconds linger_timeout{5'000};  // for reading and dropping the rest of a refused request
  std::chrono::milliseconds tick{1'000};
  // After the process was stopped for so long, requests of clients that have gone meanwhile are dropped.
  std::chrono::milliseconds standstill{30'000};

  const TlsContext* tls = nullptr;  // null: plain HTTP.  Outlives the server.
  const Clock* clock = nullptr;     // for the Date header; null: the system's.  Outlives the server.
};

struct ServerStatistics {
  std::uint64_t connections_open = 0;
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_refused = 0;  // over a limit
  std::uint64_t requests = 0;             // given to the handler
  std::uint64_t requests_refused = 0;     // answered by Handler::refuse
  std::uint64_t timeouts = 0;             // of any kind
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t buffered_bytes = 0;  // see ServerOptions
};

// An HTTP/1.1 server: event loops, one per thread, each with a listening socket of its own.
//
// The requests of one connection are handled one after another and answered in order; answers that are ready together
// leave in one write.  While a request is being handled, its connection reads nothing more.  docs/internals/http.md.
class Server {
 public:
  // Listens, and serves until stop().  The handler outlives the server.  Errors: Usage (port in use, unknown host),
  // Busy.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, Handler& handler);
  ~Server();  // stop(0)

  std::uint16_t port() const { return port_; }

  // Stops accepting, closes idle connections, gives requests that have begun `grace` to finish, then closes the rest
  // and joins the threads.  Call it from one thread, which is not an I/O thread; a second call does nothing.
  void stop(std::chrono::milliseconds grace);

  ServerStatistics statistics() const;  // thread-safe

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl, std::uint16_t port);

  std::unique_ptr<Impl> impl_;
  std::uint16_t port_;
};

}  // namespace stator::http
