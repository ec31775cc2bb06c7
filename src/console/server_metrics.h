#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stator/base/clock.h"
#include "stator/console/hot_partitions.h"
#include "stator/http/metrics.h"

namespace stator::console {

// The state of the database server that keeps the store, and the statements sent to it.
struct StoreNumbers {
  std::string host;
  bool reachable = true;
  WallTime since;
  std::uint64_t connections = 0, connections_used = 0, most_connections = 0;
  std::chrono::microseconds round_trip{0};
  std::uint64_t epoch = 0;
  std::uint64_t conflicts = 0, retries = 0;
  std::chrono::microseconds lock_wait{0};
  struct Statements {
    std::string kind;
    std::uint64_t round_trips = 0, statements = 0, rows = 0;
    std::chrono::microseconds time{0};
  };
  std::vector<Statements> statements = {};
};

// The server's counters, as the console draws them: they grow from the start of the server.
struct ServerMetrics {
  http::RequestTotals requests;
  std::uint64_t commits = 0;
  std::uint64_t storage_bytes = 0;
  std::uint64_t memory_bytes = 0;  // of the process
  std::uint64_t memory_limit = 0;
  std::uint64_t connections = 0;
  std::optional<StoreNumbers> store = {};  // nullopt: no database server keeps it
};

// The time within which `part` (0.5, 0.99) of the requests were answered, in seconds; 0 without requests.  Within a
// bucket they are taken to be spread evenly.
double percentile(const http::RequestTotals& totals, double part);

// GET /console/metrics.
std::string metrics_json(const ServerMetrics& metrics, const std::vector<HotPartitions::Entry>& hottest, WallTime now);

// The memory of the process, as resident now.
std::uint64_t resident_bytes();

}  // namespace stator::console
