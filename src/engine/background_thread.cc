#include "stator/engine/background_thread.h"

#include <system_error>

#include "stator/base/log.h"

namespace stator::engine {

void BackgroundThread::wake() {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  wanted_ = true;
  start();
  wake_.notify_one();
}

void BackgroundThread::try_again() {
  const std::lock_guard lock(mutex_);
  if (wanted_ && !stopping_) start();
}

void BackgroundThread::start() {
  if (thread_.joinable()) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    log::warning("no_thread", {{"what", error.what()}, {"message", "work in the background is done later"}});
  }
}

void BackgroundThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool BackgroundThread::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void BackgroundThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || wanted_; });
    if (stopping_) return;
    wanted_ = false;
    lock.unlock();
    const bool done = work_();
    lock.lock();
    if (done) continue;
    wanted_ = true;
    wake_.wait_for(lock, kRetryInterval, [&] { return stopping_; });
  }
}

}  // namespace stator::engine
