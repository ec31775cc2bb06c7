#include "stator/storage/postgres/loop_reads.h"

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include "stator/base/log.h"
#include "stator/storage/postgres/key_parts.h"

namespace stator::storage::postgres {
namespace {

constexpr std::chrono::seconds kAnswersWithin{10};
constexpr std::chrono::seconds kKnownTrouble{2};  // the same when the server is known not to answer, or at the end
constexpr std::chrono::seconds kOrderPause{1};    // after a connection that could not be opened

// Of a group.  The values of its keys take 1.6 MB at most, beside a BatchGetItem alone, and its ranges 5 MB.
constexpr std::size_t kMostKeys = 100;
constexpr std::size_t kMostRanges = 8;
constexpr std::size_t kMostKeysWaiting = 8192;
constexpr std::int32_t kMostValueBytes = 16 << 10;
constexpr std::int64_t kMostEntries = 1024;
constexpr std::int64_t kMostEntryBytes = 256 << 10;

Error busy(const char* why) { return {ErrorCode::Busy, why}; }
// Whether each key, or all of the range, is in one lane.
bool has_lanes(const ReadWish& wish, const Lanes& lanes) {
  if (wish.entries) {
    const auto of_range = lanes.of(wish.entries->range);
    return of_range.first == of_range.last;
  }
  return std::ranges::all_of(wish.keys, [&](const Bytes& key) { return lanes.of(key).has_value(); });
}

Error too_large() { return busy("a value is too large for an event loop"); }

}  // namespace

LoopReads::LoopReads(StoreParts& parts, Connector& connector, EventLoop& loop)
    : parts_(parts), connector_(connector), loop_(loop) {
  parts_.loops.fetch_add(1, std::memory_order_relaxed);
}

LoopReads::~LoopReads() {
  drop_connection();
  parts_.loops.fetch_sub(1, std::memory_order_relaxed);
}

void LoopReads::read(ReadWish wish, Done done) {
  if (auto refused = parts_.condition.refusal()) return done(std::move(*refused));
  if (keys_waiting_ + wish.keys.size() > kMostKeysWaiting || waiting_.size() >= kMostKeysWaiting) {
    return done(busy("too many reads wait"));
  }
  if (!has_lanes(wish, parts_.lanes)) return done(busy("it has parts in several lanes"));
  if (!connect()) return done(busy("there is no connection"));
  keys_waiting_ += wish.keys.size();
  waiting_.push_back({std::move(wish), std::move(done)});
  if (is_under_way() || will_ask_) return;
  if (!others_come_along_) return ask();
  // Others of the same moment come along.
  will_ask_ = true;
  loop_.defer([self = std::weak_ptr(self_)] {
    const auto reads = self.lock();
    if (reads == nullptr) return;
    (*reads)->will_ask_ = false;
    (*reads)->ask();
  });
}

bool LoopReads::connect() {
  const auto generation = parts_.generation.load(std::memory_order_acquire);
  if (connection_ != nullptr && generation_ != generation && !is_under_way()) drop_connection();
  if (connection_ != nullptr) return true;
  if (order_ == nullptr) {
    const auto time = now();
    if (time < next_order_) return false;
    next_order_ = time + kOrderPause;
    generation_ = generation;  // before it is opened
    order_ = connector_.order();
  }
  auto opened = order_->take();
  if (!opened) return false;
  order_.reset();
  if (!*opened) return false;
  // First: it can fail, and there is no connection without it.
  watch_ = loop_.watch((**opened)->socket(), [this](EventLoop::Ready what) { on_ready(what); });
  connection_ = std::move(**opened);
  parts_.loop_connections.fetch_add(1, std::memory_order_relaxed);
  follow(Connection::Step::Read);
  return true;
}

void LoopReads::drop_connection() {
  if (connection_ == nullptr) return;
  watch_.reset();
  waits_to_read_ = waits_to_write_ = false;
  connection_.reset();
  parts_.loop_connections.fetch_sub(1, std::memory_order_relaxed);
}

void LoopReads::ask() {
  if (is_under_way() || waiting_.empty()) return;
  auto refused = parts_.condition.refusal();
  if (!refused && !connect()) refused = busy("there is no connection");
  if (refused) {
    keys_waiting_ = 0;
    return fail(std::exchange(waiting_, {}), *refused);
  }
  std::size_t keys = 0, ranges = 0;
  while (!waiting_.empty()) {
    const auto& wish = waiting_.front().wish;
    // The keys of a wish are of one moment, so they are in one statement.
    if (keys + wish.keys.size() > std::max(kMostKeys, wish.keys.size()) || ranges == kMostRanges) break;
    keys += wish.keys.size();
    if (wish.entries) ++ranges;
    asked_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  keys_waiting_ -= keys;
  others_come_along_ = asked_.size() > 1;
  asked_at_ = now();
  parts_.known.read_all(known_before_);
  add_statements();
  follow(connection_->start(StatementKind::Read));
}

void LoopReads::add_statements() {
  std::vector<KeyParts> parts;
  std::vector<std::int32_t> lanes;
  std::vector<BytesView> heads, digests;
  for (const auto& read : asked_) {
    for (const auto& key : read.wish.keys) {
      lanes.push_back(*parts_.lanes.of(key));
      heads.push_back(parts.emplace_back(key).head);
    }
  }
  for (const auto& part : parts) digests.push_back(part.digest);
  const auto& statements = parts_.statements;
  if (parts.size() == 1) {
    connection_->add(statements.get_small,
                     Parameters().int32(lanes[0]).bytes(heads[0]).bytes(digests[0]).int32(kMostValueBytes));
  } else if (!parts.empty()) {
    const std::set<std::int32_t> read_from(lanes.begin(), lanes.end());
    connection_->add(statements.get_all_small, Parameters()
                                                   .array(std::vector<std::int32_t>(read_from.begin(), read_from.end()))
                                                   .array(lanes)
                                                   .array(heads)
                                                   .array(digests)
                                                   .int32(kMostValueBytes));
  }
  for (const auto& read : asked_) {
    if (!read.wish.entries) continue;
    const auto& [range, direction, most] = *read.wish.entries;
    const KeyParts begin(range.begin), end(range.end);
    const bool bounded = !range.end.empty();
    auto parameters = Parameters().int32(static_cast<std::int32_t>(parts_.lanes.of(range).first));
    parameters.bytes(begin.head).bytes(begin.tail);
    if (bounded) parameters.bytes(end.head).bytes(end.tail);
    parameters.int64(static_cast<std::int64_t>(std::min<std::uint64_t>(most, kMostEntries))).int64(kMostEntryBytes);
    const auto& pages = statements.current_pages;
    connection_->add(direction == Direction::Forward ? (bounded ? pages.forward : pages.forward_to_end)
                                                     : (bounded ? pages.backward : pages.backward_from_end),
                     parameters);
  }
}

void LoopReads::follow(Connection::Step step) {
  if (step == Connection::Step::Done) return finish();
  if (!std::exchange(waits_to_read_, true)) watch_->wait_to_read();
  if (step == Connection::Step::Write && !std::exchange(waits_to_write_, true)) watch_->wait_to_write();
}

void LoopReads::on_ready(EventLoop::Ready what) {
  (what == EventLoop::Ready::ToRead ? waits_to_read_ : waits_to_write_) = false;
  if (is_under_way()) return follow(connection_->advance());
  connection_->listen();
  if (connection_->broken()) return drop_connection();
  follow(Connection::Step::Read);
}

void LoopReads::finish() {
  auto reads = std::exchange(asked_, {});
  auto rows = connection_->take();
  // The answer of a server that is the primary no longer may be old.
  if (auto checked = parts_.servers.check(*connection_); rows && !checked) rows = std::move(checked).error();
  const auto known_before = known_before_;
  if (connection_->broken()) {
    parts_.counters->note_retry();  // by those that may wait
    parts_.servers.forget_preferred();
    drop_connection();
  } else {
    follow(Connection::Step::Read);
  }
  // The server works on the next group while this one is answered.
  ask();
  answer(std::move(reads), rows, known_before);
}

void LoopReads::answer(Reads reads, const Result<std::vector<Rows>>& rows,
                       const std::vector<CommitSequence>& known_before) {
  if (!rows) return fail(std::move(reads), rows.error());
  // Whether the last commit happened may have become unknown since.
  if (const auto refused = parts_.condition.refusal()) return fail(std::move(reads), *refused);
  std::vector<Result<ReadAhead>> found;
  found.reserve(reads.size());
  const bool has_keys = std::ranges::any_of(reads, [](const Read& read) { return !read.wish.keys.empty(); });
  std::size_t next = 0;
  Result<void> checked;
  if (has_keys) {
    checked = take_values(reads, (*rows)[next++], known_before, found);
  } else {
    for (const auto& read : reads) found.emplace_back(ReadAhead(parts_.epoch_entered(), read.wish));
  }
  for (std::size_t i = 0; i < reads.size(); ++i) {
    if (reads[i].wish.entries) found[i] = take_entries(reads[i].wish, (*rows)[next++], known_before);
  }
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const bool is_of_keys = !reads[i].wish.entries;
    finish(reads[i], is_of_keys && !checked ? Result<ReadAhead>(checked.error()) : std::move(found[i]));
  }
}

Result<void> LoopReads::check_lane(const Rows& rows, int row, std::int32_t lane, int fence_column,
                                   const std::vector<CommitSequence>& known_before) const {
  const auto sequence = rows.integer(row, fence_column + 1);
  TRY(parts_.note_lane(connection_.get(), lane, rows.integer(row, fence_column), sequence,
                       known_before[static_cast<std::size_t>(lane)]));
  return parts_.check_epoch(rows.integer(row, fence_column + 2));
}

// Adds what each of the reads gets; of those of ranges, something to be replaced.
Result<void> LoopReads::take_values(const Reads& reads, const Rows& rows,
                                    const std::vector<CommitSequence>& known_before,
                                    std::vector<Result<ReadAhead>>& found) const {
  const auto epoch = parts_.epoch_entered();
  std::vector<std::optional<Bytes>> values;
  std::vector<bool> large;
  std::set<std::int32_t> lanes;
  std::size_t keys = 0;
  for (const auto& read : reads) {
    keys += read.wish.keys.size();
    for (const auto& key : read.wish.keys) lanes.insert(*parts_.lanes.of(key));
    found.emplace_back(ReadAhead(epoch, {}));
  }
  values.resize(keys);
  large.resize(keys);
  const auto take = [&](std::size_t place, int row, int column) {
    if (!rows.is_null(row, column)) values[place] = Bytes(rows.bytes(row, column));
    large[place] = rows.is_null(row, column) && !rows.is_null(row, column + 1);
  };
  std::size_t lanes_seen = 0;
  if (keys == 1) {
    if (rows.count() == 0) return no_lane();
    TRY(check_lane(rows, 0, *lanes.begin(), 0, known_before));
    lanes_seen = 1;
    take(0, 0, 3);
  } else {
    for (int row = 0; row < rows.count(); ++row) {
      if (const auto ordinal = rows.integer(row, 4); ordinal > 0) {
        take(static_cast<std::size_t>(ordinal - 1), row, 5);
        continue;
      }
      ++lanes_seen;
      TRY(check_lane(rows, row, static_cast<std::int32_t>(rows.integer(row, 0)), 1, known_before));
    }
  }
  if (lanes_seen != lanes.size()) return no_lane();
  std::size_t next = 0;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const auto& wish = reads[i].wish;
    if (wish.keys.empty()) continue;
    const auto begin = static_cast<std::ptrdiff_t>(next);
    next += wish.keys.size();
    const auto end = static_cast<std::ptrdiff_t>(next);
    if (std::any_of(large.begin() + begin, large.begin() + end, [](bool is_large) { return is_large; })) {
      found[i] = too_large();
      continue;
    }
    ReadAhead read(epoch, wish);
    read.set_values({std::make_move_iterator(values.begin() + begin), std::make_move_iterator(values.begin() + end)});
    found[i] = std::move(read);
  }
  return {};
}

