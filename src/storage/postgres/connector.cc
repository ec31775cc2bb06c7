#include "stator/storage/postgres/connector.h"

namespace stator::storage::postgres {

Connector::~Connector() {
  {
    MutexLock lock(mutex_);
    thread_.request_stop();
  }
  ordered_.notify_all();
}

std::shared_ptr<Connector::Order> Connector::order() {
  auto order = std::make_shared<Order>();
  {
    MutexLock lock(mutex_);
    orders_.push_back(order);
  }
  ordered_.notify_one();
  return order;
}

void Connector::run(const std::stop_token& stop) {
  for (;;) {
    std::shared_ptr<Order> order;
    {
      MutexLock lock(mutex_);
      while (orders_.empty() && !stop.stop_requested()) ordered_.wait(mutex_);
      if (stop.stop_requested()) return;
      order = std::move(orders_.front());
      orders_.pop_front();
    }
    if (order.use_count() == 1) continue;  // nobody waits for it any more
    auto opened = Connection::open(libpq_, options_);
    MutexLock lock(order->mutex_);
    order->outcome_ = std::move(opened);
  }
}

}  // namespace stator::storage::postgres
