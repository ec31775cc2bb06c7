#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <thread>

#include "stator/base/mutex.h"
#include "stator/storage/postgres/connection.h"

namespace stator::storage::postgres {

// Opens connections for threads that cannot wait for them.  Thread-safe.  Owns one thread, joined by the destructor.
class Connector {
 public:
  // A connection on its way.
  class Order {
   public:
    // nullopt: not yet.
    std::optional<Result<std::unique_ptr<Connection>>> take() {
      MutexLock lock(mutex_);
      return std::exchange(outcome_, std::nullopt);
    }

   private:
    friend class Connector;
    Mutex mutex_;
    std::optional<Result<std::unique_ptr<Connection>>> outcome_ GUARDED_BY(mutex_);
  };

  Connector(std::shared_ptr<const Libpq> libpq, ConnectOptions options)
      : libpq_(std::move(libpq)),
        options_(std::move(options)),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}
  ~Connector();
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  std::shared_ptr<Order> order();

 private:
  void run(const std::stop_token& stop);

  const std::shared_ptr<const Libpq> libpq_;
  const ConnectOptions options_;

  Mutex mutex_;
  CondVar ordered_;
  std::deque<std::shared_ptr<Order>> orders_ GUARDED_BY(mutex_);

  std::jthread thread_;  // last: joined before anything it uses is destroyed
};

}  // namespace stator::storage::postgres
