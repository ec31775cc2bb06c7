#include "stator/database.h"

#include <cstddef>

#include "stator/api/reply.h"
#include "stator/base/mutex.h"
#include "stator/base/wait_for_reply.h"
#include "stator/library/instance.h"
#include "stator/value/json.h"

namespace stator {
namespace {

// The calls whose answers are still to come.  Thread-safe.
class OpenCalls {
 public:
  struct Close {
    void operator()(OpenCalls* calls) const { calls->close(); }
  };
  using OpenCall = std::unique_ptr<OpenCalls, Close>;

  // The call is over when the result is destroyed.
  OpenCall open() {
    const MutexLock lock(mutex_);
    ++open_;
    return OpenCall(this);
  }
  void wait_for_all() {
    const MutexLock lock(mutex_);
    while (open_ != 0) changed_.wait(mutex_);
  }

 private:
  void close() {
    const MutexLock lock(mutex_);
    --open_;
    changed_.notify_all();  // with the lock: who waits may destroy this right after
  }

  Mutex mutex_;
  CondVar changed_;
  std::size_t open_ GUARDED_BY(mutex_) = 0;
};

}  // namespace

struct Database::State {
  std::unique_ptr<library::Instance> instance;
  OpenCalls calls;
};

Database::Database(const DatabaseOptions& options) : state_(std::make_unique<State>()) {
  auto instance = library::Instance::open({.data_folder = options.data_folder,
                                           .in_memory = options.in_memory,
                                           .relaxed_durability = options.relaxed_durability,
                                           .region = options.region});
  if (!instance) throw OpenError(instance.error().message);
  state_->instance = std::move(*instance);
}

Database::~Database() { state_->calls.wait_for_all(); }

Result<api::AnyAnswer, api::Fault> Database::run_and_wait(api::AnyRequest request) {
  return wait_for_reply<Result<api::AnyAnswer, api::Fault>>(
      [&](api::AnyReplyCallback reply) { state_->instance->operations().run(std::move(request), std::move(reply)); });
}

void Database::run(api::AnyRequest request, api::AnyReplyCallback reply) {
  auto until_answered = [call = state_->calls.open(), reply = std::move(reply)](auto answer) mutable {
    reply(std::move(answer));
  };
  state_->instance->operations().run(std::move(request), std::move(until_answered));
}

Database::Answer Database::call(std::string_view operation, std::string_view json) {
  std::string padded;
  padded.reserve(json.size() + value::kJsonPadding);
  padded = json;
  auto reply = wait_for_reply<api::Reply>(
      [&](api::ReplyCallback done) { state_->instance->operations().call(operation, padded, std::move(done)); });
  if (reply.ok()) return {.ok = true, .body = std::move(*reply.outcome), .error_name = {}};
  const auto& fault = reply.outcome.error();
  return {.ok = false, .body = fault.body(), .error_name = std::string(fault.name())};
}

}  // namespace stator
