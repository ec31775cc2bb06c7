#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "stator/base/clock.h"
#include "stator/base/result.h"
#include "stator/client/client.h"

// Sample data: the requests that users would have sent, replayed.
//
//   users: { ada: { subject: ADA, roles: [], name: Ada, email: ada@example.org } }
//   steps:
//     - { as: ada, post: /libraries, body: { LibraryName: "Home" }, keep: home, ago: 3d }
//     - { as: ada, post: "/libraries/{home.LibraryId}/books", body: { Title: "Dune" } }
//
// A step is post, put, patch or delete.  {home.LibraryId} is taken from the answer that was kept under that name; `ago`
// (5m, 5h, 5d) says when the request was sent, so that a history looks like one.
namespace stator::systems {

// What it works with; client and clock outlive the call.
struct DemoParts {
  client::Client& client;
  const Clock& clock;
  std::stop_token stop = {};  // ends what waits for a table
};

// Told after each request: how many are done, of how many.
using DemoProgress = std::function<void(std::size_t done, std::size_t all)>;

// How much of the sample data of a system is loaded.  The table's tag `stator:demo` tells it.  The tag is set before
// the first request and changed after the last one, so that an interrupted load is noticed.
enum class DemoState : std::uint8_t {
  New,     // no table, or one with nothing in it
  CutOff,  // the load was interrupted
  Loaded,
  Used,  // the table holds something else
};
Result<DemoState> demo_state(const std::string& system, const DemoParts& parts);

// Loads the sample data of a system that comes with Stator into the database of the client.  Creates the table if it
// does not exist.  First removes the rows that an interrupted load has left.  Errors: Usage (no system of that name;
// its table holds something already; a request was refused), Storage.
Result<void> load_demo(const std::string& system, const DemoParts& parts, const DemoProgress& progress = nullptr);

}  // namespace stator::systems
