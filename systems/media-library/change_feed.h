#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/base/random.h"
#include "stator/client/client.h"
#include "stator/runtime/consistency/change_follower.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/dynamo/stream_reader.h"
#include "stator/runtime/problem.h"

namespace stator::systems::media_library {

// Reports the changes of a table to an object that keeps rows of it in memory.
//
// The first catch_up() starts at the end of the stream and calls `missed`.  From then on every change is reported, the
// changes of one row in their order.  If changes may be lost (the stream has dropped them, or the feed stopped reading
// because there were no requests), the feed calls `missed` and starts again.  So rows that were read after the last
// `missed` plus the reported changes are complete.  Calls come one at a time, on the threads that call catch_up() and
// on a thread of the feed, which reads in between and is joined by the destructor.  Thread-safe.
class ChangeFeed {
 public:
  struct Listener {
    std::function<void(const runtime::Change& change)> changed;
    std::function<void()> missed;  // everything that was read before may be outdated
  };
  struct Options {
    std::chrono::milliseconds poll{500};       // without requests
    std::chrono::milliseconds patience{1000};  // how long catch_up() waits
    // Without a call of catch_up() for so long, the feed stops reading, so that an unused service costs nothing.
    std::chrono::minutes idle{10};
  };

  // The client and the clock outlive it.
  ChangeFeed(client::Client& client, const Clock& clock, std::string table, Listener listener, Options options);
  ~ChangeFeed();

  // Returns when every change that the stream had at the time of the call is reported, or after `patience` if others
  // write faster than the feed reads.  Problems: Unavailable, and those of the stream.
  Result<void, runtime::Problem> catch_up();

 private:
  void run();
  // Reads, and answers all callers that wait so far.  One at a time; the mutex is not held meanwhile.
  void read_now() REQUIRES(mutex_);
  void stop_reading() REQUIRES(mutex_);
  Result<void, runtime::Problem> try_to_read();
  // Reads the present records, at most until `until`.
  Result<void, runtime::Problem> read(SteadyTime until);
  Result<void, runtime::Problem> begin();

  // Constant after construction.
  client::Client& client_;
  const Clock& clock_;
  const std::string table_;
  const Listener listener_;
  const Options options_;

  // Used only by the thread that set `busy_`.
  Random random_ = Random::from_system();
  runtime::Dynamo dynamo_;
  std::optional<runtime::ChangeFollower> follower_;  // absent: it has not begun

  Mutex mutex_;
  CondVar changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool busy_ GUARDED_BY(mutex_) = false;        // a thread reads
  std::uint64_t asked_ GUARDED_BY(mutex_) = 0;  // calls of catch_up() so far
  std::uint64_t done_ GUARDED_BY(mutex_) = 0;   // the last of these calls that was answered
  bool begun_ GUARDED_BY(mutex_) = false;
  std::optional<runtime::Problem> problem_ GUARDED_BY(mutex_);  // of the last answer
  SteadyTime last_asked_ GUARDED_BY(mutex_){};
  SteadyTime next_poll_ GUARDED_BY(mutex_){};

  std::jthread thread_;  // last: joined before anything it reads is destroyed
};

}  // namespace stator::systems::media_library
