#pragma once

#include <cstddef>
#include <deque>
#include <semaphore>
#include <thread>
#include <vector>

#include "stator/base/mutex.h"
#include "stator/base/unique_function.h"

namespace stator::app {

// Threads for work that waits: event loops must not.  Bounded: beyond `queue` waiting jobs, further ones are not taken, so that
// whoever asked hears it at once.  Thread-safe; the destructor finishes what was taken.
class WorkerPool {
 public:
  using Job = UniqueFunction<void()>;

  WorkerPool(std::size_t threads, std::size_t queue);
  ~WorkerPool();

  // False, and `job` is still the caller's, when the queue is full.
  bool submit(Job& job);

 private:
  void work();

  const std::size_t queue_;
  std::counting_semaphore<> arrived_{0};  // one for each waiting job, and at the end one for each thread
  Mutex mutex_;
  std::deque<Job> waiting_ GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;  // last: joined before anything they use is destroyed
};

}  // namespace stator::app
