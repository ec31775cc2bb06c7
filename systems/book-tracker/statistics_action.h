#pragma once

#include <functional>
#include <string>

#include "stator/app/rest/extension.h"
#include "stator/systems/book-tracker/reading_statistics.h"

namespace stator::systems::book_tracker {

// GET /statistics.  Reads events page by page, so that memory grows with days and years, not with events. Bounds: ten
// years, 100,000 events, 10,000 finished books; beyond them the answer is an error, never a wrong number.  Thread-safe.
class StatisticsAction {
 public:
  explicit StatisticsAction(const app::ExtensionParts& parts);

  Result<http::Response, runtime::Problem> answer(const app::NativeCall& call) const;

 private:
  struct Range {
    Day from, to;
  };
  using Visit = std::function<bool(const runtime::Object& object)>;  // false: enough

  Result<Range, runtime::Problem> range_of(const value::Item& inputs, Day today) const;
  // Latest first, each as its last correction says it.
  Result<void, runtime::Problem> visit_events(const Range& range, const runtime::Caller& caller,
                                              const Visit& visit) const;
  Result<void, runtime::Problem> visit_all(const model::Pattern& pattern, const value::Item& parameters,
                                           const runtime::Caller& caller, std::size_t most, const Visit& visit) const;
  Result<PagesPerDay, runtime::Problem> pages_per_day(const Range& range, const runtime::Caller& caller) const;
  // `days`: the days of the range with reading.
  Result<Streaks, runtime::Problem> streaks(const Range& range, const PagesPerDay& days, Day today,
                                            const runtime::Caller& caller) const;
  Result<std::map<std::string, long>, runtime::Problem> finished_per_year(const runtime::Caller& caller) const;
  // None: the caller has set no goal.
  Result<std::optional<long>, runtime::Problem> goal(const runtime::Caller& caller) const;

  runtime::Repository* repository_;
  const Clock* clock_;
  const model::Pattern* reading_;
  const model::Pattern* finished_;
  const model::Entity* correction_;
  const model::Entity* profile_;
};

}  // namespace stator::systems::book_tracker
