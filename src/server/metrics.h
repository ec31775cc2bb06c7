#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/mutex.h"

namespace stator::server {

// Requests, errors and latency by operation and table, printed for Prometheus.
//
// Counting happens on every request, so each thread counts in a shard of its own and only printing visits all of them.
// Bounded: beyond kMaxSeries combinations, tables are counted together as "other".  Thread-safe.
class RequestMetrics {
 public:
  void record(std::string_view operation, std::string_view table, std::string_view error,
              std::chrono::nanoseconds latency);
  // Appends the text exposition format.
  void print(std::string& out) const;

 private:
  static constexpr std::size_t kShards = 16;
  static constexpr std::size_t kMaxSeries = 2000;
  // Upper bounds in seconds; one more bucket holds the rest.
  static constexpr std::array kBuckets = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                          0.025,  0.05,    0.1,    0.25,  0.5,    1.0,   2.5};

  struct Series {
    std::array<std::uint64_t, kBuckets.size() + 1> buckets{};
    double seconds = 0;
    std::uint64_t count = 0;
    std::map<std::string, std::uint64_t, std::less<>> errors;
  };
  // "operation\0table", so that a lookup needs no allocation but the key's own.
  using SeriesMap = std::map<std::string, Series, std::less<>>;
  struct Shard {
    mutable Mutex mutex;
    SeriesMap series GUARDED_BY(mutex);
    std::string key GUARDED_BY(mutex);  // reused between requests
  };

  std::array<Shard, kShards> shards_;
};

// One "# HELP", "# TYPE" and value.
void print_metric(std::string& out, std::string_view name, std::string_view type, std::string_view help, double value);

}  // namespace stator::server
