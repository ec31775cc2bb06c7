#pragma once

#include <csignal>

namespace stator::server {

// Turns SIGINT and SIGTERM into something to wait for.
//
// Construct it in the main thread before any other thread starts: threads inherit the mask that keeps the signals for
// us. A second signal, while the server is stopping after the first, ends the process at once: what was answered is
// durable anyway.  SIGPIPE is ignored, as a client that has gone is an error code and not a reason to die.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // Blocks until a signal arrives or request() was called.  The signal's number, or 0.
  int wait();
  // Ends the wait from any thread.
  void request();

 private:
  void restore_mask();

  sigset_t before_{};
  int signals_ = -1;   // a signalfd
  int requests_ = -1;  // an eventfd
  bool masked_ = false;
};

}  // namespace stator::server
