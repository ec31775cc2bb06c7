#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/client/client.h"

namespace stator::client {

// One call of the DynamoDB API, for people to look at.
struct TracedCall {
  std::string operation;
  std::string table;                    // empty: none, or several
  std::string request;                  // JSON
  std::string response;                 // JSON; of a fault, its body
  std::string error;                    // the name of the fault; empty: it went well
  std::optional<double> capacity = {};  // units, of all tables and indexes together
  std::chrono::microseconds took{};
};

// The calls that one request of a user became, in the order in which they were answered.  Bounded: calls beyond
// kMostCalls or kMostBytes are only counted.  Thread-safe.
class Trace {
 public:
  static constexpr std::size_t kMostCalls = 200;
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  // `reads_only`: calls that could write are refused, and not carried out.
  explicit Trace(bool reads_only = false) : reads_only_(reads_only) {}

  bool reads_only() const { return reads_only_; }
  void add(TracedCall call);
  std::vector<TracedCall> calls() const;
  std::size_t left_out() const;

 private:
  const bool reads_only_;
  mutable Mutex mutex_;
  std::vector<TracedCall> calls_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
  std::size_t left_out_ GUARDED_BY(mutex_) = 0;
};

// While it lives, the calls that this thread makes through a TracedClient are added to the trace.
class TraceScope {
 public:
  explicit TraceScope(std::shared_ptr<Trace> trace);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  std::shared_ptr<Trace> trace_;
  const std::shared_ptr<Trace>* outer_;
};

// Wants to see all calls, at times.  Thread-safe.
class CallWatcher {
 public:
  virtual ~CallWatcher() = default;
  virtual bool watches() = 0;  // asked before every call, so it is quick
  virtual void saw(const TracedCall& call) = 0;
};

// A client whose calls can be recorded, by a trace of the calling thread and by a watcher.  A call without either goes
// to the other client unchanged.  A recorded call asks for its capacity, which is removed from the answer if the caller
// did not ask for it.  The JSON in a recording is made for it alone.
class TracedClient final : public Client {
 public:
  // All outlive it; no watcher: null.
  TracedClient(Client& client, const Clock& clock, CallWatcher* watcher = nullptr)
      : client_(client), clock_(clock), watcher_(watcher) {}

  void run(api::AnyRequest request, api::AnyReplyCallback reply) override;
  void call(std::string_view operation, std::string_view json, api::ReplyCallback reply) override;

 private:
  class Watched;

  bool is_looked_at() const;

  Client& client_;
  const Clock& clock_;
  CallWatcher* const watcher_;
};

}  // namespace stator::client
