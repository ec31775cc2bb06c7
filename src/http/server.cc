#include "stator/http/server.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <system_error>
#include <thread>
#include <vector>

#include "stator/base/assert.h"
#include "stator/http/connection.h"
#include "stator/http/loop.h"

namespace stator::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

constexpr int kBacklog = 4096;

Result<asio::ip::address> find_address(const std::string& host) {
  error_code error;
  auto address = asio::ip::make_address(host, error);
  if (!error) return address;
  asio::io_context io;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(host, "", error);
  if (error || found.empty()) return Error{ErrorCode::Usage, fmt::format("cannot find the host {}", host)};
  return found.begin()->endpoint().address();
}

Error listen_error(const tcp::endpoint& endpoint, const error_code& error) {
  if (error == asio::error::address_in_use) {
    return {ErrorCode::Usage, fmt::format("port {} is already in use", endpoint.port())};
  }
  return {ErrorCode::Usage, fmt::format("cannot listen on {} port {}: {}", endpoint.address().to_string(),
                                        endpoint.port(), error.message())};
}

enum class Bind : std::uint8_t { Exclusive, Joining };

// SO_REUSEPORT lets every loop have its own listening socket, but would also let a second server take a share of our
// connections unnoticed.  So the first socket binds without it, which fails if anybody else is there, and sets it then.
Result<void> bind_socket(Loop::Acceptor& acceptor, const tcp::endpoint& endpoint, Bind how) {
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error && how == Bind::Joining) acceptor.set_option(ReusePort(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error && how == Bind::Exclusive) acceptor.set_option(ReusePort(true), error);
  if (error) return listen_error(endpoint, error);
  return {};
}

int thread_count(const ServerOptions& options) {
  return options.threads > 0 ? options.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

struct Server::Impl {
  std::shared_ptr<Shared> shared;
  std::vector<std::shared_ptr<Loop>> loops;
  std::vector<std::thread> threads;

  void stop(std::chrono::milliseconds grace) {
    // A loop without a thread has nothing to stop.
    for (std::size_t i = 0; i < threads.size(); ++i) loops[i]->stop(grace);
    for (auto& thread : threads) thread.join();
    threads.clear();
  }
};

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, Handler& handler) {
  tcp::endpoint endpoint(TRY(find_address(options.host)), options.port);
  auto impl = std::make_unique<Impl>();
  impl->shared = std::make_shared<Shared>(options);
  error_code error;
  for (int i = 0; i < thread_count(options); ++i) {
    auto& loop = impl->loops.emplace_back(std::make_shared<Loop>(impl->shared, handler));
    TRY(bind_socket(loop->acceptor(), endpoint, i == 0 ? Bind::Exclusive : Bind::Joining));
    endpoint = loop->acceptor().local_endpoint(error);
    if (error) return listen_error(endpoint, error);
  }
  for (auto& loop : impl->loops) {
    impl->shared->loops.push_back(loop.get());
    loop->acceptor().listen(kBacklog, error);
    if (error) return listen_error(endpoint, error);
  }
  try {
    for (std::size_t i = 0; i < impl->loops.size(); ++i) {
      auto& thread = impl->threads.emplace_back([loop = impl->loops[i]] { loop->run(); });
      pthread_setname_np(thread.native_handle(), fmt::format("http-{}", i).c_str());
    }
  } catch (const std::system_error& e) {
    impl->stop(std::chrono::milliseconds(0));
    return Error{ErrorCode::Busy, fmt::format("cannot start a thread: {}", e.what())};
  }
  return std::unique_ptr<Server>(new Server(std::move(impl), endpoint.port()));
}

Server::Server(std::unique_ptr<Impl> impl, std::uint16_t port) : impl_(std::move(impl)), port_(port) {}

Server::~Server() { stop(std::chrono::milliseconds(0)); }

void Server::stop(std::chrono::milliseconds grace) { impl_->stop(grace); }

ServerStatistics Server::statistics() const {
  ServerStatistics sum;
  for (const auto& loop : impl_->loops) {
    const LoopCounters& counters = std::as_const(*loop).counters();
    sum.connections_accepted += counters.accepted.get();
    sum.connections_refused += counters.refused.get();
    sum.requests += counters.requests.get();
    sum.requests_refused += counters.requests_refused.get();
    sum.timeouts += counters.timeouts.get();
    sum.bytes_received += counters.bytes_received.get();
    sum.bytes_sent += counters.bytes_sent.get();
  }
  sum.connections_open = impl_->shared->connections.load(std::memory_order_relaxed);
  sum.buffered_bytes = impl_->shared->memory.used();
  return sum;
}

Responder& Responder::operator=(Responder&& other) noexcept {
  if (this != &other) {
    if (connection_ != nullptr) abandon();
    connection_ = std::exchange(other.connection_, nullptr);
  }
  return *this;
}

void Responder::send(Response response) {
  STATOR_ASSERT(connection_ != nullptr, "a request is answered once");
  std::exchange(connection_, nullptr)->answer(std::move(response));
}

EventLoop& Responder::loop() const { return connection_->loop(); }

ClientWatch::ClientWatch(Connection* connection) : connection_(connection) {
  if (connection_ != nullptr) connection_->retain();
}

ClientWatch::~ClientWatch() {
  if (connection_ != nullptr) connection_->release();
}

bool ClientWatch::has_gone() const { return connection_ != nullptr && connection_->abandoned(); }

void Responder::abandon() {
  Response response;
  response.status = 500;
  response.content_type = "text/plain; charset=utf-8";
  response.body = "the request was not answered\n";
  send(std::move(response));
}

Admission Handler::admit(const Request& /*head*/) { return {}; }

Response Handler::refuse(int status, std::string_view reason) {
  Response response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = fmt::format("{}\n", reason);
  return response;
}

}  // namespace stator::http
