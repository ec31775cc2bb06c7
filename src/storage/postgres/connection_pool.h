#pragma once

#include <memory>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/storage/postgres/connection.h"

namespace stator::storage::postgres {

// A bounded number of connections for readers.  Thread-safe.
class ConnectionPool {
 public:
  enum class Use : std::uint8_t {
    Short,     // for one group of statements
    Snapshot,  // for longer: some connections are kept for short uses, which somebody with a snapshot may wait for
  };

  // A connection for as long as this lives.  Outlived by the pool.
  class Lease {
   public:
    Lease(ConnectionPool& pool, std::unique_ptr<Connection> connection, Use use)
        : pool_(&pool), connection_(std::move(connection)), use_(use) {}
    ~Lease() {
      if (connection_ != nullptr) pool_->give_back(std::move(connection_), use_);
    }
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    bool has_connection() const { return connection_ != nullptr; }  // not after it was moved
    Connection* operator->() const { return connection_.get(); }
    Connection& operator*() const { return *connection_; }

   private:
    ConnectionPool* pool_;
    std::unique_ptr<Connection> connection_;
    Use use_;
  };

  // At least two connections.
  ConnectionPool(std::shared_ptr<const Libpq> libpq, ConnectOptions options, std::size_t most,
                 std::shared_ptr<const Clock> clock);

  // Waits when all are in use, for kPatience at most.  Errors: Busy: they still are, or there is none, and the server
  // takes no more.  Storage: no server answers.
  Result<Lease> acquire(Use use);
  struct Usage {
    std::size_t open = 0, used = 0;
  };
  Usage usage() const;
  // The server has gone or changed: idle connections are closed.
  void forget_idle();

 private:
  static constexpr std::chrono::seconds kPatience{5};

  void give_back(std::unique_ptr<Connection> connection, Use use);
  bool is_free(Use use) const REQUIRES(mutex_);

  const std::shared_ptr<const Libpq> libpq_;
  const ConnectOptions options_;
  const std::size_t most_;
  const std::size_t most_snapshots_;
  const std::shared_ptr<const Clock> clock_;

  mutable Mutex mutex_;
  CondVar returned_;
  std::vector<std::unique_ptr<Connection>> idle_ GUARDED_BY(mutex_);
  std::size_t used_ GUARDED_BY(mutex_) = 0;
  std::size_t snapshots_ GUARDED_BY(mutex_) = 0;
};

}  // namespace stator::storage::postgres
