#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace stator {

// Lets other threads go before this one from now on.  `niceness` goes to 19; it is set once in a thread.
inline void lower_priority(int niceness) {
  thread_local const int done = ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), niceness);
  static_cast<void>(done);
}

}  // namespace stator
