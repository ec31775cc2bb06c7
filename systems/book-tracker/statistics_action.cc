#include "stator/systems/book-tracker/statistics_action.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/app/rest/answer.h"
#include "stator/model/types/calendar.h"
#include "stator/runtime/problem.h"
#include "stator/value/json.h"

namespace stator::systems::book_tracker {
namespace {

using runtime::Object;
using runtime::Problem;
using value::AttributeValue;
using value::Item;

constexpr std::size_t kMostEvents = 100'000;
constexpr std::size_t kMostBooks = 10'000;
// The days that can be written as text, and so can be part of a key.
constexpr Day kFirstDay = std::chrono::sys_days(std::chrono::year(0) / 1 / 1);
constexpr Day kLastDay = std::chrono::sys_days(std::chrono::year(9999) / 12 / 31);
constexpr std::chrono::days kDefaultRange{365};
constexpr std::chrono::days kLongestRange{3653};

std::optional<Day> day_at(const Item& attributes, std::string_view name) {
  return model::parse_date(attributes.text(name).substr(0, std::string_view("2026-01-15").size()));
}

AttributeValue begin_of(Day day) { return AttributeValue(model::format_timestamp(day)); }

int year_of(Day day) { return static_cast<int>(std::chrono::year_month_day(day).year()); }

// The pages of an event or a correction, on the day of the event; nullopt when nothing was read.
std::optional<std::pair<Day, long>> reading_of(const Object& event) {
  const auto pages = pages_read(event.attributes.integer("fromPage"), event.attributes.integer("page"));
  const auto day = day_at(event.attributes, "occurredAt");
  if (pages == 0 || !day) return std::nullopt;
  return std::pair(*day, pages);
}

void append_goal(value::JsonWriter& json, int year, long goal, long finished) {
  json.key("goal").begin_object().key("year").integer(year).key("books").integer(goal);
  json.key("finished").integer(finished).key("remaining").integer(std::max(0L, goal - finished));
  const auto percent = goal > 0 ? std::min(100L, finished * 100 / goal) : 100;
  json.key("percent").integer(percent).end_object();
}

}  // namespace

StatisticsAction::StatisticsAction(const app::ExtensionParts& parts)
    : repository_(&parts.repository),
      clock_(&parts.clock),
      reading_(parts.repository.model().find_pattern("reading")),
      finished_(parts.repository.model().find_pattern("finished")),
      correction_(parts.repository.model().find_entity("CORRECTION")),
      profile_(parts.repository.model().find_entity("METADATA")) {}

Result<StatisticsAction::Range, Problem> StatisticsAction::range_of(const Item& inputs, Day today) const {
  Range range;
  range.to = day_at(inputs, "to").value_or(today);
  range.from = day_at(inputs, "from").value_or(std::max(kFirstDay, range.to - kDefaultRange + std::chrono::days(1)));
  if (range.from > range.to) return runtime::invalid({{"from", "must not be after to"}});
  if (range.to - range.from >= kLongestRange)
    return runtime::invalid({{"from", "must be at most ten years before to"}});
  return range;
}

Result<void, Problem> StatisticsAction::visit_all(const model::Pattern& pattern, const Item& parameters,
                                                  const runtime::Caller& caller, std::size_t most,
                                                  const Visit& visit) const {
  runtime::PageOptions request;
  request.limit = pattern.max_limit;
  std::size_t seen = 0;
  do {
    auto page = TRY(repository_->run(pattern, parameters, caller, request));
    seen += page.objects.size();
    if (seen > most) {
      return runtime::Problem{runtime::ProblemKind::TooLarge,
                              "TooMuch",
                              fmt::format("there are more than {} to count; ask for a shorter range", most),
                              {}};
    }
    for (const auto& object : page.objects) {
      if (!visit(object)) return {};
    }
    request.start = std::move(page.next);
  } while (request.start);
  return {};
}

Result<void, Problem> StatisticsAction::visit_events(const Range& range, const runtime::Caller& caller,
                                                     const Visit& visit) const {
  Item parameters;
  parameters.set("from", begin_of(range.from));
  parameters.set("before", begin_of(std::min(kLastDay, range.to + std::chrono::days(1))));
  std::string seen;  // the event of the last row; its last correction comes first, and the event itself last
  return visit_all(*reading_, parameters, caller, kMostEvents, [&](const Object& row) {
    const auto& event = row.attributes.text(row.entity == correction_ ? "corrects" : "id");
    if (event == seen) return true;
    seen = event;
    return visit(row);
  });
}

Result<PagesPerDay, Problem> StatisticsAction::pages_per_day(const Range& range, const runtime::Caller& caller) const {
  PagesPerDay days;
  TRY(visit_events(range, caller, [&](const Object& event) {
    if (const auto reading = reading_of(event)) days[reading->first] += reading->second;
    return true;
  }));
  return days;
}

Result<Streaks, Problem> StatisticsAction::streaks(const Range& range, const PagesPerDay& days, Day today,
                                                   const runtime::Caller& caller) const {
  Days read;
  for (const auto& [day, pages] : days) read.insert(day);
  const auto end = std::min(range.to, today);
  // A streak that goes on at the beginning of the range, or would go on today.
  const bool began_before = range.from > kFirstDay && (read.contains(range.from) || range.from >= end);
  if (began_before) {
    const auto before = std::min(range.from - std::chrono::days(1), today);
    CurrentStreak streak(before, before < today);
    TRY(visit_events({.from = kFirstDay, .to = before}, caller, [&](const Object& event) {
      const auto reading = reading_of(event);
      const bool belongs = !reading || streak.add(reading->first);
      if (reading && belongs) read.insert(reading->first);
      return belongs;
    }));
  }
  return streaks_of(read, range.from, end, end < today);
}

Result<std::map<std::string, long>, Problem> StatisticsAction::finished_per_year(const runtime::Caller& caller) const {
  std::map<std::string, long> years;
  TRY(visit_all(*finished_, {}, caller, kMostBooks, [&](const Object& book) {
    ++years[book.attributes.text("finishedAt").substr(0, 4)];
    return true;
  }));
  return years;
}

Result<std::optional<long>, Problem> StatisticsAction::goal(const runtime::Caller& caller) const {
  const auto profile = repository_->get(*profile_, {}, caller);
  if (!profile && profile.error().kind == runtime::ProblemKind::NotFound) return std::optional<long>();
  if (!profile) return profile.error();
  if (profile->attributes.find("yearlyGoal") == nullptr) return std::optional<long>();
  return std::optional(profile->attributes.integer("yearlyGoal"));
}

Result<http::Response, Problem> StatisticsAction::answer(const app::NativeCall& call) const {
  const auto today = std::chrono::floor<std::chrono::days>(clock_->now());
  const auto range = TRY(range_of(call.inputs, today));
  const auto days = TRY(pages_per_day(range, call.caller()));
  const auto streak = TRY(streaks(range, days, today, call.caller()));
  const auto years = TRY(finished_per_year(call.caller()));
  const auto goal_of_year = TRY(goal(call.caller()));

  http::Response response{.status = 200, .content_type = app::kJsonType, .headers = {}, .body = {}, .close = false};
  value::JsonWriter json(response.body);
  json.begin_object().key("from").string(model::format_date(range.from)).key("to").string(model::format_date(range.to));
  long pages = 0;
  json.key("pagesPerDay").begin_array();
  for (const auto& [day, count] : days) {
    pages += count;
    json.begin_object().key("day").string(model::format_date(day)).key("pages").integer(count).end_object();
  }
  json.end_array().key("pages").integer(pages);
  json.key("currentStreak").integer(streak.current).key("longestStreak").integer(streak.longest);
  json.key("finishedPerYear").begin_array();
  for (const auto& [year, count] : years) {
    json.begin_object().key("year").integer(std::stol(year)).key("books").integer(count).end_object();
  }
  json.end_array();
  if (goal_of_year) {
    const auto this_year = years.find(fmt::format("{:04}", year_of(today)));
    append_goal(json, year_of(today), *goal_of_year, this_year != years.end() ? this_year->second : 0);
  }
  json.end_object();
  return response;
}

}  // namespace stator::systems::book_tracker
