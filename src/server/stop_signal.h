#pragma once

#include <chrono>
#include <csignal>
#include <optional>

namespace stator::server {

// Turns SIGINT, SIGTERM and SIGHUP into something to wait for.
//
// SIGHUP asks a server to look at its keys and certificates again.  When the terminal that it was started from is gone,
// it means that the terminal was closed, and is reported as SIGTERM.
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

  // Blocks until a signal arrives or request() was called, but not for longer than this.  The signal's number, or 0, or
  // nothing when the time is over.
  std::optional<int> wait_for(std::chrono::milliseconds time);
  int wait();  // for as long as it takes
  // From now on, the end of the process that started this one is told as SIGTERM.  False when it cannot be watched:
  // it is in another container, or the kernel is older than 5.3.
  bool follow_parent();
  // Ends the wait from any thread.
  void request();

 private:
  std::optional<int> wait_milliseconds(int milliseconds);
  void restore_mask();

  sigset_t before_{};
  int signals_ = -1;   // a signalfd
  int requests_ = -1;  // an eventfd
  int parent_ = -1;    // a pidfd; -1: not followed
  bool masked_ = false;
  bool had_terminal_ = false;
};

}  // namespace stator::server
