#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace stator::bench {

// The table of every workload: items 0 to items-1, ten in a partition, about 1 KB each.
struct Dataset {
  std::string table;
  std::uint64_t items = 100'000;
  std::uint64_t seed = 1;
};

// One connection's part of a workload: makes its requests and judges the answers.  Confined to one thread.
class Client {
 public:
  virtual ~Client() = default;

  // The operation and JSON body of the next request; false when there is nothing left to do (loading only).
  virtual bool next(std::string& body) = 0;
  virtual std::string_view operation() const = 0;
  // Why `body` is not the right answer to the last request, or nothing.
  virtual std::optional<std::string> check(std::string_view body) = 0;
  // Items that the last answer was about.
  virtual std::uint64_t items() const { return 1; }
};

// A named kind of load; makes the clients of a run, which share its state.
class Workload {
 public:
  virtual ~Workload() = default;
  virtual std::unique_ptr<Client> client(std::uint64_t number) = 0;
};

// load, put, get, query, query-gsi, update, batch, transact or scan; null for another name.
std::unique_ptr<Workload> make_workload(std::string_view name, const Dataset& dataset);

// The names above, for a usage text.
std::string_view workload_names();

}  // namespace stator::bench
