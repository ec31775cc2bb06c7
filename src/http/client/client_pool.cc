#include "stator/http/client/client_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace stator::http {
namespace {

using Kind = ClientFailure::Kind;

}  // namespace

ClientPool::ClientPool(Origin origin, const ClientOptions& options, boost::asio::io_context& io,
                       boost::asio::ssl::context& tls)
    : origin_(std::move(origin)), options_(options), io_(io), tls_(tls), waiting_timer_(io.get_executor()) {}

void ClientPool::add(ClientJob job) {
  if (stopped_) return fail(std::move(job), Kind::Stopped, "the client is being stopped");
  waiting_.push_back(std::move(job));
  serve_waiting();
  if (waiting_.size() <= options_.waiting) return;
  auto last = std::move(waiting_.back());
  waiting_.pop_back();
  fail(std::move(last), Kind::Busy,
       fmt::format("{} requests wait for a connection to {} already", waiting_.size(), origin_.url()));
}

void ClientPool::repeat(ClientJob job) {
  job.fresh_only = true;
  waiting_.push_front(std::move(job));
}

// As many as there are connections for.
void ClientPool::serve_waiting() {
  const auto take = [this] {
    auto job = std::move(waiting_.front());
    waiting_.pop_front();
    return job;
  };
  while (!waiting_.empty()) {
    const bool fresh_only = waiting_.front().fresh_only;
    if (!idle_.empty() && !fresh_only) {
      auto* const connection = idle_.back();
      idle_.pop_back();
      connection->use(take());
    } else if (connections_.size() < options_.connections) {
      connections_.push_back(std::make_shared<ClientConnection>(*this, io_, tls_));
      connections_.back()->connect(take());
    } else if (!idle_.empty()) {
      return idle_.front()->stop();  // which comes back here, with room for a fresh one
    } else {
      break;
    }
  }
  watch_waiting();
}

// All waiting requests have the same timeout, so the first one expires first.
void ClientPool::watch_waiting() {
  if (waiting_.empty()) return;
  waiting_timer_.expires_at(waiting_.front().deadline);
  waiting_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) drop_expired();
  });
}

void ClientPool::drop_expired() {
  const auto now = std::chrono::steady_clock::now();
  while (!waiting_.empty() && waiting_.front().deadline <= now) {
    auto job = std::move(waiting_.front());
    waiting_.pop_front();
    fail(std::move(job), Kind::TimedOut,
         fmt::format("no connection to {} was free within {} ms", origin_.url(), options_.timeout.count()));
  }
  watch_waiting();
}

void ClientPool::on_idle(ClientConnection& connection) {
  idle_.push_back(&connection);
  serve_waiting();
}

void ClientPool::on_closed(ClientConnection& connection) {
  std::erase(idle_, &connection);
  std::erase_if(connections_, [&](const auto& held) { return held.get() == &connection; });
  if (!stopped_) serve_waiting();
}

void ClientPool::stop() {
  stopped_ = true;
  waiting_timer_.cancel();
  for (auto& job : std::exchange(waiting_, {})) fail(std::move(job), Kind::Stopped, "the client is being stopped");
  const auto connections = connections_;  // each takes itself out of the list
  for (const auto& connection : connections) connection->stop();
}

void ClientPool::fail(ClientJob job, Kind kind, std::string message) {
  const bool maybe_handled = job.fresh_only;
  job.done(ClientFailure{.kind = kind, .message = std::move(message), .maybe_handled = maybe_handled});
}

}  // namespace stator::http
