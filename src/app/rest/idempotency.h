#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/base/random.h"
#include "stator/client/client.h"
#include "stator/http/message/message.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/problem.h"

namespace stator::app {

// A POST that carries an Idempotency-Key.
struct KeyedRequest {
  std::string_view key;
  const std::optional<std::string>& subject;  // a key is its user's own
  std::string_view method, target, body;
};

// Keeps the answers to POST requests with an Idempotency-Key for a day.  A client that did not receive an answer can
// repeat the request and gets the same answer; the work is not done a second time.
//
// The answers are in a table beside the model's, `<table>.idempotency`, which is created when it is first needed.  It
// has no stream.  Requests without a key cost nothing.
//
// A key is claimed before the work and completed after it.  Answers that report success are kept; a refused request
// releases its key.  If the database did not answer or the process died, nobody knows whether the work was done, so the
// key is refused from then on, with the code OutcomeUnknown: the caller must look up the outcome.  After the death of a
// process, the code is InProgress until the claim has run out.  If an answer is too large for a row, only the fact that
// the work was done is kept.  Thread-safe.
class IdempotencyStore {
 public:
  static constexpr std::size_t kMaxKeyBytes = 255;
  static constexpr std::chrono::hours kKeep{24};
  // A request that has run for this time is assumed to be dead.  If it ends later, its answer is kept anyway.
  static constexpr std::chrono::minutes kClaim{5};

  // The bound of a kept answer, head and body together; a row can have 400 KiB.
  static constexpr std::size_t kMaxAnswerBytes = std::size_t{390} * 1024;

  // All outlive the store.  `stop` ends its wait for the table.
  IdempotencyStore(std::string table, client::Client& client, const Clock& clock, Random& random,
                   std::stop_token stop = {});

  // Problems: Invalid, when it cannot be a key.
  static Result<void, runtime::Problem> check_key(std::string_view key);

  struct Claimed {
    std::string id;  // for complete(), release() and abandon()
  };
  // The claim, or the answer that was given before.  Problems: Invalid (a bad key), Conflict (it was used for another
  // request: IdempotencyKeyReused; the first is still running: InProgress; it ended without an answer: OutcomeUnknown;
  // it was carried out, and its answer was too large: AnswerNotKept).
  Result<std::variant<Claimed, http::Response>, runtime::Problem> claim(const KeyedRequest& request);
  Result<void, runtime::Problem> complete(const Claimed& claimed, const http::Response& response);
  Result<void, runtime::Problem> release(const Claimed& claimed);
  // The request ended, and nobody knows whether it was carried out: from now on its key is refused as OutcomeUnknown.
  Result<void, runtime::Problem> abandon(const Claimed& claimed);

 private:
  runtime::RowWrite update_of(const Claimed& claimed, expr::Update update) const;
  Result<void, runtime::Problem> make_table();

  const std::string table_;
  const Clock& clock_;
  const std::stop_token stop_;
  runtime::Dynamo dynamo_;

  Mutex mutex_;
  bool table_made_ GUARDED_BY(mutex_) = false;
};

}  // namespace stator::app
