#include "stator/database.h"

#include <condition_variable>
#include <mutex>
#include <optional>

#include "stator/library/instance.h"
#include "stator/value/json.h"

namespace stator {
namespace {

// Waits for a reply from another thread.
class PendingReply {
 public:
  void set(api::Reply reply) {
    const std::lock_guard lock(mutex_);
    reply_ = std::move(reply);
    ready_.notify_one();
  }
  api::Reply wait() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return reply_.has_value(); });
    return std::move(*reply_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::optional<api::Reply> reply_;
};

}  // namespace

struct Database::State {
  std::unique_ptr<library::Instance> instance;
};

Database::Database(const DatabaseOptions& options) {
  auto instance = library::Instance::open({.data_folder = options.data_folder,
                                           .in_memory = options.in_memory,
                                           .relaxed_durability = options.relaxed_durability,
                                           .region = options.region});
  if (!instance) throw OpenError(instance.error().message);
  state_ = std::make_unique<State>(State{std::move(*instance)});
}

Database::~Database() = default;

Database::Answer Database::call(std::string_view operation, std::string_view json) {
  std::string padded;
  padded.reserve(json.size() + value::kJsonPadding);
  padded = json;
  PendingReply pending;
  state_->instance->service().call(operation, padded, [&](api::Reply reply) { pending.set(std::move(reply)); });
  auto reply = pending.wait();
  if (auto* body = std::get_if<std::string>(&reply.outcome)) {
    return {.ok = true, .body = std::move(*body), .error_name = {}};
  }
  const auto& fault = std::get<api::Fault>(reply.outcome);
  return {.ok = false, .body = fault.body(), .error_name = std::string(fault.name())};
}

}  // namespace stator
