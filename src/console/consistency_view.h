#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/base/random.h"
#include "stator/client/client.h"
#include "stator/console/served_model.h"
#include "stator/http/message/message.h"
#include "stator/runtime/consistency/verify.h"

namespace stator::console {

// The consistency managers of the served models, and verifications of their tables, of which one runs at a time.
// Blocking, thread-safe.  The destructor ends a verification that runs.
class ConsistencyView {
 public:
  static constexpr std::size_t kMostFindings = 500;  // that are remembered of one verification

  // All outlive it.
  ConsistencyView(client::Client& client, const Clock& clock, Random& random)
      : client_(client), clock_(clock), random_(random) {}

  // GET .../consistency
  http::Response show(const ServedModel& served);
  // POST .../consistency/replay {"id": "..."}
  http::Response replay(const ServedModel& served, std::string_view body);
  // POST .../consistency/verify {"repair": false}: begins a verification.
  http::Response verify(const ServedModel& served, std::string_view body, const Rights& rights);

 private:
  struct Told {
    std::string kind, entity, key, what, expected, found;
    bool repairable = true;
    runtime::FindingState state = runtime::FindingState::Found;
  };
  struct Verification {
    const model::Model* model = nullptr;  // null: there was none yet
    bool repairs = false;
    bool running = false;
    std::uint64_t rows = 0;
    std::uint64_t found = 0, repaired = 0, pending = 0;
    std::vector<Told> findings;
    std::string problem;
  };

  void run(const std::shared_ptr<const model::Model>& model, bool repairs, const std::stop_token& stop);
  void note(const runtime::RowFinding& finding, runtime::FindingState state);
  void write_verification(value::JsonWriter& json, const model::Model& model);

  client::Client& client_;
  const Clock& clock_;
  Random& random_;

  Mutex mutex_;
  Verification verification_ GUARDED_BY(mutex_);  // the last one, of whichever model
  std::jthread thread_;                           // last: joined before anything it uses is destroyed
};

}  // namespace stator::console
