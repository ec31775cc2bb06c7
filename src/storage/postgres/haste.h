#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace stator::storage::postgres {

// Shortens the waits of connections once their store is about to be closed.  A server that answers has a few seconds
// for each question.  After one wait in vain there are no others.  Thread-safe.
class Haste {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kLongestWait{2};

  Haste() : begun_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Haste() { ::close(begun_event_); }
  Haste(const Haste&) = delete;
  Haste& operator=(const Haste&) = delete;

  void begin() {
    if (begun_.exchange(true)) return;
    begun_at_ = std::chrono::steady_clock::now().time_since_epoch().count();
    ::eventfd_write(begun_event_, 1);
  }
  bool has_begun() const { return begun_.load(); }
  // Can be read when it has begun: for a thread that waits with poll().
  int event() const { return begun_event_; }

  // When a wait that began then ends at the latest.
  Time end_of_wait(Time began, Time deadline) const {
    if (!has_begun()) return deadline;
    if (in_vain_) return std::min(deadline, began);
    return std::min(deadline, std::max(began, Time(Time::duration(begun_at_.load()))) + kLongestWait);
  }
  void note_wait_in_vain() {
    if (has_begun()) in_vain_ = true;
  }

 private:
  const int begun_event_;
  std::atomic<bool> begun_{false}, in_vain_{false};
  std::atomic<Time::rep> begun_at_{0};
};

}  // namespace stator::storage::postgres
