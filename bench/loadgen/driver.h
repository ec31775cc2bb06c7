#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stator/bench/histogram.h"
#include "stator/bench/signature.h"
#include "stator/bench/workload.h"

namespace stator::bench {

struct Endpoint {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8000;
  std::string path = "/";
};

struct Plan {
  std::vector<Endpoint> endpoints;  // at least one; each connection is to one of them, in turn
  int connections = 1;
  double rate = 0;  // requests per second, all connections together; 0: the next when the last is answered
  std::chrono::nanoseconds warmup{};    // answered and checked, but not counted
  std::chrono::nanoseconds duration{};  // counted; a workload that ends by itself is counted until its end
  Signer* signer = nullptr;             // null: signatures are not valid
  std::vector<int> server_pids;         // whose processor time is read from /proc
};

struct Outcome {
  Histogram latency;
  std::uint64_t operations = 0, items = 0, bytes_received = 0, errors = 0, reconnects = 0;
  std::string first_error;  // what was asked and what came
  double seconds = 0, server_cpu_seconds = 0, client_cpu_seconds = 0;
};

// With a rate, a request has a time at which it is due, and its latency counts from then: what is answered late delays
// the requests behind it, as it would if they came from other clients.
//
// Runs the workload on `plan.connections` keep-alive connections, one request under way on each, in one epoll loop.
// Every answer is checked; a wrong one counts as an error.  A connection that the server closes instead of answering is
// opened again and its request repeated (a server may close what it takes for idle); any other failure ends the run.
Outcome run(const Plan& plan, Workload& workload);

}  // namespace stator::bench
