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
#include "stator/runtime/outcome.h"
#include "stator/runtime/stream_reader.h"

namespace stator::runtime {

// Tells what happens to a table from a moment on, for one who walks the table while others write to it.
//
// When drain() returns, everything that was acknowledged after begin() and before that drain() was called has been handed out, in
// the order of each shard.  It remembers nothing beyond its life: begun anew with the time of the first beginning, it tells
// again what happened since.  The stream keeps a day; whoever drains less often gets a problem of the code StreamReader::kTrimmed.
// Confined to one thread.
class ChangeFollower {
 public:
  // The client outlives it.
  ChangeFollower(client::Client& client, std::string stream) : reader_(client), stream_(std::move(stream)) {}

  // From now on, which is `now`.
  Outcome<Done> begin(WallTime now);
  // From then on, as far as the stream goes back.
  void begin_again(WallTime since) { since_ = since - kClockSlack; }

  using Handler = std::function<Outcome<Done>(const std::vector<Change>&)>;
  Outcome<Done> drain(const Handler& handle);

 private:
  // The stream's times are to the second, and those of another machine.
  static constexpr std::chrono::seconds kClockSlack{60};

  struct Position {
    std::optional<std::string> iterator;
    std::optional<std::string> last;  // the number of the last record
    bool done = false;                // read to its end
  };

  // Reads what a shard has now.
  Outcome<Done> drain(const std::string& shard, Position& position, const Handler& handle);
  Outcome<ChangePage> next_page(const std::string& shard, Position& position);

  StreamReader reader_;
  const std::string stream_;
  WallTime since_;
  std::map<std::string, Position> positions_;
};

}  // namespace stator::runtime
