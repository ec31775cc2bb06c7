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

// Tells somebody who keeps a picture of a table in memory what changes in it.
//
// It begins with the first catch_up(), at what the stream then has last, says `missed`, and tells every change from there on, those of
// one row in their order.  When it may have missed some (the stream has forgotten them, or nobody asked for so long that it stopped
// reading), it begins anew: whatever was read from the table after the last `missed` lacks nothing that is not told.  It tells one
// thing after the other, on the threads of those who catch up and on one of its own, which reads while nobody does and is joined by the
// destructor.  Thread-safe.
class ChangeFeed {
 public:
  struct Listener {
    std::function<void(const runtime::Change& change)> changed;
    std::function<void()> missed;  // whatever was known before may be wrong
  };
  struct Options {
    std::chrono::milliseconds poll{500};       // while nobody asks
    std::chrono::milliseconds patience{1000};  // how long catch_up() waits
    std::chrono::minutes idle{10};  // without a question: it stops reading, so that an unused service costs nothing
  };

  // The client and the clock outlive it.
  ChangeFeed(client::Client& client, const Clock& clock, std::string table, Listener listener, Options options);
  ~ChangeFeed();

  // Returns when everything that the stream had when this was called has been told, or, as long as others write faster than that,
  // when `patience` is over.  What changes after it has returned will be told.  Problems: Unavailable and what the stream answers.
  Result<void, runtime::Problem> catch_up();

 private:
  void run();
  // Reads, and answers everyone who has asked so far.  One at a time; the mutex is not held meanwhile.
  void read_now() REQUIRES(mutex_);
  void stop_reading() REQUIRES(mutex_);
  std::optional<runtime::Problem> try_to_read();
  // What there is, for as long as `until`.
  Result<void, runtime::Problem> read(SteadyTime until);
  Result<void, runtime::Problem> begin();

  // Constant after construction.
  client::Client& client_;
  const Clock& clock_;
  const std::string table_;
  const Listener listener_;
  const Options options_;

  // Of whoever made `busy_` true.
  Random random_ = Random::from_system();
  runtime::Dynamo dynamo_;
  std::optional<runtime::ChangeFollower> follower_;  // absent: it has not begun

  Mutex mutex_;
  CondVar changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool busy_ GUARDED_BY(mutex_) = false;        // somebody reads
  std::uint64_t asked_ GUARDED_BY(mutex_) = 0;  // how often somebody asked
  std::uint64_t done_ GUARDED_BY(mutex_) = 0;   // the last of these that was answered
  bool begun_ GUARDED_BY(mutex_) = false;
  std::optional<runtime::Problem> problem_ GUARDED_BY(mutex_);  // of the last answer
  SteadyTime last_asked_ GUARDED_BY(mutex_){};
  SteadyTime next_poll_ GUARDED_BY(mutex_){};

  std::jthread thread_;  // last: joined before anything it reads is destroyed
};

}  // namespace stator::systems::media_library