Result<ReadAhead> LoopReads::take_entries(const ReadWish& wish, const Rows& rows,
                                          const std::vector<CommitSequence>& known_before) const {
  if (rows.count() == 0) return no_lane();
  const auto& wanted = *wish.entries;
  const auto epoch = parts_.epoch_entered();
  TRY(check_lane(rows, 0, static_cast<std::int32_t>(parts_.lanes.of(wanted.range).first), 3, known_before));
  std::vector<ReadAhead::Entry> entries;
  std::int64_t size = 0;
  for (int row = 0; row < rows.count() && !rows.is_null(row, 0); ++row) {
    auto& entry = entries.emplace_back();
    entry.key = rows.bytes(row, 0);
    entry.key += rows.bytes(row, 1);
    entry.value = rows.bytes(row, 2);
    size += static_cast<std::int64_t>(entry.value.size());
  }
  const bool all_wanted = entries.size() >= wanted.most;
  const bool all_there = entries.size() < static_cast<std::size_t>(kMostEntries) && size < kMostEntryBytes;
  ReadAhead read(epoch, wish);
  read.set_entries(std::move(entries), all_wanted || all_there);
  return read;
}

void LoopReads::fail(Reads reads, const Error& error) {
  for (auto& read : reads) finish(read, error);
}

// An exception in one reader must not stop the answers of the others, nor the loop.
void LoopReads::finish(Read& read, Result<ReadAhead> found) {
  try {
    read.done(std::move(found));
  } catch (const std::exception& exception) {
    log::error("read_not_answered", {{"cause", exception.what()}});
  }
}

void LoopReads::on_tick() {
  if (!is_under_way()) return;
  const bool is_in_trouble = parts_.condition.refusal().has_value() || parts_.haste->has_begun();
  const auto limit = is_in_trouble ? kKnownTrouble : kAnswersWithin;
  if (now() - asked_at_ < limit) return;
  // Its answers could come at any time, so the connection is of no more use.
  auto reads = std::exchange(asked_, {});
  drop_connection();
  parts_.counters->note_retry();
  fail(std::move(reads), {ErrorCode::Storage, "the database server has not answered in time"});
  ask();
}

}  // namespace stator::storage::postgres
