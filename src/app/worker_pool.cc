#include "stator/app/worker_pool.h"

#include <utility>

namespace stator::app {

WorkerPool::WorkerPool(std::size_t threads, std::size_t queue) : queue_(queue) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

WorkerPool::~WorkerPool() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_all();
}

bool WorkerPool::submit(Job& job) {
  {
    MutexLock lock(mutex_);
    if (waiting_.size() >= queue_) return false;
    waiting_.push_back(std::move(job));
  }
  arrived_.notify_one();
  return true;
}

void WorkerPool::work() {
  for (;;) {
    Job job;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) arrived_.wait(mutex_);
      if (waiting_.empty()) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
    }
    job();
  }
}

}  // namespace stator::app
