#include "stator/http/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace stator::http {
std::string RequestMetrics::labels(std::string_view key, std::string_view extra) const {
  const auto zero = key.find('\0');
  auto text = fmt::format("operation=\"{}\"", key.substr(0, zero));
  if (const auto subject = key.substr(zero + 1); !subject.empty()) text += fmt::format(",{}=\"{}\"", subject_, subject);
  text += extra;
  return text;
}

void RequestMetrics::record(std::string_view operation, std::string_view subject, std::string_view error,
                            std::chrono::nanoseconds latency) {
  const double seconds = std::chrono::duration<double>(latency).count();
  auto& section = sections_[number_of_this_thread() % kSections];
  MutexLock lock(section.mutex);
  section.key.assign(operation).append(1, '\0').append(subject);
  auto found = section.series.find(section.key);
  if (found == section.series.end()) {
    if (section.series.size() >= kMaxSeries) section.key.assign(operation).append(1, '\0').append("other");
    found = section.series.try_emplace(section.key).first;
  }
  auto& series = found->second;
  const auto bucket = std::lower_bound(kBuckets.begin(), kBuckets.end(), seconds) - kBuckets.begin();
  ++series.buckets[static_cast<std::size_t>(bucket)];
  series.seconds += seconds;
  ++series.count;
  if (!error.empty()) ++series.errors[std::string(error)];
}

RequestMetrics::SeriesMap RequestMetrics::sum() const {
  SeriesMap all;
  for (const auto& section : sections_) {
    MutexLock lock(section.mutex);
    for (const auto& [key, series] : section.series) {
      auto& sum = all[key];
      for (std::size_t i = 0; i < sum.buckets.size(); ++i) sum.buckets[i] += series.buckets[i];
      sum.seconds += series.seconds;
      sum.count += series.count;
      for (const auto& [error, count] : series.errors) sum.errors[error] += count;
    }
  }
  return all;
}

RequestTotals RequestMetrics::totals() const {
  RequestTotals totals;
  for (const double bound : kBuckets) totals.buckets.emplace_back(bound, 0);
  totals.buckets.emplace_back(std::numeric_limits<double>::infinity(), 0);
  for (const auto& [key, series] : sum()) {
    const auto operation = std::string_view(key).substr(0, key.find('\0'));
    if (totals.by_operation.empty() || totals.by_operation.back().operation != operation) {
      totals.by_operation.push_back({.operation = std::string(operation)});
    }
    std::uint64_t errors = 0;
    for (const auto& [error, count] : series.errors) errors += count;
    totals.requests += series.count;
    totals.errors += errors;
    totals.by_operation.back().requests += series.count;
    totals.by_operation.back().errors += errors;
    for (std::size_t i = 0; i < series.buckets.size(); ++i) totals.buckets[i].second += series.buckets[i];
  }
  return totals;
}

void RequestMetrics::print(std::string& out) const {
  const auto all = sum();
  auto to = std::back_inserter(out);
  const auto requests = fmt::format("{}_requests_total", prefix_);
  const auto errors = fmt::format("{}_errors_total", prefix_);
  const auto seconds = fmt::format("{}_request_seconds", prefix_);
  print_metric_head(out, requests, "counter", "Requests answered.");
  for (const auto& [key, series] : all) fmt::format_to(to, "{}{{{}}} {}\n", requests, labels(key), series.count);
  print_metric_head(out, errors, "counter", "Requests answered with an error, by its name.");
  for (const auto& [key, series] : all) {
    for (const auto& [error, count] : series.errors) {
      fmt::format_to(to, "{}{{{}}} {}\n", errors, labels(key, fmt::format(",error=\"{}\"", error)), count);
    }
  }
  print_metric_head(out, seconds, "histogram", "Time from a request's arrival to its answer.");
  for (const auto& [key, series] : all) {
    std::uint64_t cumulative = 0;
    for (std::size_t i = 0; i < kBuckets.size(); ++i) {
      cumulative += series.buckets[i];
      fmt::format_to(to, "{}_bucket{{{}}} {}\n", seconds, labels(key, fmt::format(",le=\"{}\"", kBuckets[i])),
                     cumulative);
    }
    fmt::format_to(to, "{}_bucket{{{}}} {}\n", seconds, labels(key, ",le=\"+Inf\""), series.count);
    fmt::format_to(to, "{}_sum{{{}}} {}\n", seconds, labels(key), series.seconds);
    fmt::format_to(to, "{}_count{{{}}} {}\n", seconds, labels(key), series.count);
  }
}

void print_metric_head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void print_metric(std::string& out, std::string_view name, std::string_view type, std::string_view help, double value) {
  print_metric_head(out, name, type, help);
  fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
}

}  // namespace stator::http
