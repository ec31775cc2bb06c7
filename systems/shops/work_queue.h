#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/runtime/repository.h"

namespace stator::systems::shops {

// A worker's claim on a shop. No other worker gets the shop until then.
struct Lease {
  runtime::Object shop;
  std::string token;  // shown to complete or fail
  std::string until;
};

struct ClaimRequest {
  std::string op;  // "crawl", "scrape"
  std::string country;
  std::int64_t seconds = 0;  // how long the lease lasts
};

// Hands out shops that are due, the most overdue first.
//
// A lease is a conditional write of the shop's row: if two workers want the same shop, one gets it.  The write moves
// the shop to a part of the index that is sorted by the end of the lease, so a claim never reads shops with a running
// lease.  A dead worker's shop can be claimed again once its lease has ended, and comes before all that are less
// overdue; of more than 32 such shops, those whose lease ended first. Blocking, thread-safe.
class WorkQueue {
 public:
  WorkQueue(runtime::Repository& repository, const Clock& clock);  // both outlive the queue

  // Nothing: no shop is due, or other workers have just taken all of them.
  Result<std::optional<Lease>, runtime::Problem> claim(const ClaimRequest& request, const runtime::Caller& caller);

 private:
  Result<std::vector<runtime::Object>, runtime::Problem> candidates(const ClaimRequest& request,
                                                                    const runtime::Caller& caller);
  Result<std::optional<Lease>, runtime::Problem> lease(const runtime::Object& shop, const ClaimRequest& request);

  runtime::Repository& repository_;
  const Clock& clock_;
  Random random_;
};

}  // namespace stator::systems::shops
