#pragma once

#include <atomic>
#include <concepts>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

#include "stator/api/functions.h"
#include "stator/api/operation.h"

// Runs operations on the catalog as it is.  Internal to the layer.
//
// If other processes use the store, too, one of them may have changed a table since this process read the catalog.  An
// operation that meets a newer epoch of the store is carried out again, with the new catalog: its first attempt had no
// effect.  Where only this process uses the store, an operation simply runs.
namespace stator::api {

constexpr int kMostAttempts = 10;

// The engine checks the table with each item that is read.
template <typename Asked>
concept ReadsByKey = std::same_as<Asked, GetItemRequest> || std::same_as<Asked, BatchGetItemRequest>;

// Reading an item asks the store for its epoch, too.  Other operations can be answered from the catalog alone.
template <typename Asked>
concept ReadsItems = ReadsByKey<Asked> || std::same_as<Asked, QueryRequest> || std::same_as<Asked, ScanRequest> ||
                     std::same_as<Asked, TransactGetItemsRequest>;

template <typename Answered>
Answered failed_with(const Error& error) {
  if constexpr (std::is_constructible_v<Answered, Fault>) {
    return to_fault(error);
  } else {
    return error;
  }
}

// An operation that is answered at once.
template <typename Asked>
auto run_on_current(CallContext& call, const Asked& request) -> decltype(run(call, request)) {
  auto& engine = call.engine();
  if (!engine.is_shared()) return run(call, request);
  if constexpr (!ReadsItems<Asked>) {
    if (const auto current = engine.catch_up(); !current) {
      return failed_with<decltype(run(call, request))>(current.error());
    }
  }
  for (int attempt = 1;; ++attempt) {
    const auto epoch = engine.epoch();
    auto answer = run(call, request);
    if (ReadsByKey<Asked> && answer) return answer;
    if (!answer) ignore_error(engine.catch_up(), "the answer says that something is wrong");
    if (engine.epoch() == epoch || attempt == kMostAttempts) return answer;
  }
}

// Of a write.  A batch that is throttled may have been written in part.
inline bool had_no_effect(const Fault& fault, bool was_queued) {
  const bool throttled = fault.name() == "ProvisionedThroughputExceededException";
  return (!was_queued && !throttled) || fault.name() == "ResourceNotFoundException";
}

// An operation that is answered after its commit. If the catalog has changed, the committer itself begins again. The
// table that an operation found by name before it was queued can still be outdated.
template <typename Asked>
void run_on_current(CallContext call, Asked request, Done<typename Asked::Answer> done, int attempt = 1) {
  using Answer = typename Asked::Answer;
  auto& engine = call.engine();
  if (!engine.is_shared()) return run(std::move(call), std::move(request), std::move(done));
  if constexpr (std::same_as<Asked, BatchExecuteStatementRequest>) {
    // It tells the errors of its statements in an answer that has succeeded.
    ignore_error(engine.catch_up(), "its statements find out");
  }
  auto running = std::make_shared<std::atomic<bool>>(true);
  if (call.reader() != nullptr) {
    // Looking for changes of the catalog takes time, so an operation that failed without effect is repeated elsewhere.
    run(std::move(call), std::move(request),
        Done<Answer>([done = std::move(done), running, caller = std::this_thread::get_id()](
                         CallContext& context, Result<Answer, Fault> answer) mutable {
          const bool was_queued = !*running || caller != std::this_thread::get_id();
          if (!answer && had_no_effect(answer.error(), was_queued)) context.put_off();
          done(context, std::move(answer));
        }));
    *running = false;
    return;
  }
  auto again = request;
  run(std::move(call), std::move(request),
      Done<Answer>([again = std::move(again), done = std::move(done), running, attempt, epoch = engine.epoch(),
                    caller = std::this_thread::get_id()](CallContext& context, Result<Answer, Fault> answer) mutable {
        if (!answer && attempt < kMostAttempts) {
          auto& database = context.engine();
          const bool was_queued = !*running || caller != std::this_thread::get_id();
          if (!was_queued) ignore_error(database.catch_up(), "the answer says that something is wrong");
          if (had_no_effect(answer.error(), was_queued) && database.epoch() != epoch) {
            return run_on_current(std::move(context), std::move(again), std::move(done), attempt + 1);
          }
        }
        done(context, std::move(answer));
      }));
  *running = false;
}

}  // namespace stator::api
