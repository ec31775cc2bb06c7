#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <string_view>
#include <thread>

#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/engine/catalog.h"
#include "stator/engine/index/index_builder.h"
#include "stator/engine/lease.h"
#include "stator/engine/range_read.h"
#include "stator/engine/remains.h"
#include "stator/engine/table_change.h"
#include "stator/engine/write/committer.h"
#include "stator/engine/write/item_write.h"
#include "stator/storage/loop_reader.h"
#include "stator/storage/store.h"

namespace stator::engine {

struct TableStatistics {
  std::int64_t items = 0;
  std::int64_t bytes = 0;
};

// Whether writes are accepted, and why not.
struct EngineHealth {
  bool read_only = false;
  storage::StoreTrouble trouble = storage::StoreTrouble::None;
  std::string file = {};                 // that is damaged
  std::vector<std::string> tables = {};  // that have data in it
};

// Tables and their items on top of a store.
//
// Reads run on the calling thread.  Writes are queued; their callback runs on the thread that commits, must not block,
// and may come before the call returns.  Thread-safe.
class Engine {
 public:
  // Store, clock and random outlive the engine.  Errors: Usage: the store is a copy that is not finished.  Storage,
  // Corruption.
  static Result<std::unique_ptr<Engine>> open(storage::Store& store, const Clock& clock, Random& random);
  ~Engine();

  const Clock& clock() const { return clock_; }
  Random& random() { return random_; }

  // Whether other processes use the store, too.  Then another one may have changed the catalog: reads and writes that
  // meet a newer epoch fail with Outdated, and are to be repeated after catch_up().
  bool is_shared() const { return shared_; }
  storage::CommitSequence epoch() const { return store_.epoch(); }
  // Reads the catalog again if another process has changed it.  Errors: Storage, Corruption.
  Result<void> catch_up();

  const Catalog& catalog() const { return catalog_; }
  // Errors: ResourceNotFound.
  Result<TablePtr> find_table(std::string_view name) const;
  void create_table(Table table, TableCallback done);
  void update_table(std::string name, std::function<Result<Table>(Table)> change, TableCallback done);
  void delete_table(std::string name, TableCallback done);
  // Exact.  Errors: Storage.
  Result<TableStatistics> statistics(TableId table, IndexId index) const;
  // Bytes of the items that share a partition key value, in the table and its local indexes.  Errors: Storage.
  Result<std::int64_t> collection_bytes(const Table& table, const value::AttributeValue& partition) const;

  // `key` has passed check_key().  Errors: Storage, Corruption; Outdated, if the table is not that of the catalog any
  // more.
  Result<ItemImage> get(const Table& table, const value::Item& key);
  // The same for a value that was found at its key.
  Result<ItemImage> image_of(const Table& table, std::optional<Bytes> value) const;
  // Reads for the thread of an event loop; null: where get() does not wait, or always waits.
  std::unique_ptr<storage::LoopReader> reader_on(EventLoop& loop) { return store_.reader_on(loop); }
  std::unique_ptr<storage::Snapshot> snapshot() const { return store_.snapshot(); }
  // For reads of tables that were found in this epoch.  Errors: Outdated, if it has ended.
  Result<std::unique_ptr<storage::Snapshot>> snapshot_in(storage::CommitSequence epoch) const;
  void write(WriteRequest request, WriteCallback done);

  // Whether the database is one that only signed requests may reach.  The engine keeps that, so that it is lost only
  // together with the data; the server acts on it.  Errors: Storage, Corruption.
  Result<bool> signed_only();
  // Blocks until it is committed.  Not from a callback of the engine.  Errors: Storage, Corruption, ReadOnly.
  Result<void> set_signed_only(bool signed_only);

  // A text of the server that all processes on a shared store need, such as the access keys; nullopt: there is none.
  // Errors: Storage, Corruption.
  Result<std::optional<std::string>> server_text(std::string_view name);
  // Replaces a text by the result of `change`.  `change` runs on the thread that commits, and once more when another
  // process was faster.  Blocks until it is committed.  Not from a callback of the engine.  Errors: those of `change`;
  // Storage, Corruption, ReadOnly.
  using TextChange = std::function<Result<std::string>(const std::optional<std::string>& text)>;
  Result<void> change_server_text(std::string_view name, TextChange change);

  // The partitions of each table's change log, which the shards of streams are made of.
  std::uint8_t change_partitions() const { return engine::change_partitions(store_.capabilities().lanes); }
  // The newest commit in the lane of a partition of the change log that a snapshot taken from now on sees.
  storage::CommitSequence last_commit_in(std::uint8_t partition) const;

  // Forgets changes older than a day, and the streams that ended before.  Also runs by itself once a minute, as the
  // next two.
  void trim_change_log();
  // In a store with several lanes: stores the time of a commit whose number is above all others, if there have been
  // changes since the last one.
  void note_time();
  // Begins the child shards of shards that have reached their age.
  void roll_stream_shards();
  // Forgets the tokens of transactions older than ten minutes.
  void forget_request_tokens();

  // Fills the indexes of this table that are being built, in the background.
  void build_indexes(TableId table) { index_builder_.build(table); }
  // For background work: its lease, its part in a commit, and whether the data that it has read ahead is still true.
  Lease& lease() { return lease_; }
  void submit(std::unique_ptr<Work> work) { committer().submit(std::move(work)); }
  // Of a store that only this process uses.
  const FreshnessMap& freshness() const { return committers_.front()->freshness(); }

  EngineHealth health() const;
  // Lets a store that failed be tried again soon, also if no request writes.
  void try_recover();
  CommitterStatistics commit_statistics() const;
  storage::StoreStatistics store_statistics() const { return store_.statistics(); }
  std::optional<storage::StoreServer> store_server() const { return store_.server(); }

 private:
  Engine(storage::Store& store, const Clock& clock, Random& random);
  std::vector<std::unique_ptr<Committer>> make_committers();
  Result<void> reload_catalog();
  Result<void> load_catalog(const storage::SnapshotOfEpoch& now);
  void log_damage() const;
  // The value at `key`, with the catalog brought up to date if need be.
  Result<std::optional<Bytes>> read_current(const KeyBytes& key);
  void run_maintenance(const std::stop_token& stop);
  // For everything but items, and for all that orders the lanes of the store.
  Committer& committer() { return *committers_.front(); }
  // For items: one for each lane, so that they commit side by side.  Only a hint: a commit locks the lanes that it
  // needs.
  Committer& committer_of(BytesView item_key);
  void write_at(Committer& committer, WriteRequest request, WriteCallback done);
  // Actions that have nothing to do with each other, by the committer of each.
  void write_apart(WriteRequest request, WriteCallback done);

  storage::Store& store_;
  const Clock& clock_;
  Random& random_;
  const bool shared_;
  Catalog catalog_;
  Mutex catching_up_;                             // held while the catalog is read: threads that need it wait for that
  std::atomic<bool> rolling_shards_ = false;      // a division of shards waits or is being committed
  std::atomic<std::uint64_t> time_noted_at_ = 0;  // the commit of the last note_time()
  std::vector<std::unique_ptr<Committer>> committers_;
  Lease lease_;
  IndexBuilder index_builder_;
  RemainsEraser remains_eraser_;
  std::mutex maintenance_mutex_;
  std::condition_variable_any maintenance_wake_;
  std::jthread maintenance_;  // last: joined before anything it reads is destroyed
};

}  // namespace stator::engine
