#include "stator/systems/media-library/change_feed.h"

#include <algorithm>
#include <exception>
#include <vector>

#include "stator/base/log.h"

namespace stator::systems::media_library {
namespace {

using runtime::ChangeFollower;
using runtime::Problem;
using runtime::ProblemKind;
using runtime::StreamReader;

constexpr std::chrono::seconds kListEvery{5};  // shards, beside when one ends

Problem unavailable(std::string message) {
  return {.kind = ProblemKind::Unavailable, .code = "Unavailable", .message = std::move(message), .details = {}};
}

}  // namespace

ChangeFeed::ChangeFeed(client::Client& client, const Clock& clock, std::string table, Listener listener,
                       Options options)
    : client_(client),
      clock_(clock),
      table_(std::move(table)),
      listener_(std::move(listener)),
      options_(options),
      dynamo_(client, random_, clock),
      thread_([this] { run(); }) {}

ChangeFeed::~ChangeFeed() {
  MutexLock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

Result<void, Problem> ChangeFeed::catch_up() {
  MutexLock lock(mutex_);
  const auto ticket = ++asked_;
  last_asked_ = clock_.steady_now();
  const auto deadline = last_asked_ + options_.patience;
  while (busy_ && done_ < ticket && clock_.steady_now() < deadline) {
    clock_.wait_for(changed_, mutex_, deadline - clock_.steady_now());
  }
  if (done_ < ticket && !busy_) read_now();
  if (done_ < ticket && !begun_) return unavailable("the table's stream does not answer");
  if (done_ >= ticket && problem_) return *problem_;
  return {};
}

void ChangeFeed::run() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (!begun_) {
      changed_.wait(mutex_);
    } else if (const auto now = clock_.steady_now(); busy_ || now < next_poll_) {
      clock_.wait_for(changed_, mutex_, options_.poll);
    } else if (now - last_asked_ > options_.idle) {
      stop_reading();
    } else {
      read_now();
    }
  }
}

void ChangeFeed::read_now() {
  busy_ = true;
  const auto ticket = asked_;
  mutex_.unlock();
  auto outcome = try_to_read();
  const bool missed =
      !outcome && (outcome.error().code == StreamReader::kTrimmed || outcome.error().code == StreamReader::kExpired);
  if (missed) {
    follower_.reset();
    outcome = try_to_read();
  }
  mutex_.lock();
  busy_ = false;
  if (!outcome && !problem_) {
    log::warning("stream_not_followed", {{"table", table_}, {"problem", outcome.error().message}});
  }
  done_ = ticket;
  begun_ = follower_.has_value();
  problem_.reset();
  if (!outcome) problem_ = std::move(outcome).error();
  next_poll_ = clock_.steady_now() + options_.poll;
  changed_.notify_all();
}

void ChangeFeed::stop_reading() {
  busy_ = true;
  mutex_.unlock();
  follower_.reset();
  listener_.missed();
  mutex_.lock();
  busy_ = false;
  begun_ = false;
  changed_.notify_all();
}

Result<void, Problem> ChangeFeed::try_to_read() {
  try {
    return read(clock_.steady_now() + options_.patience / 2);
  } catch (const std::exception& exception) {
    return unavailable(exception.what());
  }
}

Result<void, Problem> ChangeFeed::read(SteadyTime until) {
  if (!follower_) return begin();
  const auto tell = [this](const std::vector<runtime::Change>& changes) -> Result<void, Problem> {
    for (const auto& change : changes) listener_.changed(change);
    return {};
  };
  return follower_->drain(tell, until);
}

// Changes before this point were not reported, so everything that was read before may be outdated.
Result<void, Problem> ChangeFeed::begin() {
  const auto state = TRY(dynamo_.describe_table(table_));
  if (!state || !state->stream_arn) return unavailable("the table has no stream");
  ChangeFollower follower(client_, clock_, *state->stream_arn, kListEvery);
  TRY(follower.begin(clock_.now()));
  follower_.emplace(std::move(follower));
  listener_.missed();
  return {};
}

}  // namespace stator::systems::media_library
