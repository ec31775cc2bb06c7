#include "stator/console/server_metrics.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "stator/console/time_text.h"
#include "stator/value/json.h"

namespace stator::console {

namespace {

std::int64_t count(std::uint64_t number) { return static_cast<std::int64_t>(number); }

void append_store(value::JsonWriter& json, const StoreNumbers& store) {
  json.begin_object().key("host").string(store.host).key("reachable").boolean(store.reachable);
  json.key("since").string(time_text(store.since)).key("connections").integer(count(store.connections));
  json.key("connectionsUsed").integer(count(store.connections_used));
  json.key("mostConnections").integer(count(store.most_connections));
  json.key("roundTripMicros").integer(store.round_trip.count()).key("epoch").integer(count(store.epoch));
  json.key("conflicts").integer(count(store.conflicts)).key("retries").integer(count(store.retries));
  json.key("lockWaitMicros").integer(store.lock_wait.count()).key("statements").begin_array();
  for (const auto& each : store.statements) {
    json.begin_object().key("kind").string(each.kind).key("roundTrips").integer(count(each.round_trips));
    json.key("statements").integer(count(each.statements)).key("rows").integer(count(each.rows));
    json.key("micros").integer(each.time.count()).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

double percentile(const http::RequestTotals& totals, double part) {
  std::uint64_t all = 0;
  for (const auto& [bound, count] : totals.buckets) all += count;
  if (all == 0) return 0;
  const double wanted = part * static_cast<double>(all);
  double below = 0, lower = 0;
  for (const auto& [bound, count] : totals.buckets) {
    const auto here = static_cast<double>(count);
    if (count > 0 && below + here >= wanted) {
      if (bound == std::numeric_limits<double>::infinity()) return lower;
      return lower + (bound - lower) * (wanted - below) / here;
    }
    below += here;
    if (bound != std::numeric_limits<double>::infinity()) lower = bound;
  }
  return lower;
}

std::string metrics_json(const ServerMetrics& metrics, const std::vector<HotPartitions::Entry>& hottest, WallTime now) {
  std::string out;
  value::JsonWriter json(out);
  json.begin_object().key("at").string(time_text(now));
  json.key("requests").integer(count(metrics.requests.requests)).key("errors").integer(count(metrics.requests.errors));
  json.key("latency").begin_object();
  json.key("p50").real(percentile(metrics.requests, 0.5)).key("p99").real(percentile(metrics.requests, 0.99));
  json.key("buckets").begin_array();
  for (const auto& [bound, requests] : metrics.requests.buckets) {
    json.begin_array();
    if (bound == std::numeric_limits<double>::infinity()) {
      json.null();
    } else {
      json.real(bound);
    }
    json.integer(count(requests)).end_array();
  }
  json.end_array().end_object();
  json.key("commits").integer(count(metrics.commits)).key("storageBytes").integer(count(metrics.storage_bytes));
  json.key("memoryBytes").integer(count(metrics.memory_bytes)).key("memoryLimit").integer(count(metrics.memory_limit));
  json.key("connections").integer(count(metrics.connections)).key("byOperation").begin_array();
  for (const auto& each : metrics.requests.by_operation) {
    json.begin_object().key("operation").string(each.operation).key("requests").integer(count(each.requests));
    json.key("errors").integer(count(each.errors)).end_object();
  }
  json.end_array().key("hottest").begin_array();
  for (const auto& each : hottest) {
    json.begin_object().key("table").string(each.table).key("partition").string(each.partition);
    json.key("requests").integer(count(each.requests)).end_object();
  }
  json.end_array().key("store");
  if (metrics.store) {
    append_store(json, *metrics.store);
  } else {
    json.null();
  }
  json.end_object();
  return out;
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  if (!(file >> all >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace stator::console
