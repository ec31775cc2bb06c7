#include "stator/client/traced_client.h"

#include <fmt/format.h>

#include <utility>

#include "stator/client/is_read.h"
#include "stator/client/operation_json.h"

namespace stator::client {
namespace {

thread_local const std::shared_ptr<Trace>* current_trace = nullptr;

api::Fault refused_write(std::string_view operation) {
  return {.type = "com.amazon.coral.service#AccessDeniedException",
          .message = fmt::format("{} was not carried out: only reading is allowed here.", operation)};
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

bool TracedClient::is_looked_at() const {
  return current_trace != nullptr || (watcher_ != nullptr && watcher_->watches());
}

void TracedClient::run(api::AnyRequest request, api::AnyReplyCallback reply) {
  if (!is_looked_at()) return client_.run(std::move(request), std::move(reply));
  Client::run(std::move(request), std::move(reply));  // through call()
}

void TracedClient::call(std::string_view operation, std::string_view json, api::ReplyCallback reply) {
  if (!is_looked_at()) return client_.call(operation, json, std::move(reply));
  auto trace = current_trace != nullptr ? *current_trace : nullptr;
  TracedCall seen{.operation = std::string(operation),
                  .table = {},
                  .request = std::string(json),
                  .response = {},
                  .error = {},
                  .capacity = {},
                  .took = {}};
  if (trace && trace->reads_only() && !is_read(operation)) {
    auto fault = refused_write(operation);
    seen.error = fault.name();
    seen.response = fault.body();
    trace->add(std::move(seen));
    return reply({.outcome = std::move(fault), .table = {}});
  }
  const auto start = clock_.steady_now();
  client_.call(operation, asking_for_capacity(operation, json),
               [&clock = clock_, watcher = watcher_, trace = std::move(trace), seen = std::move(seen), start,
                reply = std::move(reply)](api::Reply answer) mutable {
                 using std::chrono::duration_cast;
                 seen.took = duration_cast<std::chrono::microseconds>(clock.steady_now() - start);
                 seen.table = answer.table;
                 if (answer.ok()) {
                   seen.response = *answer.outcome;
                   seen.capacity = consumed_units(seen.response);
                 } else {
                   seen.error = answer.outcome.error().name();
                   seen.response = answer.outcome.error().body();
                 }
                 if (watcher != nullptr && watcher->watches()) watcher->saw(seen);
                 if (trace) trace->add(std::move(seen));
                 reply(std::move(answer));
               });
}

}  // namespace stator::client
