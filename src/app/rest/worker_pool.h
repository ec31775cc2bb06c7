#pragma once

#include <cstddef>
#include <deque>
#include <thread>
#include <vector>

#include "stator/base/mutex.h"
#include "stator/base/semaphore.h"
#include "stator/base/unique_function.h"

namespace stator::app {

// Threads for jobs that wait, because event loops must not wait.  A job goes to the thread that became idle last, so
// light load is served by few threads with warm caches.  A thread starts when a job comes and no thread is idle.
// Bounded: when `queue` jobs wait, further jobs are refused at once.  Thread-safe; the destructor finishes the accepted
// jobs.
class WorkerPool {
 public:
  using Job = UniqueFunction<void()>;

  WorkerPool(std::size_t threads, std::size_t queue);
  ~WorkerPool();

  // False, and `job` is still the caller's, when the queue is full, the system has no thread, or the pool is being
  // destroyed.
  bool submit(Job& job);

 private:
  struct Worker {
    Semaphore woken;
    Job job;  // set before it is woken; none means the end
  };

  // False, and `job` is still the caller's, when all threads run or the system has none.
  bool start_thread(Job& job) REQUIRES(mutex_);
  void work(Worker& self);
  // The next job; an empty one means the end.
  Job next_job(Worker& self);

  const std::size_t queue_;
  std::vector<Worker> workers_;
  Mutex mutex_;
  std::deque<Job> waiting_ GUARDED_BY(mutex_);    // only while no worker is idle
  std::vector<Worker*> idle_ GUARDED_BY(mutex_);  // the last to become idle is the first to work again
  bool ending_ GUARDED_BY(mutex_) = false;
  // Last: joined before anything they use is destroyed.  Guarded by mutex_ until then.
  std::vector<std::jthread> threads_;
};

}  // namespace stator::app
