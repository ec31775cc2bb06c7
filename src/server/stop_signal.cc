#include "stator/server/stop_signal.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>

#include "stator/base/assert.h"

namespace stator::server {
namespace {

bool has_terminal() {
  const int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

}  // namespace

StopSignal::StopSignal() : had_terminal_(has_terminal()) {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t stopping;
  sigemptyset(&stopping);
  sigaddset(&stopping, SIGINT);
  sigaddset(&stopping, SIGTERM);
  sigaddset(&stopping, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &stopping, &before_);
  masked_ = true;
  signals_ = signalfd(-1, &stopping, SFD_CLOEXEC | SFD_NONBLOCK);
  requests_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  STATOR_ASSERT(signals_ >= 0 && requests_ >= 0, "a new process has two file descriptors to spare");
}

StopSignal::~StopSignal() {
  close(signals_);
  close(requests_);
  if (parent_ >= 0) close(parent_);
  restore_mask();
}

std::optional<int> StopSignal::wait_for(std::chrono::milliseconds time) {
  return wait_milliseconds(
      static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(time.count(), 0, std::numeric_limits<int>::max())));
}

int StopSignal::wait() { return wait_milliseconds(-1).value(); }

std::optional<int> StopSignal::wait_milliseconds(int milliseconds) {
  // poll() passes over a descriptor of -1.
  std::array<pollfd, 3> waiting = {pollfd{signals_, POLLIN, 0}, pollfd{requests_, POLLIN, 0},
                                   pollfd{parent_, POLLIN, 0}};
  int ready = 0;
  while ((ready = poll(waiting.data(), waiting.size(), milliseconds)) < 0) {
    STATOR_ASSERT(errno == EINTR, "the descriptors are ours and open");
  }
  if (ready == 0) return std::nullopt;
  signalfd_siginfo info{};
  const bool signalled = read(signals_, &info, sizeof info) == sizeof info;
  const bool hung_up = signalled && info.ssi_signo == SIGHUP;
  if (hung_up && !(had_terminal_ && !has_terminal())) return SIGHUP;
  std::signal(SIGHUP, SIG_IGN);  // a server that stops needs no other keys or certificates
  restore_mask();
  if (!signalled && waiting[2].revents != 0) return SIGTERM;
  return hung_up ? SIGTERM : signalled ? static_cast<int>(info.ssi_signo) : 0;
}

bool StopSignal::follow_parent(pid_t parent) {
  if (parent <= 0) return false;                                   // it is not in this namespace
  parent_ = static_cast<int>(syscall(SYS_pidfd_open, parent, 0));  // closed on exec
  if (getppid() == parent) return parent_ >= 0;
  // It has gone, and another may have its number by now.
  if (parent_ >= 0) close(parent_);
  parent_ = eventfd(1, EFD_CLOEXEC);
  return parent_ >= 0;
}

bool StopSignal::is_stop_pending() const {
  sigset_t pending;
  sigpending(&pending);
  if (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1) return true;
  if (sigismember(&pending, SIGHUP) == 1 && had_terminal_ && !has_terminal()) return true;
  pollfd parent{parent_, POLLIN, 0};
  return poll(&parent, 1, 0) > 0;
}

void StopSignal::request() {
  const std::uint64_t one = 1;
  // Fails only when billions of requests are waiting already, and then one more changes nothing.
  [[maybe_unused]] const auto written = write(requests_, &one, sizeof one);
}

void StopSignal::restore_mask() {
  if (masked_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  masked_ = false;
}

StopWatch::StopWatch(const StopSignal& signal)
    : signal_(signal), over_(eventfd(0, EFD_CLOEXEC)), thread_([this] { run(); }) {
  STATOR_ASSERT(over_ >= 0, "a process that starts has a file descriptor to spare");
}

StopWatch::~StopWatch() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(over_, &one, sizeof one);
  thread_.join();
  close(over_);
}

void StopWatch::run() {
  std::array<pollfd, 3> waiting = {pollfd{over_, POLLIN, 0}, pollfd{signal_.signals_, POLLIN, 0},
                                   pollfd{signal_.parent_, POLLIN, 0}};
  while (poll(waiting.data(), waiting.size(), -1) < 0) {
    STATOR_ASSERT(errno == EINTR, "the descriptors are ours and open");
  }
  // A signal that asks for something else stays pending, so there is no point in waiting for another one.
  if (signal_.is_stop_pending()) stop_.request_stop();
}

}  // namespace stator::server
