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
  changed_.notify_all();
  const auto deadline = steady_clock::now() + options_.patience;
  while (done_ < ticket && steady_clock::now() < deadline) changed_.wait_for(mutex_, deadline - steady_clock::now());
  if (done_ >= ticket && problem_) return *problem_;
  if (done_ < ticket && !begun_) return unavailable("the table's stream does not answer");
  return Done{};
}

void StreamFollower::run() {
  auto last_asked = steady_clock::now();
  while (true) {
    std::uint64_t ticket = 0;
    bool asked = false;
    {
      MutexLock lock(mutex_);
      if (asked_ == done_ && !stopping_) wait_for_questions();
      if (stopping_) return;
      ticket = asked_;
      asked = asked_ != done_;
      if (!asked && !begun_) continue;
    }
    const auto now = steady_clock::now();
    if (asked) last_asked = now;
    if (now - last_asked > options_.idle) {
      begin_anew();
      continue;
    }
    auto problem = try_to_read(now + options_.patience / 2);
    if (problem && problem->code == kMissed) {
      begin_anew();
      continue;  // whoever waits is answered by the new beginning
    }
    MutexLock lock(mutex_);
    if (problem && !problem_) {
      log::warning("the stream cannot be followed", {{"table", table_}, {"problem", problem->message}});
    }
    done_ = ticket;
    begun_ = !stream_.empty();
    problem_ = std::move(problem);
    changed_.notify_all();
  }
}

void StreamFollower::wait_for_questions() {
  if (begun_) {
    changed_.wait_for(mutex_, options_.poll);
  } else {
    changed_.wait(mutex_);
  }
}

std::optional<Problem> StreamFollower::try_to_read(Time until) {
  try {
    auto read = read_all(until);
    if (!read) return std::move(read).problem();
    return std::nullopt;
  } catch (const std::exception& exception) {
    return unavailable(exception.what());
  }
}

void StreamFollower::begin_anew() {
  stream_.clear();
  shards_.clear();
  seen_.clear();
  {
    MutexLock lock(mutex_);
    begun_ = false;
  }
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
