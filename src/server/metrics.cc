#include "stator/server/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace stator::server {
namespace {

std::size_t shard_of_this_thread(std::size_t shards) {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t mine = next++;
  return mine % shards;
}

std::string labels(std::string_view key, std::string_view extra = {}) {
  const auto zero = key.find('\0');
  auto text = fmt::format("operation=\"{}\"", key.substr(0, zero));
  if (const auto table = key.substr(zero + 1); !table.empty()) text += fmt::format(",table=\"{}\"", table);
  text += extra;
  return text;
}

void print_head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

}  // namespace

void RequestMetrics::record(std::string_view operation, std::string_view table, std::string_view error,
                            std::chrono::nanoseconds latency) {
  const double seconds = std::chrono::duration<double>(latency).count();
  auto& shard = shards_[shard_of_this_thread(kShards)];
  MutexLock lock(shard.mutex);
  shard.key.assign(operation).append(1, '\0').append(table);
  auto found = shard.series.find(shard.key);
  if (found == shard.series.end()) {
    if (shard.series.size() >= kMaxSeries) shard.key.assign(operation).append(1, '\0').append("other");
    found = shard.series.try_emplace(shard.key).first;
  }
  auto& series = found->second;
  const auto bucket = std::lower_bound(kBuckets.begin(), kBuckets.end(), seconds) - kBuckets.begin();
  ++series.buckets[static_cast<std::size_t>(bucket)];
  series.seconds += seconds;
  ++series.count;
  if (!error.empty()) ++series.errors[std::string(error)];
}

void RequestMetrics::print(std::string& out) const {
  SeriesMap all;
  for (const auto& shard : shards_) {
    MutexLock lock(shard.mutex);
    for (const auto& [key, series] : shard.series) {
      auto& sum = all[key];
      for (std::size_t i = 0; i < sum.buckets.size(); ++i) sum.buckets[i] += series.buckets[i];
      sum.seconds += series.seconds;
      sum.count += series.count;
      for (const auto& [error, count] : series.errors) sum.errors[error] += count;
    }
  }
  auto to = std::back_inserter(out);
  print_head(out, "stator_requests_total", "counter", "Requests answered.");
  for (const auto& [key, series] : all)
    fmt::format_to(to, "stator_requests_total{{{}}} {}\n", labels(key), series.count);
  print_head(out, "stator_errors_total", "counter", "Requests answered with an error, by its name.");
  for (const auto& [key, series] : all) {
    for (const auto& [error, count] : series.errors) {
      fmt::format_to(to, "stator_errors_total{{{}}} {}\n", labels(key, fmt::format(",error=\"{}\"", error)), count);
    }
  }
  print_head(out, "stator_request_seconds", "histogram", "Time from a request's arrival to its answer.");
  for (const auto& [key, series] : all) {
    std::uint64_t cumulative = 0;
    for (std::size_t i = 0; i < kBuckets.size(); ++i) {
      cumulative += series.buckets[i];
      fmt::format_to(to, "stator_request_seconds_bucket{{{}}} {}\n",
                     labels(key, fmt::format(",le=\"{}\"", kBuckets[i])), cumulative);
    }
    fmt::format_to(to, "stator_request_seconds_bucket{{{}}} {}\n", labels(key, ",le=\"+Inf\""), series.count);
    fmt::format_to(to, "stator_request_seconds_sum{{{}}} {}\n", labels(key), series.seconds);
    fmt::format_to(to, "stator_request_seconds_count{{{}}} {}\n", labels(key), series.count);
  }
}

void print_metric(std::string& out, std::string_view name, std::string_view type, std::string_view help, double value) {
  print_head(out, name, type, help);
  fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
}

}  // namespace stator::server
