#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "stator/base/result.h"
#include "stator/client/client.h"

// Sample data: the requests that users would have sent, replayed.
//
//   users: { ada: { subject: ADA, roles: [], name: Ada, email: ada@example.org } }
//   steps:
//     - { as: ada, post: /libraries, body: { LibraryName: "Home" }, keep: home, ago: 3d }
//     - { as: ada, post: "/libraries/{home.LibraryId}/books", body: { Title: "Dune" } }
//
// A step is post, put, patch or delete.  {home.LibraryId} is taken from the answer that was kept under that name; `ago` (5m, 5h,
// 5d) says when the request was sent, so that a history looks like one.
namespace stator::systems {

// Told after each request: how many are done, of how many.
using DemoProgress = std::function<void(std::size_t done, std::size_t all)>;

// Loads the sample data of a system that comes with Stator into the database behind the client, making its table when it is not
// there.  Errors: Usage (no system of that name; its table holds something already; a request was refused), Storage.
Result<void> load_demo(const std::string& system, client::Client& client, const DemoProgress& progress = nullptr);

// Whether the system's table is there, and whether something is in it.
enum class TableState { Missing, Empty, Used };
Result<TableState> table_state(const std::string& system, client::Client& client);

}  // namespace stator::systems
