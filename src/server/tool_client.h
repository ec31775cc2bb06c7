#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stator/base/result.h"
#include "stator/client/credentials.h"
#include "stator/engine/check/check.h"
#include "stator/storage/store.h"

namespace stator::server {

// How a check at a server stands.
struct RemoteCheck {
  enum class State : std::uint8_t { None, Running, Done, Failed };
  State state = State::None;
  std::uint64_t number = 0;
  engine::CheckProgress progress;
  engine::CheckReport report;  // when it is done
  std::string error;           // when it has failed
};

// The other side of Tools: asks a running server, and waits for the answer.  Signs as every client does.  Not
// thread-safe.
class ToolClient {
 public:
  // Errors: Usage.
  static Result<std::unique_ptr<ToolClient>> connect(const std::string& endpoint,
                                                     const client::Environment& environment);
  ~ToolClient();

  // Errors of all: Usage, with the message of the server or the network.
  Result<RemoteCheck> start_check();
  Result<RemoteCheck> look_at_check();
  // The files are let go with the answer.  The client outlives it.
  Result<std::unique_ptr<storage::FrozenFiles>> freeze();

 private:
  struct Impl;
  class RemoteFiles;
  explicit ToolClient(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace stator::server
