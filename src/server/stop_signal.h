#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <stop_token>
#include <thread>

namespace stator::server {

// Turns SIGINT, SIGTERM and SIGHUP into something to wait for.
//
// SIGHUP asks a server to look at its keys and certificates again.  When the terminal that it was started from is gone,
// it means that the terminal was closed, and is reported as SIGTERM.
//
// Construct it in the main thread before any other thread starts: threads inherit the mask that keeps the signals for
// us. A second signal, while the server is stopping after the first, ends the process at once: answered writes are
// durable anyway.  A SIGHUP while it is stopping is ignored.  SIGPIPE is ignored, as a client that has gone is an error
// code and not a reason to die.
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
  // From now on, the end of the process that started this one is told as SIGTERM; at once when it has gone already.
  // `parent`: the result of getppid() at the start.  False when it cannot be watched: it is in another container, or
  // the kernel is older than 5.3.
  bool follow_parent(pid_t parent);
  // Ends the wait from any thread.
  void request();

 private:
  friend class StopWatch;
  // Whether there is something that wait() will tell as a reason to stop.
  bool is_stop_pending() const;
  std::optional<int> wait_milliseconds(int milliseconds);
  void restore_mask();

  sigset_t before_{};
  int signals_ = -1;   // a signalfd
  int requests_ = -1;  // an eventfd
  int parent_ = -1;    // a pidfd; -1: not followed
  bool masked_ = false;
  bool had_terminal_ = false;
};

// Requests a stop as soon as a signal asks for one, so that a long start ends before anybody waits for the signal.
// The signal stays for StopSignal::wait().  Owns a thread, joined by the destructor.
class StopWatch {
 public:
  explicit StopWatch(const StopSignal& signal);  // which outlives it
  ~StopWatch();
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  void run();

  const StopSignal& signal_;
  const int over_;  // an eventfd
  std::stop_source stop_;
  std::jthread thread_;
};

}  // namespace stator::server
