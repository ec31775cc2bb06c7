#include "stator/app/rest/worker_pool.h"

#include <exception>
#include <utility>

#include "stator/base/log.h"

namespace stator::app {

WorkerPool::WorkerPool(std::size_t threads, std::size_t queue) : queue_(queue), workers_(threads) {
  threads_.reserve(threads);
  for (auto& worker : workers_) {
    threads_.emplace_back([this, &worker] { work(worker); });
  }
}

WorkerPool::~WorkerPool() {
  MutexLock lock(mutex_);
  ending_ = true;
  for (auto* worker : idle_) worker->woken.release();
}

bool WorkerPool::submit(Job& job) {
  Worker* worker = nullptr;
  {
    MutexLock lock(mutex_);
    if (idle_.empty()) {
      if (waiting_.size() >= queue_) return false;
      waiting_.push_back(std::move(job));
      return true;
    }
    worker = idle_.back();
    idle_.pop_back();
    worker->job = std::move(job);
  }
  worker->woken.release();
  return true;
}

void WorkerPool::work(Worker& self) {
  while (auto job = next_job(self)) {
    try {
      job();
    } catch (const std::exception& exception) {
      // One of the edges where exceptions end.  A request that nobody answered is answered 500 as its job is destroyed.
      log::error("job_failed", {{"what", exception.what()}});
    }
  }
}

WorkerPool::Job WorkerPool::next_job(Worker& self) {
  {
    MutexLock lock(mutex_);
    if (!waiting_.empty()) {
      auto job = std::move(waiting_.front());
      waiting_.pop_front();
      return job;
    }
    if (ending_) return {};
    idle_.push_back(&self);
  }
  self.woken.acquire();
  return std::move(self.job);
}

}  // namespace stator::app
