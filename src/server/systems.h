#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "stator/app/auth/jwt.h"
#include "stator/app/rest/rest_service.h"
#include "stator/app/rest/routes/page_token.h"
#include "stator/app/rest/system.h"
#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/base/result.h"
#include "stator/base/traffic.h"
#include "stator/client/client.h"
#include "stator/client/traced_client.h"
#include "stator/console/served_model.h"
#include "stator/runtime/consistency/consistency_manager.h"
#include "stator/server/config.h"
#include "stator/server/secrets/private_files.h"

namespace stator::server {

// The keys that tokens are checked with, as the settings say.  Errors: Usage, Storage.
struct TokenSecrets {
  std::string signing;  // of HS256 tokens; empty: they are not accepted
  std::string page_tokens;
};
Result<TokenSecrets> token_secrets(const Config& config, PrivateFiles& files);

// Where systems are reached, and the parts that they share with others there.
struct Listener {
  bool local = true;                                 // by this machine only
  std::function<http::Response()> health = nullptr;  // answers /health; null: always well
  MemoryBudget* memory = nullptr;                    // for the memory of requests; null: no limit.  Outlives it.
  // Shared by all ports of the process: consistency managers let requests go first.  Outlives it.
  Traffic* traffic = nullptr;
  PrivateFiles* files = nullptr;           // with the secret of tokens; null: the files in the data folder
  client::CallWatcher* watcher = nullptr;  // sees the calls of requests to systems; outlives them; may be null
};

// The configured models as REST services, with their consistency managers and the parts that they share.  Thread-safe.
class Systems {
 public:
  // Loads every model, makes the tables that are missing, and reads the key set.  With `demo`, the systems that come
  // with Stator are there as well, with their sample data if their table was not there.  `stop` ends the wait for a
  // table. Client and clock outlive it. Errors: Usage (a model with errors; the message has one line for each),
  // Storage.
  static Result<std::unique_ptr<Systems>> open(const Config& config, client::Client& client, const Clock& clock,
                                               Listener listener, const std::stop_token& stop = {});
  ~Systems();

  app::RestService& service() { return *service_; }
  const std::vector<std::unique_ptr<app::System>>& systems() const { return systems_; }
  // The same for the console.
  std::vector<console::ServedModel> served() const;

 private:
  Systems(const TokenSecrets& secrets, std::unique_ptr<app::TokenVerifier> tokens, client::Client& client,
          const Clock& clock, client::CallWatcher* watcher);

  // Starts the consistency manager of a system.
  Result<void> manage(const Config& config, const app::System& system, client::Client& client, const Clock& clock,
                      const Traffic* traffic);
  void print_consistency(std::string& out) const;

  struct Source {
    std::string text;
    bool built_in = false;
  };

  std::stop_source stop_;        // ends waits for a table
  client::TracedClient client_;  // of requests; managers use the client itself
  Random random_;
  const app::PageTokens page_tokens_;
  const std::unique_ptr<app::TokenVerifier> tokens_;
  std::vector<std::unique_ptr<app::System>> systems_;
  std::vector<Source> sources_;                                                                 // of each system
  std::vector<std::pair<std::string, std::unique_ptr<runtime::ConsistencyManager>>> managers_;  // by the system's name
  std::unique_ptr<app::RestService> service_;  // last: its workers use everything above
};

}  // namespace stator::server
