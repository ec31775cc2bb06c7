#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/base/result.h"
#include "stator/client/client.h"
#include "stator/client/credentials.h"

namespace stator::http {
class Transport;
}

namespace stator::client {

// How often, and how long after, a call is tried again.  The defaults are those of the AWS SDKs for DynamoDB (their
// "standard" mode as of 2026): before try n there is a random wait of up to base * 2^(n-2), and no more than the
// longest.
struct RetryOptions {
  int attempts = 4;  // the first one included
  std::chrono::milliseconds base_delay{25};
  std::chrono::milliseconds throttled_base_delay{1'000};
  std::chrono::milliseconds longest_delay{20'000};
};

struct RemoteOptions {
  // With the result of find_signing_scope(), and AWS_CA_BUNDLE as the CA file.  Errors: Usage.
  static Result<RemoteOptions> from_environment(std::string endpoint, const Environment& environment);

  std::string endpoint;  // "http://127.0.0.1:8000", "https://dynamodb.eu-central-1.amazonaws.com"
  std::string region;
  Credentials credentials;
  std::string ca_file = {};                          // certificates that are trusted besides the system's
  std::chrono::milliseconds connect_timeout{5'000};  // of one attempt
  std::chrono::milliseconds attempt_timeout{30'000};
  RetryOptions retries = {};
};

// A DynamoDB endpoint at the other end of a wire.
//
// A reply is the same as the in-process client's; a fault has the endpoint's own type, message and members.  Calls that
// can succeed later are tried again: after throttling, failures of the endpoint, failures of the network.  But a call
// that may have been carried out is only repeated when that does no harm: a read, a put or delete without a condition
// and without ReturnValues, a BatchWriteItem, and a transaction, which is given a ClientRequestToken if it has none.
// The SDKs repeat other writes too, and may then count twice.  When most calls fail, retries stop for a while, so as
// not to make it worse.
//
// Replies come on a thread of the client's; they must not block.  docs/internals/remote.md.
class RemoteClient final : public Client {
 public:
  // Connects when it is first called.  Errors: Usage.
  static Result<std::unique_ptr<RemoteClient>> open(const RemoteOptions& options);
  // With a network, a clock and dice of the caller's.  The clock outlives the client.  Errors: Usage.
  static Result<std::unique_ptr<RemoteClient>> open(const RemoteOptions& options,
                                                    std::unique_ptr<http::Transport> transport, const Clock& clock,
                                                    Random random);
  // Calls that have no reply yet get one, a kNetworkFailure.  Not on the client's own thread.
  ~RemoteClient() override;

  void call(std::string_view operation, std::string_view json, api::ReplyCallback reply) override;

 private:
  struct Impl;
  explicit RemoteClient(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace stator::client
