#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stator/base/clock.h"
#include "stator/client/client.h"
#include "stator/runtime/dynamo/stream_reader.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

// Reports the changes of a table from a moment on, to a reader of the whole table while others write to it.
//
// When drain() returns before its time is over, everything that was acknowledged after begin() and before that drain()
// was called has been handed out, in the order of each shard.  It remembers nothing beyond its life: begun anew with
// the time of the first beginning, it reports the changes since then again.  The stream keeps a day: a drain() after a
// longer pause returns a problem with the code StreamReader::kTrimmed.  Confined to one thread.
class ChangeFollower {
 public:
  using Time = SteadyTime;

  // The client and the clock outlive it.  `list_every`: how often new shards are looked for, beside when one ends.
  ChangeFollower(client::Client& client, const Clock& clock, std::string stream,
                 std::chrono::milliseconds list_every = {})
      : reader_(client), clock_(clock), stream_(std::move(stream)), list_every_(list_every) {}

  // From now on, which is `now`.
  Result<void, Problem> begin(WallTime now);
  // From then on, as far as the stream goes back.
  void begin_again(WallTime since) { since_ = since - kClockSlack; }

  using Handler = std::function<Result<void, Problem>(const std::vector<Change>&)>;
  // Stops at `until`; the next call goes on there.  Of each shard, reads at most one page behind the time `upto` by the
  // stream's clock: so it ends even if others write faster than changes are handled.
  Result<void, Problem> drain(const Handler& handle, Time until = Time::max(), WallTime upto = WallTime::max());

 private:
  // The stream's times are in seconds, and by the clock of another machine.
  static constexpr std::chrono::seconds kClockSlack{60};

  struct ShardPosition {
    std::optional<std::string> iterator;
    std::optional<std::string> last;  // the number of the last record
    bool done = false;                // read to its end
  };

  Result<void, Problem> list();
  // A shard begins where its parent ends.
  bool waits_for_its_parent(const StreamShard& shard) const;
  // Reads the present records of a shard.
  Result<void, Problem> drain(const std::string& shard, ShardPosition& position, const Handler& handle, Time until,
                              WallTime upto);
  Result<ChangePage, Problem> next_page(const std::string& shard, ShardPosition& position);

  StreamReader reader_;
  const Clock& clock_;
  const std::string stream_;
  const std::chrono::milliseconds list_every_;
  WallTime since_;
  std::vector<StreamShard> shards_;  // as they were listed last
  Time next_listing_{};
  std::map<std::string, ShardPosition> positions_;
};

}  // namespace stator::runtime
