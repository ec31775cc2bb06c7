#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stator/base/clock.h"
#include "stator/console/hot_partitions.h"
#include "stator/http/metrics.h"

namespace stator::console {

// What the server counts, as the console draws it: counters grow from the start of the server.
struct ServerMetrics {
  http::RequestTotals requests;
  std::uint64_t commits = 0;
  std::uint64_t storage_bytes = 0;
  std::uint64_t memory_bytes = 0;  // of the process
  std::uint64_t memory_limit = 0;
  std::uint64_t connections = 0;
};

// The time within which `part` (0.5, 0.99) of the requests were answered, in seconds; 0 without requests.  Within a
// bucket they are taken to be spread evenly.
double percentile(const http::RequestTotals& totals, double part);

// GET /console/metrics.
std::string metrics_json(const ServerMetrics& metrics, const std::vector<HotPartitions::Entry>& hottest, WallTime now);

// What the process has in memory now.
std::uint64_t resident_bytes();

}  // namespace stator::console
