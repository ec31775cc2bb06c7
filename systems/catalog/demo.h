#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "stator/base/clock.h"
#include "stator/base/result.h"
#include "stator/client/client.h"
#include "stator/model/model.h"

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

// Client and clock outlive the call.
struct DemoParts {
  client::Client& client;
  const Clock& clock;
  std::stop_token stop = {};  // ends waits for a table, or for another program
  bool is_shared = false;     // other programs can use the database: one of them at a time loads the data of a system
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
Result<DemoState> demo_state(const model::Model& model, const DemoParts& parts);

enum class DemoOutcome : std::uint8_t {
  Loaded,
  LoadedByAnother,  // another program was loading it, and has finished
  LeftAlone,        // the table holds something already
};

// Loads the sample data of a system that comes with Stator, and has this model, into the database of the client.
// Creates the table if it does not exist.  First removes the rows that an interrupted load has left.  If another
// program is loading it, waits until that one has finished, or until ten seconds after it was killed, and then goes on
// in its place.  Errors: Usage (no system of that name; a request was refused), Storage.
Result<DemoOutcome> load_demo(const std::shared_ptr<const model::Model>& model, const DemoParts& parts,
                              const DemoProgress& progress = nullptr);

}  // namespace stator::systems
