#include "stator/console/live_requests.h"

#include <algorithm>
#include <utility>

#include "stator/value/well_formed.h"

namespace stator::console {
namespace {

std::int64_t nanoseconds(SteadyTime time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

// As much of the beginning of a text as is kept; nothing of what is no text.
std::string beginning(std::string_view text) {
  auto cut = text.substr(0, LiveRequests::kMostBodyBytes);
  for (int i = 0; i < 3 && !cut.empty() && !value::is_utf8(cut); ++i) cut.remove_suffix(1);  // part of a character
  return value::is_utf8(cut) ? std::string(cut) : std::string();
}

}  // namespace

void LiveRequests::look() {
  watched_until_.store(nanoseconds(clock_.steady_now() + kPatience), std::memory_order_relaxed);
}

// The first to notice that nobody looks any more gives the memory back.
bool LiveRequests::is_before(std::int64_t until) {
  if (nanoseconds(clock_.steady_now()) <= until) return true;
  if (watched_until_.compare_exchange_strong(until, 0, std::memory_order_relaxed)) {
    MutexLock lock(mutex_);
    std::deque<LiveRequest>().swap(requests_);
    bytes_ = 0;
    hot_.clear();
  }
  return false;
}

std::unique_ptr<LiveRequest> LiveRequests::begin(std::string_view operation, std::string_view body) const {
  auto request = std::make_unique<LiveRequest>();
  request->at = clock_.now();
  request->operation = operation;
  request->table = table_of(body);
  request->request_bytes = body.size();
  request->body = beginning(body);
  request->cut = request->body.size() < body.size();
  request->partitions = partitions_of(body, key_of_);
  return request;
}

void LiveRequests::finish(std::unique_ptr<LiveRequest> request) {
  MutexLock lock(mutex_);
  for (const auto& [table, key] : request->partitions) hot_.count(table, key);
  if (request->partitions.size() > 1) request->partitions.resize(1);  // one is shown
  request->id = ++last_id_;
  bytes_ += size_of(*request);
  requests_.push_back(std::move(*request));
  while (requests_.size() > kMost || bytes_ > kMostBytes) {
    bytes_ -= size_of(requests_.front());
    requests_.pop_front();
  }
}

void LiveRequests::saw(const client::TracedCall& call) {
  auto request = begin(call.operation, call.request);
  if (!call.table.empty()) request->table = call.table;
  request->status = call.error.empty() ? 200 : 400;
  request->error = call.error;
  request->took = call.took;
  request->response_bytes = call.response.size();
  request->capacity = call.capacity;
  finish(std::move(request));
}

LiveRequests::News LiveRequests::after(std::uint64_t cursor) const {
  MutexLock lock(mutex_);
  News news{.cursor = last_id_, .dropped = 0, .requests = {}};
  if (cursor > last_id_) cursor = 0;
  const auto first = std::ranges::upper_bound(requests_, cursor, {}, &LiveRequest::id);
  news.requests.assign(first, requests_.end());
  const auto told = static_cast<std::uint64_t>(news.requests.size());
  if (cursor != 0) news.dropped = last_id_ - cursor - told;
  return news;
}

std::vector<HotPartitions::Entry> LiveRequests::hottest(std::size_t most) const {
  MutexLock lock(mutex_);
  return hot_.top(most);
}

std::size_t LiveRequests::size_of(const LiveRequest& request) {
  std::size_t bytes = sizeof(LiveRequest) + request.operation.size() + request.table.size() + request.error.size() +
                      request.body.size();
  for (const auto& [table, key] : request.partitions) bytes += table.size() + key.size();
  return bytes;
}

}  // namespace stator::console
