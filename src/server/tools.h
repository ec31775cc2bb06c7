#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/base/random.h"
#include "stator/base/unique_function.h"
#include "stator/engine/check/check.h"
#include "stator/http/server.h"
#include "stator/library/instance.h"
#include "stator/storage/store.h"

namespace stator::server {

// Answers `stator check` and `stator backup` when they ask a running server, below /stator/ of the DynamoDB endpoint.
// The caller has checked the signature.
//
//   POST   /stator/check                             starts a check, or joins the one that runs; answers as GET does
//   GET    /stator/check                             its progress, and its findings when it is done
//   POST   /stator/backups                           freezes the store's files; answers names, sizes and content ids
//   GET    /stator/backups/ID/FILE/OFFSET/LENGTH     bytes of the FILE-th file, at most kMaxChunkBytes, and a checksum
//   DELETE /stator/backups/ID                        lets the files go
//
// Every request must have the header X-Stator-Tool, which a web page cannot send without asking first.  Frozen files
// that no request has read for a while are let go.  One check runs at a time, on a thread of its own with a low
// priority; the rest is done one after another on a second one.  Thread-safe.
class Tools {
 public:
  static constexpr std::string_view kPrefix = "/stator/";
  static constexpr std::string_view kHeader = "X-Stator-Tool";
  static constexpr std::string_view kChecksumHeader = "X-Stator-Checksum";
  static constexpr std::size_t kMaxChunkBytes = std::size_t{4} << 20;

  explicit Tools(library::Instance& instance);  // outlives stop()
  ~Tools();

  void handle(const http::Request& request, http::Responder responder);
  // Ends the work that runs and lets all files go.  Nothing touches the instance afterwards.
  void stop();

 private:
  static constexpr std::size_t kMaxWaiting = 64;
  static constexpr std::size_t kMaxFrozen = 4;
  static constexpr std::chrono::minutes kForgetFrozen{5};
  // At the limit, the one that was not asked for in the longest time goes, if it is as long as this.
  static constexpr std::chrono::seconds kIdleFrozen{30};
  static constexpr std::chrono::seconds kLookForForgotten{15};

  struct Frozen {
    std::shared_ptr<const storage::FrozenFiles> files;
    SteadyTime last_used;
  };
  struct CheckState {
    enum class State : std::uint8_t { None, Running, Done, Failed };
    State state = State::None;
    std::uint64_t number = 0;  // of the check; each has another
    engine::CheckProgress progress;
    engine::CheckReport report;
    std::string error;
  };

  void start_check(http::Responder responder);
  void run_check(std::uint64_t number);
  void check_now(std::uint64_t number);
  http::Response check_answer() const;

  void on_worker(http::Responder responder, UniqueFunction<http::Response()> work);
  void run_worker();
  void forget_frozen();
  bool make_room();
  http::Response freeze();
  http::Response read(std::string_view path);
  http::Response release(std::string_view id);

  library::Instance& instance_;
  const Clock& clock_;                     // the engine's
  Random random_ = Random::from_system();  // the worker's

  mutable Mutex mutex_;
  CondVar wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  CheckState check_ GUARDED_BY(mutex_);
  std::deque<UniqueFunction<void()>> queue_ GUARDED_BY(mutex_);
  std::map<std::string, Frozen, std::less<>> frozen_ GUARDED_BY(mutex_);

  std::thread check_thread_, worker_;  // started when they are needed, joined by stop()
};

}  // namespace stator::server
