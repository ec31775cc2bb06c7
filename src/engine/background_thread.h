#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace stator::engine {

// A thread for work that can wait.  What did not succeed is tried again after a while.
//
// Thread-safe.  The thread is started when there is something to do, and joined by stop() or the destructor.
class BackgroundThread {
 public:
  // `work` does all that there is to do; false: it is to be tried again.
  explicit BackgroundThread(std::function<bool()> work) : work_(std::move(work)) {}
  ~BackgroundThread() { stop(); }
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  // There is something to do.  If the system has no thread for it, a warning is logged, and try_again() starts one.
  void wake();
  void try_again();
  // Waits until the work ends, which asks stopping() now and then.
  void stop();
  bool stopping();

 private:
  static constexpr std::chrono::seconds kRetryInterval{1};

  void start();  // with the mutex held
  void run();

  const std::function<bool()> work_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool wanted_ = false;
  bool stopping_ = false;

  std::thread thread_;
};

}  // namespace stator::engine
