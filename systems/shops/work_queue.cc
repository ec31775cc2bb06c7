#include "stator/systems/shops/work_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "stator/model/types/calendar.h"
#include "stator/runtime/object.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/write/transaction.h"

namespace stator::systems::shops {
namespace {

using runtime::Object;
using runtime::Problem;
using value::AttributeValue;

constexpr unsigned kCandidates = 32;  // of each head that a claim looks at
constexpr unsigned kRounds = 8;       // how often the head is read again when other workers took all of it
constexpr std::string_view kTaken = "Taken";

}  // namespace

WorkQueue::WorkQueue(runtime::Repository& repository, const Clock& clock)
    : repository_(repository), clock_(clock), random_(Random::from_system()) {}

Result<std::optional<Lease>, Problem> WorkQueue::claim(const ClaimRequest& request, const runtime::Caller& caller) {
  for (unsigned round = 0; round < kRounds; ++round) {
    auto due = TRY(candidates(request, caller));
    if (due.empty()) break;
    // The head first.  A worker that finds it taken goes on at a random place behind it, so that workers do not meet at
    // each place.
    for (std::size_t i = 1; i < due.size(); ++i) std::swap(due[i], due[i + random_.below(due.size() - i)]);
    for (const auto& shop : due) {
      auto leased = TRY(lease(shop, request));
      if (leased) return leased;
    }
  }
  return std::optional<Lease>();
}

// The first of those that are free, and of those whose lease has ended, the most overdue first.
Result<std::vector<Object>, Problem> WorkQueue::candidates(const ClaimRequest& request, const runtime::Caller& caller) {
  const value::Item parameters{{"shop_country", AttributeValue::string(request.country)}};
  std::vector<Object> found;
  for (const auto* kind : {"free_to_", "abandoned_to_"}) {
    const auto& pattern = *repository_.model().find_pattern(kind + request.op);
    auto page = TRY(repository_.run(pattern, parameters, caller, {.limit = kCandidates, .start = std::nullopt}));
    std::move(page.objects.begin(), page.objects.end(), std::back_inserter(found));
  }
  std::ranges::stable_sort(found, {}, [&](const Object& shop) { return shop.attributes.text(request.op + "_at"); });
  return found;
}

// Nothing when somebody else has taken it.
Result<std::optional<Lease>, Problem> WorkQueue::lease(const Object& shop, const ClaimRequest& request) {
  const auto& entity = *shop.entity;
  const auto now = std::chrono::floor<std::chrono::milliseconds>(clock_.now());
  Lease lease{.shop = {},
              .token = random_.uuid(),
              .until = model::format_timestamp(now + std::chrono::seconds(request.seconds))};
  const auto taken = repository_.transact([&](runtime::Transaction& transaction) -> Result<void, Problem> {
    auto* draft = TRY(transaction.load(entity, shop.attributes));
    const auto is_past = [&](const std::string& name) {
      return draft->after->text(request.op + name) < model::format_timestamp(now);  // an absent time counts as past
    };
    const bool due = draft != nullptr && is_past("_at") && is_past("_lease_until");
    if (!due) return runtime::conflict(std::string(kTaken), "another worker was first");
    // It may have been leased and released since.
    transaction.depend_on(*draft,
                          {request.op + "_lease_until", request.op + "_failed_at", "last_crawled", "last_scraped"});
    model::PlainObject changes;
    changes.values.set(request.op + "_lease", AttributeValue::string(lease.token));
    changes.values.set(request.op + "_lease_until", AttributeValue::string(lease.until));
    TRY(transaction.change(*draft, changes, runtime::ValueSource::Model));
    lease.shop = runtime::to_object(repository_.model(), entity, *draft->after);
    return {};
  });
  if (taken) return std::optional(std::move(lease));
  const auto& problem = taken.error();
  if (problem.code == kTaken || problem.code == "Contention") return std::optional<Lease>();
  return problem;
}

}  // namespace stator::systems::shops
