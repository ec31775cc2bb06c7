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
#include "stator/http/signature/sigv4.h"
#include "stator/server/config.h"
#include "stator/server/secrets/private_files.h"
#include "stator/server/systems.h"

namespace stator::server {

// The parts that a console needs beside its client; everything outlives it.
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

// The console of a server, with its sessions, saved queries and models.  Thread-safe.
class ConsoleService {
 public:
  // `folder` has console.json; empty: saved queries are gone when the server stops.  Where servers share a database,
  // saved queries and sessions are in the database.
  ConsoleService(const ConsoleParts& parts, const Config& config, const std::string& folder);

  http::Handler& handler() { return console_; }
  // Reads the sessions that other servers began or ended.  Call it once a second.
  void refresh() { sessions_.refresh(); }
  // Ends long work soon, so that the server can stop.
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
