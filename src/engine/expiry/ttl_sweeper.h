#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "stator/base/clock.h"
#include "stator/engine/engine.h"

namespace stator::engine {

// Deletes expired items, and fills the expiry entries of tables whose time to live was just enabled.
//
// Once a second it looks at the front of each table's entries, which costs nothing when nothing expires.  An item is
// deleted only if it still expires then: a write that comes in between wins.  Thread-safe.  Owns one thread, joined by
// the destructor.
class TtlSweeper {
 public:
  static constexpr std::chrono::milliseconds kInterval{1000};

  TtlSweeper(Engine& engine, const Clock& clock);  // both outlive the sweeper

  // One round, here and now.  Errors: Storage, ReadOnly, Corruption; the next round goes on where this one stopped.
  Result<void> sweep(const std::stop_token& stop = {});

 private:
  static constexpr std::size_t kBatchItems = 100;

  Result<void> expire(const TablePtr& table, const std::stop_token& stop);
  Result<void> fill(const TablePtr& table, const std::stop_token& stop);
  void run(const std::stop_token& stop);

  // Constant after construction.
  Engine& engine_;
  const Clock& clock_;

  std::mutex sleep_mutex_;
  std::condition_variable_any sleep_;
  std::jthread thread_;  // last: joined before anything it reads is destroyed
};

}  // namespace stator::engine
