#include "stator/systems/media-library/stream_follower.h"

#include <algorithm>
#include <exception>
#include <vector>

#include "stator/base/log.h"

namespace stator::systems::media_library {
namespace {

using runtime::Done;
using runtime::Outcome;
using runtime::Problem;
using runtime::ProblemKind;
using runtime::StreamReader;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kListEvery{5};  // shards, beside when one ends
constexpr std::string_view kMissed = "Missed";

Problem unavailable(std::string message) {
  return {.kind = ProblemKind::Unavailable, .code = "Unavailable", .message = std::move(message), .details = {}};
}

}  // namespace

StreamFollower::StreamFollower(client::Client& client, std::string table, Listener listener, Options options)
    : table_(std::move(table)),
      listener_(std::move(listener)),
      options_(options),
      dynamo_(client, random_),
      reader_(client),
      thread_([this] { run(); }) {}

StreamFollower::~StreamFollower() {
  MutexLock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

Outcome<Done> StreamFollower::catch_up() {
  MutexLock lock(mutex_);
  const auto ticket = ++asked_;
  last_asked_ = steady_clock::now();
  const auto deadline = last_asked_ + options_.patience;
  while (busy_ && done_ < ticket && steady_clock::now() < deadline) {
    changed_.wait_for(mutex_, deadline - steady_clock::now());
  }
  if (done_ < ticket && !busy_) read_now();
  if (done_ < ticket && !begun_) return unavailable("the table's stream does not answer");
  if (done_ >= ticket && problem_) return *problem_;
  return Done{};
}

void StreamFollower::run() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (!begun_) {
      changed_.wait(mutex_);
    } else if (const auto now = steady_clock::now(); busy_ || now < next_poll_) {
      changed_.wait_for(mutex_, options_.poll);
    } else if (now - last_asked_ > options_.idle) {
      stop_reading();
    } else {
      read_now();
    }
  }
}

void StreamFollower::read_now() {
  busy_ = true;
  const auto ticket = asked_;
  mutex_.unlock();
  auto problem = try_to_read();
  if (problem && problem->code == kMissed) {
    forget();
    problem = try_to_read();
  }
  mutex_.lock();
  busy_ = false;
  if (problem && !problem_) {
    log::warning("the stream cannot be followed", {{"table", table_}, {"problem", problem->message}});
  }
  done_ = ticket;
  begun_ = !stream_.empty();
  problem_ = std::move(problem);
  next_poll_ = steady_clock::now() + options_.poll;
  changed_.notify_all();
}

void StreamFollower::stop_reading() {
  busy_ = true;
  mutex_.unlock();
  forget();
  mutex_.lock();
  busy_ = false;
  begun_ = false;
  changed_.notify_all();
}

std::optional<Problem> StreamFollower::try_to_read() {
  try {
    auto read = read_all(steady_clock::now() + options_.patience / 2);
    if (!read) return std::move(read).problem();
    return std::nullopt;
  } catch (const std::exception& exception) {
    return unavailable(exception.what());
  }
}

void StreamFollower::forget() {
  stream_.clear();
  shards_.clear();
  seen_.clear();
  listener_.missed();
}

Outcome<Done> StreamFollower::read_all(Time until) {
  if (stream_.empty()) return begin();
  bool ended = false;
  do {
    if (ended || steady_clock::now() >= next_listing_) ATTEMPT(find_new_shards());
    ended = false;
    for (auto shard = shards_.begin(); shard != shards_.end();) {
      const bool shard_ended = ATTEMPT(read_shard(shard->first, shard->second, until));
      ended = ended || shard_ended;
      shard = shard_ended ? shards_.erase(shard) : std::next(shard);
    }
  } while (ended && steady_clock::now() < until);
  if (ended) next_listing_ = {};
  return Done{};
}

Outcome<Done> StreamFollower::begin() {
  const auto state = ATTEMPT(dynamo_.describe_table(table_));
  if (!state || !state->stream_arn) return unavailable("the table has no stream");
  std::map<std::string, Shard> shards;
  std::set<std::string> seen;
  for (const auto& shard : ATTEMPT(reader_.shards(*state->stream_arn))) {
    shards[shard.id].iterator = ATTEMPT(reader_.latest(*state->stream_arn, shard.id));
    seen.insert(shard.id);
  }
  shards_ = std::move(shards);
  seen_ = std::move(seen);
  stream_ = *state->stream_arn;
  next_listing_ = steady_clock::now() + kListEvery;
  return Done{};
}

Outcome<bool> StreamFollower::read_shard(const std::string& id, Shard& shard, Time until) {
  do {
    auto page = ATTEMPT(next_page(id, shard));
    for (const auto& change : page.changes) {
      listener_.changed(change);
      shard.last = change.sequence_number;
    }
    if (!page.next) return true;
    shard.iterator = std::move(*page.next);
    if (page.changes.empty()) return false;
  } while (steady_clock::now() < until);
  return false;
}

Outcome<runtime::ChangePage> StreamFollower::next_page(const std::string& id, Shard& shard) {
  auto page = reader_.read(shard.iterator);
  if (page) return page;
  const auto missed = [](const Problem& problem) {
    return problem.code == StreamReader::kTrimmed || problem.code == StreamReader::kExpired;
  };
  if (page.problem().code == StreamReader::kExpired && shard.last) {
    auto again = reader_.iterator(stream_, id, shard.last);
    if (again) {
      shard.iterator = std::move(*again);
      return reader_.read(shard.iterator);
    }
    page = std::move(again).problem();
  }
  if (!missed(page.problem())) return page;
  return Problem{
      .kind = ProblemKind::Unavailable, .code = std::string(kMissed), .message = page.problem().message, .details = {}};
}

// A shard begins where its parent ends, so children wait until that was read.
Outcome<Done> StreamFollower::find_new_shards() {
  for (const auto& shard : ATTEMPT(reader_.shards(stream_))) {
    if (seen_.contains(shard.id) || shards_.contains(shard.parent)) continue;
    shards_[shard.id].iterator = ATTEMPT(reader_.iterator(stream_, shard.id, std::nullopt));
    seen_.insert(shard.id);
  }
  next_listing_ = steady_clock::now() + kListEvery;
  return Done{};
}

}  // namespace stator::systems::media_library
