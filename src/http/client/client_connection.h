#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "stator/http/client/client.h"
#include "stator/http/client/response_parser.h"

namespace stator::http {

class ClientPool;

using ClientExecutor = boost::asio::io_context::executor_type;
using ClientTimer =
    boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
                                      ClientExecutor>;

// A request on its way to an answer.
struct ClientJob {
  std::shared_ptr<const ClientRequest> request;  // shared with a write that is still pending
  ExchangeCallback done;
  std::chrono::steady_clock::time_point deadline;
  bool fresh_only = false;  // a kept connection has failed it once already
};

// One connection to a server: it carries one job at a time, and between jobs it is kept by its pool.
//
// A read is pending from the moment it is connected, so that it is noticed if a server closes an idle connection.
// Confined to the client's thread.  Pending operations share its ownership.
class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
 public:
  ClientConnection(ClientPool& pool, boost::asio::io_context& io, boost::asio::ssl::context& tls);

  void connect(ClientJob job);  // with the first job
  void use(ClientJob job);      // idle, and with another one
  void stop();                  // closes it; a job fails

 private:
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, ClientExecutor>;
  using Resolver = boost::asio::ip::basic_resolver<boost::asio::ip::tcp, ClientExecutor>;
  using Error = boost::system::error_code;

  void connect_to(const Resolver::results_type& addresses);
  void shake_hands();
  void fail_handshake(const Error& error);
  void start_job();
  void read();
  void on_read(const Error& error, std::size_t bytes);
  void on_end(const Error& error);
  void finish();
  void keep();
  void expire_at(std::chrono::steady_clock::time_point deadline);
  void on_deadline();
  void fail(ClientFailure::Kind kind, std::string message);
  void end();

  ClientPool& pool_;
  Socket socket_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;  // nothing: plain
  Resolver resolver_;
  ClientTimer timer_;
  std::chrono::steady_clock::time_point deadline_;

  std::optional<ClientJob> job_;  // nothing: idle
  bool connected_ = false;
  bool used_before_ = false;  // by another job than this one
  bool writing_ = false;
  bool closed_ = false;

  std::string head_;  // of the request
  std::string in_;
  std::size_t received_ = 0;  // bytes of in_
  ResponseParser parser_;
};

}  // namespace stator::http
