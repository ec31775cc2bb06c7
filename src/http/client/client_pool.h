#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "stator/http/client/client.h"
#include "stator/http/client/client_connection.h"
#include "stator/http/origin.h"

namespace stator::http {

// The connections to one origin, and the jobs that wait for one.  Confined to the client's thread.
class ClientPool {
 public:
  // All but the origin outlive the pool.
  ClientPool(Origin origin, const ClientOptions& options, boost::asio::io_context& io, boost::asio::ssl::context& tls);

  void add(ClientJob job);
  // Everything outstanding fails, and so does everything that comes.
  void stop();

  // For connections.
  const Origin& origin() const { return origin_; }
  const ClientOptions& options() const { return options_; }
  void on_idle(ClientConnection& connection);
  void on_closed(ClientConnection& connection);
  // The connection turned out to be stale; the job goes first, on a fresh one.
  void repeat(ClientJob job);

 private:
  void serve_waiting();
  void watch_waiting();
  void drop_expired();
  static void fail(ClientJob job, ClientFailure::Kind kind, std::string message);

  const Origin origin_;
  const ClientOptions& options_;
  boost::asio::io_context& io_;
  boost::asio::ssl::context& tls_;

  std::vector<std::shared_ptr<ClientConnection>> connections_;
  std::vector<ClientConnection*> idle_;  // the latest last: the first ones time out first
  std::deque<ClientJob> waiting_;        // in the order of their deadlines
  ClientTimer waiting_timer_;
  bool stopped_ = false;
};

}  // namespace stator::http
