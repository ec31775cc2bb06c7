#include "stator/app/rest/worker_pool.h"

#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "stator/base/log.h"

namespace stator::app {

WorkerPool::WorkerPool(std::size_t threads, std::size_t queue) : queue_(queue), workers_(threads) {
  threads_.reserve(threads);
}

WorkerPool::~WorkerPool() {
  MutexLock lock(mutex_);
  ending_ = true;  // from now on no thread starts, and none becomes idle
  for (auto* worker : std::exchange(idle_, {})) worker->woken.release();
}

bool WorkerPool::submit(Job& job) {
  Worker* worker = nullptr;
  {
    MutexLock lock(mutex_);
    if (ending_) return false;
    if (idle_.empty()) {
      if (start_thread(job)) return true;
      if (threads_.empty() || waiting_.size() >= queue_) return false;
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

bool WorkerPool::start_thread(Job& job) {
  if (threads_.size() == workers_.size()) return false;
  auto& worker = workers_[threads_.size()];
  worker.job = std::move(job);
  try {
    threads_.emplace_back([this, &worker] { work(worker); });
    return true;
  } catch (const std::system_error& error) {  // from a library: there are too many threads in this system
    job = std::move(worker.job);
    static log::Limit lines(5, std::chrono::seconds(1));  // every request tries again
    if (const auto left_out = lines.admit()) {
      log::error("no_thread", {{"what", error.what()}, {"left_out", *left_out}});
    }
    return false;
  }
}

void WorkerPool::work(Worker& self) {
  for (auto job = std::move(self.job); job; job = next_job(self)) {
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
