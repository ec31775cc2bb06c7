#pragma once

#include <array>
#include <atomic>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "stator/http/message/message.h"
#include "stator/http/message/parser.h"
#include "stator/http/message/read_buffer.h"
#include "stator/http/server.h"
#include "stator/http/tls.h"

namespace stator::http {

class Loop;

// The concrete executor: the type-erased default costs more than the parser.
using Executor = boost::asio::io_context::executor_type;
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
using SteadyTime = std::chrono::steady_clock::time_point;

// One client.  A round of process() parses and handles the received bytes, collects the answers, writes them, and reads
// on.
//
// Confined to its loop's thread, except for answer() and the reference count.  References are held by the loop's list
// until close(), by each pending read or write, and by the Responder of a request in flight.
class Connection {
 public:
  Connection(std::shared_ptr<Loop> loop, Socket socket, boost::asio::ip::address client);  // with one reference
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // `objection`: why there may not be another connection; empty if there may.
  void start(std::string_view objection);
  // The answer to the request in flight has arrived on the loop's thread.
  void on_answer(Response response);
  // The deadline may have passed.
  void sweep(SteadyTime now);
  // The server stops: closes if no request has begun.
  void drain();
  void close();
  Loop& loop() const { return *loop_; }

  // From any thread; takes over the Responder's reference.
  void answer(Response response);
  // From any thread, while a request is in flight: the client has closed the connection.  Noticed within a tick.
  bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }

  bool over_limit() const { return over_limit_; }
  const boost::asio::ip::address& client() const { return client_; }

 private:
  friend class Loop;
  struct OnRead;
  struct OnWrite;
  struct OnReadable;
  struct OnWritable;

  void process();
  void flush_and_wait();
  bool next_request();
  void dispatch();
  void finish_request();
  bool admitted();
  void refuse(int status, std::string_view reason);
  void refuse_with(Response response);
  void append_response(Response& response, const ResponseContext& context);

  void read_more();
  void start_read();
  void on_read(const boost::system::error_code& error, std::size_t bytes);
  void on_readable(const boost::system::error_code& error);
  bool flush();
  std::size_t write_some(boost::system::error_code& error);
  void wait_to_write();
  std::array<boost::asio::const_buffer, 2> unwritten() const;
  void on_write(const boost::system::error_code& error, std::size_t bytes);
  void finish_closing();

  std::atomic<int> references_ = 1;
  std::atomic<bool> abandoned_ = false;
  bool over_limit_ = false;

  const std::shared_ptr<Loop> loop_;  // declared before the socket, which lives in the loop's io_context
  Socket socket_;
  const boost::asio::ip::address client_;
  const std::string client_text_;
  std::unique_ptr<TlsSession> tls_;  // null: plain
  SteadyTime deadline_ = SteadyTime::max();

  // Received.  [begin_, end_) of the buffer is not yet answered.
  ReadBuffer in_;
  std::size_t begin_ = 0, end_ = 0;
  Parser parser_;
  Request request_;
  bool reading_ = false;        // a read is pending and owns the buffer
  bool request_begun_ = false;  // the deadline for receiving it is running
  bool continue_sent_ = false;
  bool head_admitted_ = false;       // the handler has seen the head and lets the body come
  std::size_t body_pace_bytes_ = 0;  // of the body, received since the deadline was set
  bool handshake_done_ = false;      // with TLS: the deadline of the handshake is over
  bool in_flight_ = false;           // the handler has the request
  std::optional<Response> answer_;

  // To be sent: out_ and then large_body_, written_ bytes of which are gone.
  std::string out_;
  std::string large_body_;
  MemoryClaim large_body_memory_;
  std::size_t written_ = 0;
  TlsSession::Status write_wants_ = TlsSession::Status::WantsWrite;  // the readiness that a blocked TLS write needs
  bool writing_ = false;                                             // a write is pending and owns both
  MemoryClaim stalled_;          // bytes without another claim, kept because the client is slow
  std::size_t paced_bytes_ = 0;  // taken by the client since the deadline was set

  bool closing_ = false;  // nothing more is handled; close when all is written
  bool linger_ = false;   // first drop what the client still sends, because a reset could destroy the answer
  bool lingering_ = false;
  std::size_t lingered_bytes_ = 0;
  bool closed_ = false;

  // The loop's list.
  Connection* previous_ = nullptr;
  Connection* next_ = nullptr;
};

// A counted reference.
class ConnectionRef {
 public:
  explicit ConnectionRef(Connection& connection) : connection_(&connection) { connection.retain(); }
  static ConnectionRef adopt(Connection& connection) { return ConnectionRef(&connection); }
  ConnectionRef(ConnectionRef&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
  ConnectionRef& operator=(ConnectionRef&& other) noexcept {
    std::swap(connection_, other.connection_);
    return *this;
  }
  ~ConnectionRef() {
    if (connection_ != nullptr) connection_->release();
  }
  Connection* operator->() const { return connection_; }

 private:
  explicit ConnectionRef(Connection* connection) : connection_(connection) {}
  Connection* connection_;
};

}  // namespace stator::http
