#pragma once

#include <condition_variable>
#include <mutex>

// Clang checks these; other compilers see nothing.
#if defined(__clang__)
#define STATOR_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define STATOR_THREAD_ANNOTATION(x)
#endif
#define CAPABILITY(x) STATOR_THREAD_ANNOTATION(capability(x))
#define SCOPED_CAPABILITY STATOR_THREAD_ANNOTATION(scoped_lockable)
#define GUARDED_BY(x) STATOR_THREAD_ANNOTATION(guarded_by(x))
#define REQUIRES(...) STATOR_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) STATOR_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASE(...) STATOR_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) STATOR_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS STATOR_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace stator {

class CondVar;

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }
  bool try_lock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits with the mutex held by the caller; spurious wake-ups happen, so loop on the condition.
class CondVar {
 public:
  void wait(Mutex& mutex) REQUIRES(mutex) {
    std::unique_lock held(mutex.mutex_, std::adopt_lock);
    condition_.wait(held);
    held.release();
  }
  template <typename Duration>
  void wait_for(Mutex& mutex, Duration duration) REQUIRES(mutex) {
    std::unique_lock held(mutex.mutex_, std::adopt_lock);
    condition_.wait_for(held, duration);
    held.release();
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace stator
