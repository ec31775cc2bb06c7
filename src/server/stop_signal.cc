#include "stator/server/stop_signal.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "stator/base/assert.h"

namespace stator::server {

StopSignal::StopSignal() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t stopping;
  sigemptyset(&stopping);
  sigaddset(&stopping, SIGINT);
  sigaddset(&stopping, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stopping, &before_);
  masked_ = true;
  signals_ = signalfd(-1, &stopping, SFD_CLOEXEC | SFD_NONBLOCK);
  requests_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  STATOR_ASSERT(signals_ >= 0 && requests_ >= 0, "a new process has two file descriptors to spare");
}

StopSignal::~StopSignal() {
  close(signals_);
  close(requests_);
  restore_mask();
}

int StopSignal::wait() {
  std::array<pollfd, 2> waiting = {pollfd{signals_, POLLIN, 0}, pollfd{requests_, POLLIN, 0}};
  while (poll(waiting.data(), waiting.size(), -1) < 0) {
    STATOR_ASSERT(errno == EINTR, "both descriptors are ours and open");
  }
  signalfd_siginfo info{};
  const bool signalled = read(signals_, &info, sizeof info) == sizeof info;
  restore_mask();
  return signalled ? static_cast<int>(info.ssi_signo) : 0;
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

}  // namespace stator::server
