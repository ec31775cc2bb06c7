#pragma once

#include <cstddef>
#include <deque>
#include <thread>
#include <vector>

#include "stator/base/mutex.h"
#include "stator/base/semaphore.h"
#include "stator/base/unique_function.h"

namespace stator::app {

// Threads for work that waits: event loops must not.  A job goes to the thread that ran out of work last, so that a few
// threads with warm caches do what few threads can do.  Bounded: beyond `queue` waiting jobs, further ones are refused
// at once.  Thread-safe; the destructor finishes what was taken.
class WorkerPool {
 public:
  using Job = UniqueFunction<void()>;

  WorkerPool(std::size_t threads, std::size_t queue);
  ~WorkerPool();

  // False, and `job` is still the caller's, when the queue is full.
  bool submit(Job& job);

 private:
  struct Worker {
    Semaphore woken;
    Job job;  // set before it is woken; none means the end
  };

  void work(Worker& self);
  // What to do next; without a job, when there is no more.
  Job next_job(Worker& self);

  const std::size_t queue_;
  std::vector<Worker> workers_;
  Mutex mutex_;
  std::deque<Job> waiting_ GUARDED_BY(mutex_);    // only while no worker is idle
  std::vector<Worker*> idle_ GUARDED_BY(mutex_);  // the last to become idle is the first to work again
  bool ending_ GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> threads_;  // last: joined before anything they use is destroyed
};

}  // namespace stator::app
