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
#include "stator/http/message.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/problem.h"

namespace stator::app {

// A POST that carries an Idempotency-Key.
struct KeyedRequest {
  std::string_view key;
  const std::optional<std::string>& subject;  // a key is its user's own
  std::string_view method, target, body;
};

// Remembers for a day what was answered to a POST with an Idempotency-Key, so that a client that never saw the answer
// can ask again and gets it, instead of doing the thing twice.
//
// Kept in a table of its own beside the model's, `<table>.idempotency`, which is made when it is first needed: it has
// no stream, and costs nothing to those who send no key.  A key is claimed before the work and completed after it; only
// answers that say that the work was done are kept, and those that say that it was refused give the key free.  If the
// database did not answer, or the process dies in between, nobody can tell whether the work was done, and the key is
// refused rather than doing it a second time: as one whose outcome is unknown, which its caller has to look up; where
// the process died, as one whose request is still running until the claim has run out.  Of an answer that is too large
// for a row, it is remembered that the work was done. Thread-safe.
class IdempotencyStore {
 public:
  static constexpr std::size_t kMaxKeyBytes = 255;
  static constexpr std::chrono::hours kKeep{24};
  // How long a request may be under way before it is taken to have died.  One that ends later still has its answer
  // kept.
  static constexpr std::chrono::minutes kClaim{5};

  // What is kept of an answer, its head and body together; a row takes 400 KiB.
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
