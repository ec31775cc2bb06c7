#include "stator/app/worker_pool.h"

#include <cstddef>
#include <utility>

namespace stator::app {

WorkerPool::WorkerPool(std::size_t threads, std::size_t queue) : queue_(queue) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

WorkerPool::~WorkerPool() { arrived_.release(static_cast<std::ptrdiff_t>(threads_.size())); }

bool WorkerPool::submit(Job& job) {
  {
    MutexLock lock(mutex_);
    if (waiting_.size() >= queue_) return false;
    waiting_.push_back(std::move(job));
  }
  arrived_.release();
  return true;
}

void WorkerPool::work() {
  for (;;) {
    Job job;
    arrived_.acquire();
    {
      MutexLock lock(mutex_);
      if (waiting_.empty()) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
    }
    job();
  }
}

}  // namespace stator::app
