#pragma once

#include <semaphore.h>

namespace stator {

// A counting semaphore that wakes one thread for one release and sleeps when it has to wait.  libstdc++ 12's wakes all
// that wait, and spins before it sleeps: with 64 waiting threads that was most of a request's processor time.
class Semaphore {
 public:
  Semaphore() { ::sem_init(&semaphore_, 0, 0); }
  ~Semaphore() { ::sem_destroy(&semaphore_); }
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  void release() { ::sem_post(&semaphore_); }
  void acquire() {
    while (::sem_wait(&semaphore_) != 0) {  // a signal was handled
    }
  }

 private:
  ::sem_t semaphore_;
};

}  // namespace stator
