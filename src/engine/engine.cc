#include "stator/engine/engine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <map>
#include <optional>

#include "stator/base/log.h"
#include "stator/engine/server_text.h"
#include "stator/engine/store_copy.h"
#include "stator/engine/stream/stream.h"
#include "stator/engine/write/joined_write.h"

namespace stator::engine {
namespace {

constexpr std::chrono::minutes kMaintenanceInterval{1};
constexpr std::uint32_t kMostCommitters = 16;
// How much later than its own time a barrier may have taken effect, and commits before it.
constexpr std::chrono::minutes kBarrierDelay{1};

// Erases what has had its time.
class EraseOld final : public Work {
 public:
  EraseOld(std::vector<storage::KeyRange> ranges, std::vector<KeyBytes> tokens, const Lease& lease)
      : ranges_(std::move(ranges)), tokens_(std::move(tokens)), lease_(lease) {}
  void will_read(std::vector<KeyBytes>& keys) const override {
    keys.push_back(lease_key());
    keys.insert(keys.end(), tokens_.begin(), tokens_.end());
  }
  void execute(PendingCommit& commit) override {
    if (!lease_.check(commit)) return;
    for (const auto& range : ranges_) commit.erase_range(range);
    for (const auto& token : tokens_) {
      ignore_error(erase_expired_token(commit, token), "it stays until the next round");
    }
  }
  void finish(const Result<storage::CommitSequence>& committed) override {
    // On a read-only database that is known.
    if (!committed && committed.error().code != ErrorCode::ReadOnly)
      log::warning("old_records_not_removed", {{"cause", committed.error().message}});
  }
  bool frees_space() const override { return true; }

 private:
  std::vector<storage::KeyRange> ranges_;
  std::vector<KeyBytes> tokens_;
  const Lease& lease_;
};

// Stores a time that divides the commits of all lanes.
class NoteTime final : public Work {
 public:
  // Both outlive the work.
  NoteTime(const Lease& lease, std::atomic<std::uint64_t>& noted_at) : lease_(lease), noted_at_(noted_at) {}
  void will_read(std::vector<KeyBytes>& keys) const override { keys.push_back(lease_key()); }
  void execute(PendingCommit& commit) override {
    noted_ = static_cast<bool>(lease_.check(commit));
    if (!noted_) return;
    commit.make_barrier();
    commit.note_time();
  }
  void finish(const Result<storage::CommitSequence>& committed) override {
    if (committed && noted_) noted_at_.store(committed->value, std::memory_order_relaxed);
  }
  bool alone() const override { return true; }  // so that other works do not lock all lanes

 private:
  const Lease& lease_;
  std::atomic<std::uint64_t>& noted_at_;
  bool noted_ = false;
};

constexpr BytesView kSignedOnly = "\x01";  // its version
constexpr int kMostReads = 10;

// Puts what a function makes of a record of the database's own in its place; nullopt erases it.
class RewriteRecord final : public Work {
 public:
  using Change = std::function<Result<std::optional<Bytes>>(const std::optional<Bytes>&)>;
  // `done` outlives the work.
  RewriteRecord(KeyBytes key, Change change, std::promise<Result<void>>& done)
      : key_(std::move(key)), change_(std::move(change)), done_(done) {}
  void will_read(std::vector<KeyBytes>& keys) const override { keys.push_back(key_); }
  void execute(PendingCommit& commit) override { outcome_ = apply(commit); }
  void finish(const Result<storage::CommitSequence>& committed) override {
    done_.set_value(committed ? std::move(outcome_) : Result<void>(committed.error()));
  }

 private:
  Result<void> apply(PendingCommit& commit) const {
    const auto value = TRY(change_(TRY(commit.get(key_))));
    if (value) {
      commit.put(key_, *value);
    } else {
      commit.erase(key_);
    }
    return {};
  }

