#include "stator/storage/postgres/connection_pool.h"

#include <fmt/format.h>

#include <algorithm>

namespace stator::storage::postgres {

ConnectionPool::ConnectionPool(std::shared_ptr<const Libpq> libpq, ConnectOptions options, std::size_t most,
                               std::shared_ptr<const Clock> clock)
    : libpq_(std::move(libpq)),
      options_(std::move(options)),
      most_(most),
      most_snapshots_(most - std::max<std::size_t>(1, most / 6)),
      clock_(std::move(clock)) {
  STATOR_ASSERT(most >= 2, "one for a snapshot, and one for everybody else");
}

bool ConnectionPool::is_free(Use use) const {
  return used_ < most_ && (use == Use::Short || snapshots_ < most_snapshots_);
}

Result<ConnectionPool::Lease> ConnectionPool::acquire(Use use) {
  const auto deadline = clock_->steady_now() + kPatience;
  for (bool refused = false;; refused = true) {
    std::unique_ptr<Connection> connection;
    {
      MutexLock lock(mutex_);
      // A server that takes no more connections lets those work that there are.
      while (!is_free(use) || (refused && idle_.empty() && used_ > 0)) {
        const auto left = deadline - clock_->steady_now();
        if (left <= std::chrono::nanoseconds(0)) {
          return Error{ErrorCode::Busy, fmt::format("all {} connections to PostgreSQL are in use", most_)};
        }
        clock_->wait_for(returned_, mutex_, left);
      }
      ++used_;
      if (use == Use::Snapshot) ++snapshots_;
      if (!idle_.empty()) {
        connection = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (connection != nullptr) return Lease(*this, std::move(connection), use);
    auto opened = Connection::open(libpq_, options_);
    if (opened) return Lease(*this, std::move(*opened), use);
    give_back(nullptr, use);
    if (!is_refused_as_too_many(opened.error())) return std::move(opened).error();
    if (MutexLock lock(mutex_); idle_.empty() && used_ == 0) return no_more_connections();
  }
}

void ConnectionPool::give_back(std::unique_ptr<Connection> connection, Use use) {
  {
    MutexLock lock(mutex_);
    --used_;
    if (use == Use::Snapshot) --snapshots_;
    if (connection != nullptr && !connection->broken()) idle_.push_back(std::move(connection));
  }
  // Not every waiting thread can use the returned connection.
  returned_.notify_all();
}

ConnectionPool::Usage ConnectionPool::usage() const {
  MutexLock lock(mutex_);
  return {.open = idle_.size() + used_, .used = used_};
}

void ConnectionPool::forget_idle() {
  std::vector<std::unique_ptr<Connection>> idle;
  MutexLock lock(mutex_);
  idle.swap(idle_);
}

}  // namespace stator::storage::postgres
