#include "stator/app/rest/idempotent_run.h"

#include "stator/app/rest/answer.h"
#include "stator/base/log.h"

namespace stator::app {

using runtime::Problem;

RestAnswer run_idempotently(IdempotencyStore& store, std::string_view system, const RestCall& call,
                            const std::function<RestAnswer()>& work) {
  const auto key = call.request.header("Idempotency-Key");
  if (call.request.method != "POST" || key.empty()) return work();
  auto claim = TRY(store.claim({.key = key,
                                .subject = call.caller().subject,
                                .method = call.request.method,
                                .target = call.request.target,
                                .body = call.body}));
  if (auto* before = std::get_if<http::Response>(&claim)) return std::move(*before);
  const auto& claimed = std::get<IdempotencyStore::Claimed>(claim);
  // The work is done, so its answer stands.  A key whose outcome could not be written is refused until it expires.
  const auto keep = [&](const Result<void, Problem>& kept) {
    if (!kept) log::warning("idempotency_key_not_kept", {{"system", system}, {"error", kept.error().message}});
  };
  try {
    auto answer = work();
    const int status = answer ? answer->status : status_of(answer.error().kind);
    if (status < 300) {
      keep(store.complete(claimed, *answer));
    } else if (status < 500) {
      keep(store.release(claimed));
    } else {
      keep(store.abandon(claimed));
    }
    return answer;
  } catch (...) {
    keep(store.abandon(claimed));
    throw;
  }
}

}  // namespace stator::app