  const KeyBytes key_;
  const Change change_;
  std::promise<Result<void>>& done_;
  Result<void> outcome_;
};

Result<void> rewrite_record(Committer& committer, KeyBytes key, RewriteRecord::Change change) {
  std::promise<Result<void>> done;
  auto answer = done.get_future();
  committer.submit(std::make_unique<RewriteRecord>(std::move(key), std::move(change), done));
  return answer.get();
}

}  // namespace

Engine::Engine(storage::Store& store, const Clock& clock, Random& random)
    : store_(store),
      clock_(clock),
      random_(random),
      shared_(store.capabilities().shared),
      committers_(make_committers()),
      lease_(shared_, committer(), clock, random),
      index_builder_(store, catalog_, committer(), lease_, [this] { return catch_up(); }),
      remains_eraser_(store, catalog_, committer(), lease_, [this] { return catch_up(); }) {}

// If only this process uses the store, one committer must know all writes: values that were read ahead are compared
// with them.
std::vector<std::unique_ptr<Committer>> Engine::make_committers() {
  const auto capabilities = store_.capabilities();
  const auto count = shared_ ? std::min(capabilities.lanes, kMostCommitters) : 1;
  std::vector<std::unique_ptr<Committer>> committers;
  for (std::uint32_t i = 0; i < count; ++i) {
    committers.push_back(std::make_unique<Committer>(
        store_, clock_, capabilities.durable ? Committer::Mode::OwnThread : Committer::Mode::Inline,
        [this] { return reload_catalog(); }, [this] { log_damage(); }));
  }
  return committers;
}

Committer& Engine::committer_of(BytesView item_key) {
  if (committers_.size() == 1) return committer();
  const auto lane = KeyPlacement().lane_of(item_key, store_.capabilities().lanes).value_or(0);
  return *committers_[lane > 0 ? (lane - 1) % committers_.size() : 0];
}

CommitterStatistics Engine::commit_statistics() const {
  CommitterStatistics all;
  for (const auto& committer : committers_) {
    const auto one = committer->statistics();
    all.commits += one.commits;
    all.works += one.works;
    all.conflicts += one.conflicts;
    all.failures += one.failures;
    all.read_only = all.read_only || one.read_only;
  }
  return all;
}

// A failed commit may have taken place after all: then there can be tables or unfinished indexes that are not in the
// catalog.
Result<void> Engine::reload_catalog() {
  MutexLock lock(catching_up_);
  return load_catalog(TRY(store_.snapshot_of_epoch()));
}

Result<void> Engine::catch_up() {
  if (!shared_) return {};
  if (TRY(store_.snapshot_of_epoch()).epoch == store_.epoch()) return {};
  MutexLock lock(catching_up_);
  // Another thread may have done it meanwhile.
  const auto now = TRY(store_.snapshot_of_epoch());
  if (now.epoch == store_.epoch()) return {};
  return load_catalog(now);
}

Result<void> Engine::load_catalog(const storage::SnapshotOfEpoch& now) {
  TRY(catalog_.load(*now.snapshot));
  // Not before the catalog is there: until then, nobody may work with the old one.
  store_.enter_epoch(now.epoch);
  for (const auto& table : catalog_.all()) {
    if (table->is_building()) build_indexes(table->id);
  }
  remains_eraser_.look(*now.snapshot);
  return {};
}

EngineHealth Engine::health() const {
  auto store = store_.health();
  EngineHealth health{.read_only = store.trouble != storage::StoreTrouble::None || commit_statistics().read_only,
                      .trouble = store.trouble,
                      .file = std::move(store.file)};
  if (store.keys.end.empty()) return health;
  for (const auto& table : catalog_.all()) {
    const auto items = table_items(table->id);
    if (items.begin < store.keys.end && store.keys.begin < items.end) health.tables.push_back(table->name);
  }
  std::sort(health.tables.begin(), health.tables.end());
  return health;
}

void Engine::try_recover() {
  class Nothing final : public Work {
    void execute(PendingCommit& /*commit*/) override {}
    void finish(const Result<storage::CommitSequence>& /*committed*/) override {}
  };
  for (const auto& committer : committers_) {
    if (committer->statistics().read_only) committer->submit(std::make_unique<Nothing>());
  }
}

void Engine::log_damage() const {
  const auto damaged = health();
  if (damaged.trouble != storage::StoreTrouble::Damaged) return;
  log::error("data_file_damaged", {{"file", damaged.file.empty() ? "unknown" : damaged.file},
                                   {"tables", fmt::format("{}", fmt::join(damaged.tables, ", "))},
                                   {"message", "`stator repair` shows what can be saved"}});
}

Engine::~Engine() {
  index_builder_.stop();
  remains_eraser_.stop();
  maintenance_ = {};
  lease_.release();
  // Works that still wait look at the lease, and their answers may start the build of an index.
  for (const auto& committer : committers_) committer->stop();
}

Result<std::unique_ptr<Engine>> Engine::open(storage::Store& store, const Clock& clock, Random& random) {
  TRY(refuse_unfinished_copy(*TRY(store.snapshot_of_epoch()).snapshot));
  std::unique_ptr<Engine> engine(new Engine(store, clock, random));
  TRY(engine->reload_catalog());
  engine->maintenance_ =
      std::jthread([raw = engine.get()](const std::stop_token& stop) { raw->run_maintenance(stop); });
  return engine;
}

Result<TablePtr> Engine::find_table(std::string_view name) const {
  auto table = catalog_.find(name);
  if (table == nullptr) return Error{ErrorCode::ResourceNotFound, "Requested resource not found"};
  return table;
}

void Engine::create_table(Table table, TableCallback done) {
  submit(TableChange::create(std::move(table), catalog_, std::move(done)));
}

void Engine::update_table(std::string name, std::function<Result<Table>(Table)> change, TableCallback done) {
  submit(TableChange::update(std::move(name), std::move(change), catalog_, std::move(done)));
}

void Engine::delete_table(std::string name, TableCallback done) {
  submit(TableChange::remove(std::move(name), catalog_, std::move(done)));
}

Result<TableStatistics> Engine::statistics(TableId table, IndexId index) const {
  // One snapshot, so that the two numbers belong together.  They do not depend on the catalog, whatever its epoch: a
  // change of a table is answered with them, and cannot be repeated.
  const auto now = TRY(store_.snapshot_of_epoch());
  const auto counter = [&](Statistic statistic) -> Result<std::int64_t> {
    const auto bytes = TRY(now.snapshot->get(statistic_key(table, index, statistic)));
    return bytes ? storage::decode_counter(*bytes) : Result<std::int64_t>(0);
  };
  const auto items = TRY(counter(Statistic::Items));
  const auto bytes = TRY(counter(Statistic::Bytes));
  return TableStatistics{.items = items, .bytes = bytes};
}

Result<std::int64_t> Engine::collection_bytes(const Table& table, const value::AttributeValue& partition) const {
  const auto now = TRY(store_.snapshot_of_epoch());  // as above
  const auto bytes = TRY(now.snapshot->get(collection_size_key(table.id, partition)));
  return bytes ? storage::decode_counter(*bytes) : Result<std::int64_t>(0);
}

Result<ItemImage> Engine::get(const Table& table, const value::Item& key) {
  const auto bytes = item_key(table, key);
  if (!shared_) return ItemImage::from_bytes(TRY(store_.get(bytes)));
  return image_of(table, TRY(read_current(bytes)));
}

Result<ItemImage> Engine::image_of(const Table& table, std::optional<Bytes> value) const {
  // Another thread may have brought the catalog up to date meanwhile.
  const auto current = catalog_.find(table.id);
  if (current.get() != &table && (current == nullptr || encode_table(*current) != encode_table(table))) {
    return Error{ErrorCode::Outdated, "the table has been changed"};
  }
  return ItemImage::from_bytes(std::move(value));
}

Result<std::unique_ptr<storage::Snapshot>> Engine::snapshot_in(storage::CommitSequence epoch) const {
  auto snapshot = store_.snapshot();
  // Another thread may have brought the catalog up to date meanwhile.
  if (store_.epoch() != epoch) return Error{ErrorCode::Outdated, "the catalog has been changed"};
  return snapshot;
}

void Engine::write(WriteRequest request, WriteCallback done) {
  if (committers_.size() == 1 || request.actions.empty()) {
    return write_at(committer(), std::move(request), std::move(done));
  }
  if (!request.atomic && !request.token) return write_apart(std::move(request), std::move(done));
  const auto& first = request.actions.front();
  auto& committer = committer_of(item_key(*first.table, first.item));
  write_at(committer, std::move(request), std::move(done));
}

void Engine::write_apart(WriteRequest request, WriteCallback done) {
  struct Part {
    WriteRequest request;
    std::vector<std::size_t> places;
  };
  std::map<Committer*, Part> parts;
  const auto actions = request.actions.size();
  for (std::size_t i = 0; i < actions; ++i) {
    auto& action = request.actions[i];
    auto& part = parts[&committer_of(item_key(*action.table, action.item))];
    part.request.actions.push_back(std::move(action));
    part.places.push_back(i);
  }
  parts.begin()->second.request.memory = std::move(request.memory);
  const auto joined = std::make_shared<JoinedWrite>(actions, parts.size(), std::move(done));
  for (auto& [committer, part] : parts) {
    part.request.atomic = false;
    part.request.lease = request.lease;
    write_at(*committer, std::move(part.request),
             [joined, places = std::move(part.places)](Result<WriteOutcome> outcome) {
               joined->finish(places, std::move(outcome));
             });
  }
}

void Engine::write_at(Committer& committer, WriteRequest request, WriteCallback done) {
  auto prepared = prepare_write(std::move(request), store_, freshness());
  if (!prepared) return done(std::move(prepared).error());
  committer.submit(std::make_unique<ItemWrite>(std::move(*prepared), std::move(done), catalog_));
}

Result<std::optional<Bytes>> Engine::read_current(const KeyBytes& key) {
  for (int read = 1;; ++read) {
    auto value = store_.get(key);
    if (value || value.error().code != ErrorCode::Outdated || read == kMostReads) return value;
    TRY(catch_up());
  }
}

Result<bool> Engine::signed_only() { return TRY(read_current(signed_only_key())).has_value(); }

Result<void> Engine::set_signed_only(bool signed_only) {
  if (TRY(this->signed_only()) == signed_only) return {};
  return rewrite_record(committer(), signed_only_key(), [&](const auto&) -> Result<std::optional<Bytes>> {
    return signed_only ? std::optional<Bytes>(kSignedOnly) : std::nullopt;
  });
}

Result<std::optional<std::string>> Engine::server_text(std::string_view name) {
  return decode_server_text(TRY(read_current(server_text_key(name))));
}

Result<void> Engine::change_server_text(std::string_view name, TextChange change) {
  return rewrite_record(committer(), server_text_key(name),
                        [&](const std::optional<Bytes>& record) -> Result<std::optional<Bytes>> {
                          return std::optional(encode_server_text(TRY(change(TRY(decode_server_text(record))))));
                        });
}

void Engine::trim_change_log() {
  const auto cutoff = clock_.now() - kStreamRetention;
  // Everything before the first commit that may be younger than that goes.  With one lane, a commit that is not noted
  // was made within kCommitTimeInterval of the noted one before it.  With several, those that are noted are barriers:
  // everything before the last of them that is old enough goes.
  const bool barriers = store_.capabilities().lanes > 1;
  storage::CommitSequence keep_from{barriers ? 0 : store_.last_commit().value + 1};
  const auto snapshot = store_.snapshot();
  const auto noted = snapshot->cursor(storage::KeyRange::prefix(commit_time_prefix()), storage::Direction::Forward);
  bool any = false;
  for (; noted->valid() && noted->key().size() == kCommitTimeSequenceAt + 8 && noted->value().size() == 8;
       noted->next()) {
    const WallTime time{std::chrono::microseconds{static_cast<std::int64_t>(read_u64be(noted->value().data()))}};
    const storage::CommitSequence sequence{read_u64be(noted->key().data() + kCommitTimeSequenceAt)};
    if (barriers) {
      if (time + kBarrierDelay > cutoff) break;
      any = keep_from.value > 0;
      keep_from = sequence;
      continue;
    }
    if (time + Committer::kCommitTimeInterval > cutoff) {
      keep_from = sequence;
      break;
    }
    any = true;
  }
  if (!noted->status()) return;

  auto outdated = outdated_streams(*snapshot, change_partitions(), cutoff, keep_from);
  if (!outdated) return log::warning("streams_not_trimmed", {{"cause", outdated.error().message}});
  auto ranges = std::move(*outdated);
  if (any) ranges.push_back({commit_time_prefix(), commit_time_key(keep_from)});
  // From partition to partition that has records, also of tables that are gone.
  storage::KeyRange rest = storage::KeyRange::prefix(change_log_prefix());
  while (any) {
    const auto first = snapshot->cursor(rest, storage::Direction::Forward);
    if (!first->valid() || first->key().size() < kChangeSequenceAt) break;
    const auto partition = first->key().substr(0, kChangeSequenceAt);
    storage::KeyRange old{Bytes(partition), change_key_at(partition, keep_from)};
    if (first->key() < old.end) ranges.push_back(std::move(old));
    rest.begin = prefix_end(partition);
    if (rest.begin >= rest.end) break;
  }
  if (ranges.empty()) return;  // a database at rest writes nothing
  submit(std::make_unique<EraseOld>(std::move(ranges), std::vector<KeyBytes>(), lease_));
}

storage::CommitSequence Engine::last_commit_in(std::uint8_t partition) const {
  // The table makes no difference.
  return store_.last_commit_of(change_partition_prefix({}, partition));
}

void Engine::note_time() {
  if (store_.capabilities().lanes == 1) return;  // any commit can note its own
  storage::CommitSequence newest;
  for (std::uint8_t partition = 0; partition < change_partitions(); ++partition) {
    newest = std::max(newest, last_commit_in(partition));
  }
  if (newest.value <= time_noted_at_.load(std::memory_order_relaxed)) return;
  submit(std::make_unique<NoteTime>(lease_, time_noted_at_));
}

void Engine::forget_request_tokens() {
  auto keys = expired_request_tokens(*store_.snapshot(), clock_.now());
  if (keys.empty()) return;
  submit(std::make_unique<EraseOld>(std::vector<storage::KeyRange>(), std::move(keys), lease_));
}

void Engine::roll_stream_shards() {
  if (rolling_shards_.exchange(true, std::memory_order_acq_rel)) return;
  const auto snapshot = store_.snapshot();
  auto work = roll_shards(*snapshot, change_partitions(), catalog_, clock_.now(), rolling_shards_, lease_);
  if (work && *work != nullptr) return submit(std::move(*work));
  rolling_shards_.store(false, std::memory_order_release);
  if (!work) log::warning("stream_shards_not_renewed", {{"cause", work.error().message}});
}

void Engine::run_maintenance(const std::stop_token& stop) {
  std::unique_lock lock(maintenance_mutex_);
  while (!stop.stop_requested()) {
    maintenance_wake_.wait_for(lock, stop, kMaintenanceInterval, [] { return false; });
    if (stop.stop_requested()) return;
    index_builder_.try_again();
    remains_eraser_.try_again();
    if (!lease_.hold()) continue;
    if (const auto current = catch_up(); !current) continue;
    note_time();
    trim_change_log();
    roll_stream_shards();
    forget_request_tokens();
  }
}

}  // namespace stator::engine
