#include "stator/client/traced_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "stator/api/measuring.h"
#include "stator/api/operations.h"
#include "stator/client/is_read.h"
#include "stator/client/operation_json.h"

namespace stator::client {
namespace {

thread_local const std::shared_ptr<Trace>* current_trace = nullptr;

api::Fault refused_write(std::string_view operation) {
  return {.type = "com.amazon.coral.service#AccessDeniedException",
          .message = fmt::format("{} was not carried out: only reading is allowed here.", operation)};
}

// The only table that all of `parts` name; empty if they name several.
template <typename Parts>
std::string only_table(const Parts& parts) {
  const auto several = [&](const auto& part) { return part.table != parts.front().table; };
  return parts.empty() || std::ranges::any_of(parts, several) ? std::string() : parts.front().table;
}

// The table of a request; empty: none, or several.
std::string table_of(const api::AnyRequest& request) {
  return std::visit(
      [](const auto& one) -> std::string {
        if constexpr (requires { one.page.table; }) {
          return one.page.table;
        } else if constexpr (requires { std::string(one.table); }) {
          return one.table;
        } else if constexpr (requires { one.tables; }) {
          return only_table(one.tables);
        } else if constexpr (requires { one.gets; }) {
          return only_table(one.gets);
        } else if constexpr (requires { one.items; }) {
          return only_table(one.items);
        } else {
          return {};
        }
      },
      request);
}

}  // namespace

void Trace::add(TracedCall call) {
  MutexLock lock(mutex_);
  const auto bytes = call.request.size() + call.response.size();
  if (calls_.size() >= kMostCalls || bytes_ + bytes > kMostBytes) {
    ++left_out_;
    return;
  }
  bytes_ += bytes;
  calls_.push_back(std::move(call));
}

std::vector<TracedCall> Trace::calls() const {
  MutexLock lock(mutex_);
  return calls_;
}

std::size_t Trace::left_out() const {
  MutexLock lock(mutex_);
  return left_out_;
}

TraceScope::TraceScope(std::shared_ptr<Trace> trace)
    : trace_(std::move(trace)), outer_(std::exchange(current_trace, &trace_)) {}

TraceScope::~TraceScope() { current_trace = outer_; }

// A call that somebody looks at, until its answer is there.
class TracedClient::Watched {
 public:
  Watched(const TracedClient& client, std::string_view operation, std::string request, std::string table = {})
      : clock_(&client.clock_),
        watcher_(client.watcher_),
        trace_(current_trace != nullptr ? *current_trace : nullptr),
        seen_{.operation = std::string(operation),
              .table = std::move(table),
              .request = std::move(request),
              .response = {},
              .error = {}},
        start_(client.clock_.steady_now()) {}

  // Whether the call may be carried out.  One that may not has ended.
  Result<void, api::Fault> check_allowed() {
    if (!trace_ || !trace_->reads_only() || is_read(seen_.operation)) return {};
    auto fault = refused_write(seen_.operation);
    note(fault);
    trace_->add(std::move(seen_));
    return fault;
  }

  void stop_clock() {
    seen_.took = std::chrono::duration_cast<std::chrono::microseconds>(clock_->steady_now() - start_);
  }
  void end(std::string response, std::optional<double> capacity, std::string table = {}) {
    if (!table.empty()) seen_.table = std::move(table);
    seen_.response = std::move(response);
    seen_.capacity = capacity;
    tell();
  }
  void end(const api::Fault& fault, std::string table = {}) {
    if (!table.empty()) seen_.table = std::move(table);
    note(fault);
    tell();
  }

 private:
  void note(const api::Fault& fault) {
    seen_.error = fault.name();
    seen_.response = fault.body();
  }
  void tell() {
    if (watcher_ != nullptr && watcher_->watches()) watcher_->saw(seen_);
    if (trace_) trace_->add(std::move(seen_));
  }

  const Clock* clock_;
  CallWatcher* watcher_;
  std::shared_ptr<Trace> trace_;
  TracedCall seen_;
  SteadyTime start_;
};

bool TracedClient::is_looked_at() const {
  return current_trace != nullptr || (watcher_ != nullptr && watcher_->watches());
}

void TracedClient::run(api::AnyRequest request, api::AnyReplyCallback reply) {
  if (!is_looked_at()) return client_.run(std::move(request), std::move(reply));
  Watched watched(*this, api::operation_name(request), encode_request(request), table_of(request));
  if (auto allowed = watched.check_allowed(); !allowed) return reply(std::move(allowed).error());
  const auto measuring =
      std::visit([](auto& one) { return api::Measuring(one, api::CapacityDetail::Indexes); }, request);
  client_.run(std::move(request), [watched = std::move(watched), measuring,
                                   reply = std::move(reply)](Result<api::AnyAnswer, api::Fault> answer) mutable {
    watched.stop_clock();
    if (!answer) {
      watched.end(answer.error());
      return reply(std::move(answer));
    }
    auto response = api::Operations::encode(*answer);
    watched.end(std::move(response), std::visit([&](auto& one) { return measuring.take(one); }, *answer));
    reply(std::move(answer));
  });
}

void TracedClient::call(std::string_view operation, std::string_view json, api::ReplyCallback reply) {
  if (!is_looked_at()) return client_.call(operation, json, std::move(reply));
  Watched watched(*this, operation, std::string(json));
  if (auto allowed = watched.check_allowed(); !allowed) {
    return reply({.outcome = std::move(allowed).error(), .table = {}});
  }
  client_.call(operation, asking_for_capacity(operation, json),
               [watched = std::move(watched), reply = std::move(reply)](api::Reply answer) mutable {
                 watched.stop_clock();
                 if (answer.ok()) {
                   watched.end(*answer.outcome, consumed_units(*answer.outcome), answer.table);
                 } else {
                   watched.end(answer.outcome.error(), answer.table);
                 }
                 reply(std::move(answer));
               });
}

}  // namespace stator::client
