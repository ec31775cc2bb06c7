// stator_loadgen: one workload on a number of connections; prints its outcome as one JSON object.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stator/bench/driver.h"

namespace {

using stator::bench::Dataset;
using stator::bench::Outcome;
using stator::bench::Plan;

constexpr const char* kUsage =
    "usage: stator_loadgen WORKLOAD --table NAME [--host 127.0.0.1] [--port 8000,8001] [--path /] [--connections 1]\n"
    "                      [--items 100000] [--first 0] [--seconds 0] [--warmup 0] [--seed 1] [--pids 1,2]\n"
    "                      [--rate 0] [--sign no]\n"
    "Of several ports, each connection takes one, in turn.\n"
    "--rate: requests per second, 0 for as many as are answered.  --seconds 0 runs a workload that ends by itself\n"
    "(load) to its end.  --items is a multiple of 10; --first is where loading begins.  --sign yes: sign with\n"
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.\n";

std::chrono::nanoseconds seconds(const std::string& text) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::stod(text) * 1e9));
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before there are threads
  return value == nullptr ? "" : value;
}

std::vector<int> numbers(std::string text) {
  std::vector<int> found;
  while (!text.empty()) {
    std::size_t used = 0;
    found.push_back(std::stoi(text, &used));
    text.erase(0, used + 1);
  }
  return found;
}

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

void print(const Outcome& o) {
  const auto microseconds = [&](double p) { return static_cast<double>(o.latency.percentile(p)) / 1e3; };
  const auto per_operation = o.operations > 0 ? o.server_cpu_seconds * 1e6 / static_cast<double>(o.operations) : 0;
  std::printf(
      "{\"operations\":%llu,\"items\":%llu,\"seconds\":%.6f,\"ops_s\":%.1f,\"items_s\":%.1f,\"p50_us\":%.1f,\"p99_us\":"
      "%.1f,"
      "\"received_bytes\":%llu,\"server_us_op\":%.2f,\"client_cpu\":%.3f,\"reconnects\":%llu,\"errors\":%llu,\"first_"
      "error\":%s}\n",
      static_cast<unsigned long long>(o.operations), static_cast<unsigned long long>(o.items), o.seconds,
      static_cast<double>(o.operations) / o.seconds, static_cast<double>(o.items) / o.seconds, microseconds(0.5),
      microseconds(0.99), static_cast<unsigned long long>(o.bytes_received), per_operation,
      o.client_cpu_seconds / o.seconds, static_cast<unsigned long long>(o.reconnects),
      static_cast<unsigned long long>(o.errors), json_string(o.first_error).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::map<std::string, std::string> options;
    for (int i = 2; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    const auto option = [&](const std::string& name, const std::string& otherwise) {
      const auto found = options.find(name);
      return found == options.end() ? otherwise : found->second;
    };
    Dataset data;
    data.table = option("--table", "");
    data.items = std::stoull(option("--items", "100000"));
    data.first = std::min<std::uint64_t>(data.items, std::stoull(option("--first", "0")));
    data.connections = std::stoull(option("--connections", "1"));
    data.seed = std::stoull(option("--seed", "1"));
    const auto workload = argc > 1 ? stator::bench::make_workload(argv[1], data) : nullptr;
    if (!workload || data.table.empty() || data.items == 0 || data.items % 10 != 0 || argc % 2 != 0) {
      std::fprintf(stderr, "%sworkloads: %s\n", kUsage, std::string(stator::bench::workload_names()).c_str());
      return 2;
    }
    Plan plan;
    for (const int port : numbers(option("--port", "8000"))) {
      plan.endpoints.push_back({.host = option("--host", "127.0.0.1"),
                                .port = static_cast<std::uint16_t>(port),
                                .path = option("--path", "/")});
    }
    plan.connections = std::stoi(option("--connections", "1"));
    plan.rate = std::stod(option("--rate", "0"));
    plan.warmup = seconds(option("--warmup", "0"));
    plan.duration = seconds(option("--seconds", "0"));
    plan.server_pids = numbers(option("--pids", ""));
    std::optional<stator::bench::Signer> signer;
    if (option("--sign", "no") == "yes") {
      plan.signer = &signer.emplace(environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"));
    }
    print(stator::bench::run(plan, *workload));
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "stator_loadgen: %s\n", e.what());
    return 1;
  }
}
