#include "stator/storage/postgres/store_condition.h"

#include "stator/base/log.h"

namespace stator::storage::postgres {

Result<void> StoreCondition::check_fence(std::int64_t fence) {
  if (fence == fence_) return {};
  return lose("another Stator has taken over the store");
}

Error StoreCondition::lose(std::string why, StoreTrouble trouble) {
  if (trouble == StoreTrouble::TakenOver) why += "; restart this one to use it again";
  MutexLock lock(mutex_);
  if (!lost_.exchange(true, std::memory_order_acq_rel)) {
    log::error("store_lost", {{"cause", why}, {"message", "nothing is read or written here any more"}});
    health_ = {.trouble = trouble, .cause = why};
  }
  return {ErrorCode::Storage, std::move(why)};
}

Error StoreCondition::fail(Error error, bool reached) {
  if (is_lost()) return error;
  {
    MutexLock lock(mutex_);
    failure_ = error.message;
  }
  if (!reached) {
    set_health({.trouble = StoreTrouble::Unreachable, .cause = error.message});
  } else if (health().trouble == StoreTrouble::None) {
    set_health({.trouble = StoreTrouble::DiskFailing, .cause = error.message});
  }
  return error;
}

std::optional<std::string> StoreCondition::failure() const {
  MutexLock lock(mutex_);
  return failure_;
}

void StoreCondition::recovered() {
  readers_refused_.store(false, std::memory_order_release);
  {
    MutexLock lock(mutex_);
    failure_.reset();
  }
  set_health({});
}

std::optional<Error> StoreCondition::refusal() const {
  if (is_lost()) return Error{ErrorCode::Storage, health().cause};
  if (unreachable_.load(std::memory_order_acquire)) {
    return Error{ErrorCode::Storage, "the database server does not answer"};  // the watcher asks it, or recover()
  }
  if (readers_refused_.load(std::memory_order_acquire)) {
    return Error{ErrorCode::Storage, "whether the last commit happened is not known yet"};
  }
  return std::nullopt;
}

void StoreCondition::set_health(StoreHealth health) {
  MutexLock lock(mutex_);
  if (lost_.load(std::memory_order_relaxed)) return;
  const bool unreachable = health.trouble == StoreTrouble::Unreachable;
  if (unreachable_.exchange(unreachable, std::memory_order_acq_rel) != unreachable) since_ = clock_.now();
  health_ = std::move(health);
}

void StoreCondition::note_unreachable(const Error& error) {
  // Once for each cause: it is tried each second.
  if (health().cause != error.message) log::warning("store_unreachable", {{"cause", error.message}});
  set_health({.trouble = StoreTrouble::Unreachable, .cause = error.message});
}

void StoreCondition::note_reached() {
  // A session that failed meanwhile is seen to by recover().
  if (failure() || health().trouble == StoreTrouble::None) return;
  log::info("store_reached", {{"message", "the database server answers again"}});
  set_health({});
}

StoreHealth StoreCondition::health() const {
  MutexLock lock(mutex_);
  return health_;
}

void StoreCondition::note_host(std::string host) {
  MutexLock lock(mutex_);
  host_ = std::move(host);
}

StoreCondition::Server StoreCondition::server() const {
  MutexLock lock(mutex_);
  return {.host = host_, .reachable = !unreachable_.load(std::memory_order_relaxed), .since = since_};
}

}  // namespace stator::storage::postgres
