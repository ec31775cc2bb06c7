#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/base/mutex.h"
#include "stator/base/thread_number.h"

namespace stator::http {

// All requests together.
struct RequestTotals {
  struct Operation {
    std::string operation;
    std::uint64_t requests = 0, errors = 0;
  };
  std::uint64_t requests = 0, errors = 0;
  std::vector<std::pair<double, std::uint64_t>> buckets;  // the upper bound in seconds, and how many are between the
                                                          // bound before and it; the last bound is infinity
  std::vector<Operation> by_operation;                    // by name
};

// Requests, errors and latency by operation and subject, such as a table, printed for Prometheus.
//
// Counting happens on every request, so each thread counts in a section of its own and only printing visits all of
// them. Bounded: beyond kMaxSeries combinations, subjects are counted together as "other".  Thread-safe.
class RequestMetrics {
 public:
  // Names begin with `prefix`; `subject` is the label of an operation's subject.  Both are in static storage.
  explicit RequestMetrics(std::string_view prefix = "stator", std::string_view subject = "table")
      : prefix_(prefix), subject_(subject) {}

  void record(std::string_view operation, std::string_view subject, std::string_view error,
              std::chrono::nanoseconds latency);
  // Appends the text exposition format.
  void print(std::string& out) const;
  RequestTotals totals() const;

 private:
  static constexpr std::size_t kSections = 64;
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
  // "operation\0subject", so that a lookup needs no allocation but the key's own.
  using SeriesMap = std::map<std::string, Series, std::less<>>;
  struct alignas(kCacheLine) Section {
    mutable Mutex mutex;
    SeriesMap series GUARDED_BY(mutex);
    std::string key GUARDED_BY(mutex);  // reused between requests
  };

  // Of all sections.
  SeriesMap sum() const;
  std::string labels(std::string_view key, std::string_view extra = {}) const;

  const std::string_view prefix_, subject_;
  std::array<Section, kSections> sections_;
};

// "# HELP" and "# TYPE" of a metric. The caller prints its values behind them.
void print_metric_head(std::string& out, std::string_view name, std::string_view type, std::string_view help);
// One "# HELP", "# TYPE" and value.
void print_metric(std::string& out, std::string_view name, std::string_view type, std::string_view help, double value);

}  // namespace stator::http
