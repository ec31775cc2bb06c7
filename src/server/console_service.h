#pragma once

#include <memory>
#include <string>

#include "stator/base/clock.h"
#include "stator/client/client.h"
#include "stator/console/console.h"
#include "stator/console/live_requests.h"
#include "stator/console/models.h"
#include "stator/console/saved_queries.h"
#include "stator/console/sessions.h"
#include "stator/engine/engine.h"
#include "stator/http/sigv4.h"
#include "stator/server/config.h"
#include "stator/server/private_files.h"
#include "stator/server/systems.h"

namespace stator::server {

// What a console needs beside its client; everything outlives it.
struct ConsoleParts {
  client::Client& client;
  const http::SignatureVerifier& signatures;
  const Clock& clock;
  Systems* systems = nullptr;             // null: there are none
  console::LiveRequests* live = nullptr;  // null: it shows none
  MemoryBudget* memory = nullptr;         // null: no limit
  PrivateFiles* shared = nullptr;         // of a database that several servers share; null: there is one server
  console::ConsoleOptions options = {};
};

// The console of a server, with what it keeps.  Thread-safe.
class ConsoleService {
 public:
  // `folder` is where console.json is; empty: what users save is gone when the server stops.  Where servers share a
  // database, saved queries and sessions are there.
  ConsoleService(const ConsoleParts& parts, const Config& config, const std::string& folder);

  http::Handler& handler() { return console_; }
  // Learns what other servers have done.  Call it once a second.
  void refresh() { sessions_.refresh(); }
  // Ends soon what takes long, so that the server can stop.
  void stop() { models_.stop(); }

 private:
  console::Sessions sessions_;
  console::SavedQueries saved_;
  console::Models models_;
  console::Console console_;  // last: its workers use everything above
};

// The partition keys of the tables of a database, which outlives it.
console::PartitionKeyOf partition_keys_of(const engine::Engine& engine);

}  // namespace stator::server
