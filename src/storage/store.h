#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/bytes.h"
#include "stator/base/clock.h"
#include "stator/base/result.h"

namespace stator {
class EventLoop;
}

namespace stator::storage {

class LoopReader;

// Numbers commits in the order in which they took effect; 0: none.  In a store with one lane, the first is 1, and each
// is one more than the one before it.  In a store with several lanes (see Placement), no two commits have the same
// number, and in each lane the numbers grow; those of different lanes say nothing about each other, unless one of them
// is a barrier.
struct CommitSequence {
  std::uint64_t value = 0;
  friend auto operator<=>(const CommitSequence&, const CommitSequence&) = default;
};

// The newest commit of each lane that a reader was sure to see.
class ReadPoint {
 public:
  ReadPoint() = default;
  explicit ReadPoint(CommitSequence sequence) : lanes_{sequence} {}  // of a store with one lane
  explicit ReadPoint(std::vector<CommitSequence> lanes) : lanes_(std::move(lanes)) {}

  std::size_t lanes() const { return lanes_.size(); }
  CommitSequence of(std::size_t lane) const { return lane < lanes_.size() ? lanes_[lane] : CommitSequence{}; }
  friend bool operator==(const ReadPoint&, const ReadPoint&) = default;

 private:
  std::vector<CommitSequence> lanes_;
};

// Keys from `begin` up to, not including, `end`; an empty `end` means no upper bound.
struct KeyRange {
  Bytes begin;
  Bytes end;
  static KeyRange prefix(BytesView prefix) { return {Bytes(prefix), prefix_end(prefix)}; }
  bool contains(BytesView key) const { return key >= begin && (end.empty() || key < end); }
};

enum class Direction : std::uint8_t { Forward, Backward };

// Walks a range of a snapshot in key order, or against it.  Starts at the first entry of its direction.
// Belongs to the thread that opened it; its snapshot outlives it.
class Cursor {
 public:
  virtual ~Cursor() = default;
  // False at the end of the range, and after an error: ask status().
  virtual bool valid() const = 0;
  virtual void next() = 0;
  // Views into the store, valid until next() or destruction.
  virtual BytesView key() const = 0;
  virtual BytesView value() const = 0;
  // Errors: Storage, Corruption.
  virtual Result<void> status() const = 0;
};

// The store as it was at one moment.  Thread-safe.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  virtual Result<std::optional<Bytes>> get(BytesView key) const = 0;
  virtual std::unique_ptr<Cursor> cursor(const KeyRange& range, Direction direction) const = 0;
};

// Changes that take effect together, in the order in which they were added, and the reads that they depend on.
class Batch {
 public:
  enum class Kind : std::uint8_t { Put, PutSequenced, Erase, EraseRange, Add };
  struct Operation {
    Kind kind;
    Bytes key;                    // EraseRange: its begin
    Bytes value;                  // EraseRange: its end
    std::int64_t delta = 0;       // Add
    std::size_t sequence_at = 0;  // PutSequenced: where in the key the sequence goes
  };

  void put(Bytes key, Bytes value) { operations_.push_back({Kind::Put, std::move(key), std::move(value)}); }
  void erase(Bytes key) { operations_.push_back({Kind::Erase, std::move(key), {}}); }
  void erase_range(KeyRange range) {
    operations_.push_back({Kind::EraseRange, std::move(range.begin), std::move(range.end)});
  }
  // Adds to a counter (see encode_counter); a missing one is zero.  Adds commute, so they never conflict.
  void add(Bytes key, std::int64_t delta) { operations_.push_back({Kind::Add, std::move(key), {}, delta}); }
  // A put whose key holds the commit's own sequence: the eight bytes at `sequence_at` are replaced by it, big-endian.
  void put_sequenced(Bytes key, std::size_t sequence_at, Bytes value) {
    operations_.push_back({Kind::PutSequenced, std::move(key), std::move(value), 0, sequence_at});
  }

  // The keys that the author read, and when.  A shared store answers Conflict if any of it has
  // changed since; a store that only this process writes to need not look, because its one writer knows.
  void depends_on(Bytes key) { keys_read_.push_back(std::move(key)); }
  void depends_on(KeyRange range) { ranges_read_.push_back(std::move(range)); }
  void read_at(ReadPoint point) { read_at_ = std::move(point); }

  // The time at which the author made it, by Store::clock().  A shared store answers Conflict if its own time is far
  // from that: the author was paused meanwhile, or its clock was wrong.
  void made_at(WallTime time) { made_at_ = time; }

  // The epoch that the author worked in; see Store::epoch().  A shared store answers Outdated if it has another one.
  void made_in_epoch(CommitSequence epoch) { epoch_ = epoch; }
  // The commit changes data that processes keep in memory: it begins a new epoch.
  void begins_epoch() { begins_epoch_ = true; }
  // The commit is a barrier: in all lanes, commits before it have smaller numbers, and later ones have greater numbers.
  // One that begins an epoch is a barrier, too.
  void make_barrier() { barrier_ = true; }

  // It makes more room than it takes, as deletes do: a store whose disk is full may still accept it.
  void frees_space() { frees_space_ = true; }
  bool is_freeing_space() const { return frees_space_; }

  bool empty() const { return operations_.empty(); }
  std::vector<Operation>& operations() { return operations_; }
  const std::vector<Operation>& operations() const { return operations_; }
  const std::vector<Bytes>& keys_read() const { return keys_read_; }
  const std::vector<KeyRange>& ranges_read() const { return ranges_read_; }
  const ReadPoint& read_at() const { return read_at_; }
  const std::optional<WallTime>& made_at() const { return made_at_; }
  CommitSequence epoch() const { return epoch_; }
  bool is_beginning_epoch() const { return begins_epoch_; }
  bool is_barrier() const { return barrier_ || begins_epoch_; }

 private:
  std::vector<Operation> operations_;
  std::vector<Bytes> keys_read_;
  std::vector<KeyRange> ranges_read_;
  ReadPoint read_at_;
  std::optional<WallTime> made_at_;
  CommitSequence epoch_;
  bool begins_epoch_ = false;
  bool barrier_ = false;
  bool frees_space_ = false;
};

// A counter as a stored value: a signed 64-bit integer, little-endian.
Bytes encode_counter(std::int64_t value);
Result<std::int64_t> decode_counter(BytesView bytes);                 // Errors: Corruption
std::int64_t add_to_counter(std::int64_t value, std::int64_t delta);  // wraps around

// Keys that backends keep for themselves: the empty one and those that start with 0x00.  No batch may hold one, no
// reader sees one, and a range that begins before them begins behind them.
inline bool is_reserved_key(BytesView key) { return key.empty() || key.front() == '\0'; }

// For backends: puts the sequence into a sequenced key; the size of an operation in bytes_written.
void write_sequence(Bytes& key, std::size_t at, CommitSequence sequence);
std::uint64_t size_of(const Batch::Operation& operation);

// The abilities of a backend beyond the contract.  The engine asks for them and never assumes them.
struct Capabilities {
  bool shared = false;   // other processes write to it: batches must name their reads, and commits can conflict
  bool durable = false;  // commits survive the process
  bool erases_key_by_key = false;  // an erased range takes time for each key in it, and others wait
  // Its keys are spread over so many lanes (see Placement): commits in different lanes do not wait for each other.
  std::uint32_t lanes = 1;
  // The next batch can be written while the disk takes the one before; see write().
  bool two_steps = false;
};

// The values at several keys at one moment.
struct ValuesRead {
  ReadPoint at;
  std::vector<std::optional<Bytes>> values;  // in the order of the keys; nullopt: there is none
};

// A snapshot, and the epoch that it sees.
struct SnapshotOfEpoch {
  std::unique_ptr<Snapshot> snapshot;
  CommitSequence epoch;
};

// The statements sent to a database server for one purpose.  One round trip can carry several statements.
struct StatementStatistics {
  std::string_view kind;  // a word: read, lock, write
  std::uint64_t round_trips = 0;
  std::uint64_t statements = 0;
  std::uint64_t rows = 0;             // that were read or changed
  std::chrono::microseconds time{0};  // from the questions to the last answer
};

struct StoreStatistics {
  std::uint64_t commits = 0;
  std::uint64_t syncs = 0;          // requests to the disk to keep written data
  std::uint64_t bytes_written = 0;  // keys and values handed to commit()
  std::uint64_t size_bytes = 0;     // approximate size, on disk or in memory
  std::uint64_t memory_bytes = 0;   // of it, or of caches for it, in memory

  // Of a store on a database server only.
  std::vector<StatementStatistics> statements = {};
  std::uint64_t conflicts = 0;             // commits that others were faster than
  std::uint64_t retries = 0;               // commits and reads that were repeated on another connection
  std::chrono::microseconds lock_wait{0};  // of commits, for other commits
};

// The state of the database server that keeps a store.
struct StoreServer {
  std::string host;  // the one that was reached last; never with a password
  bool reachable = true;
  WallTime since;               // when it became reachable, or was lost
  std::size_t connections = 0;  // that are open
  std::size_t connections_used = 0;
  std::size_t most_connections = 0;
  std::chrono::microseconds round_trip{0};  // of the last question that was to find that out
  CommitSequence epoch;
};

// Why a store takes no commits.
enum class StoreTrouble : std::uint8_t {
  None,
  DiskFull,       // batches that free space may go through
  MemoryFull,     // the same, where the store is in memory
  DiskFailing,    // or something else that recover() may find to be over
  NoDescriptors,  // the process may not open more files
  Damaged,        // bytes read back differ from the bytes written; lasts until the store is opened again
  Unreachable,    // the database server that keeps it does not answer; reads fail, too
  TakenOver,      // another process has taken it over; reads fail, too; lasts until the store is opened again
  Upgraded,       // it got a form that this program does not know; reads fail, too; a newer program can use it
};

struct StoreHealth {
  StoreTrouble trouble = StoreTrouble::None;
  std::string cause = {};  // for the log: it may name files and folders
  std::string file = {};   // the one that is damaged, if it is known
  KeyRange keys = {};      // the keys of that file; an empty end when they are not known
  bool readable = true;    // false: the store is closed, and all reads fail until it recovers
};

// A file of a store on disk.
struct StoreFile {
  std::string name;  // within the store's folder
  std::uint64_t size_bytes = 0;
  // Tells this content from that of any other file, here and in other folders.  A file that has one never changes.
  // Hexadecimal digits; empty: the file has none.
  std::string content_id = {};
};

// The files of a store as they were after one commit.  They stay like that until this is destroyed, while the store
// goes on.  Opened from a folder of their own, they are the store as of that commit.  Thread-safe; the store outlives
// it.
class FrozenFiles {
 public:
  virtual ~FrozenFiles() = default;
  virtual CommitSequence last_commit() const = 0;
  virtual const std::vector<StoreFile>& files() const = 0;
  // At most `limit` bytes of a file from `offset` on; fewer only at its end.  Errors: Storage.
  virtual Result<Bytes> read(std::size_t file, std::uint64_t offset, std::size_t limit) const = 0;
};

struct DamagedFile {
  std::string name;
  std::string problem;
  Bytes first_key, last_key;  // the keys of the file lie between these; both empty when they are not known
};

// The operations that only a store on disk has.  Thread-safe.
class StoreFiles {
 public:
  // Called now and then with the bytes that are done and the bytes in all; false ends the work early.
  using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

  virtual ~StoreFiles() = default;
  // Reads every block of every file that holds data and compares its checksum, while the store goes on.  Answers the
  // files that fail.  Errors: Storage.
  virtual Result<std::vector<DamagedFile>> verify(const Progress& progress) const = 0;
  // Errors: Storage.
  virtual Result<std::unique_ptr<FrozenFiles>> freeze() = 0;
};

// An ordered map from bytes to bytes with snapshots and atomic batches.
//
// Order is unsigned byte order.  A Snapshot sees every batch committed before it was taken and none after.
// Thread-safe; a Cursor belongs to the thread that opened it.
//
// Epochs are for processes that share a store and keep a part of it in memory.  A batch that changes that part begins
// an epoch, which has the number of its commit.  The other processes are still in the epoch before it: their reads and
// commits fail with Outdated until they have read that part again from snapshot_of_epoch() and called enter_epoch().  A
// store that only this process uses has one epoch, 0.
class Store {
 public:
  virtual ~Store() = default;

  // The bytes at `key`, or nullopt.  Errors: Storage, Corruption, Outdated.
  virtual Result<std::optional<Bytes>> get(BytesView key) const = 0;
  // Errors: Storage, Corruption, Outdated.
  virtual Result<ValuesRead> get_all(const std::vector<BytesView>& keys) const;
  // Valid while the store is; destroy its cursors first.
  virtual std::unique_ptr<Snapshot> snapshot() const = 0;

  // A reader for the thread of an event loop.  The store outlives it.  Null: reads do not wait, or can only wait.
  virtual std::unique_ptr<LoopReader> reader_on(EventLoop& loop);

  // The epoch that this process has entered.
  virtual CommitSequence epoch() const { return {}; }
  virtual void enter_epoch(CommitSequence /*epoch*/) {}
  // A snapshot of the newest state, also in an epoch that this process has not entered.  Errors: Storage.
  virtual Result<SnapshotOfEpoch> snapshot_of_epoch() const { return SnapshotOfEpoch{snapshot(), {}}; }

  // Applies all of `batch` or none of it, if nothing that it read has changed since.  Durable on return unless the
  // store was opened relaxed.  An empty batch is a commit, too.  Errors: Conflict, Outdated: nothing was applied.
  // Storage: no reader sees it, and further commits may fail until recover(); whether it is there after recover(),
  // last_commit() tells. Corruption: it adds to a value that is no counter (a store may find that out later, and answer
  // it to the reader).
  virtual Result<CommitSequence> commit(Batch batch) = 0;
  // commit() in two steps, for a store with Capabilities::two_steps.  write() applies the batch behind all earlier
  // ones; only get_written() sees it.  publish() makes everything written up to `sequence` durable, unless the store
  // was opened relaxed, and shows it to readers.  One thread may write while another publishes. Errors: Storage;
  // commits that were written and not published count as failed, and further calls fail until recover().
  virtual Result<CommitSequence> write(Batch batch) { return commit(std::move(batch)); }
  virtual Result<void> publish(CommitSequence /*sequence*/) { return {}; }
  // get() with all that was written.
  virtual Result<std::optional<Bytes>> get_written(BytesView key) const { return get(key); }
  // The newest commit that a reader can see; survives a restart when the store does.
  virtual CommitSequence last_commit() const = 0;
  // Lets commits go on behind this number: last_commit() is at least that afterwards, and numbers up to it are not
  // given again.  For a store without other users that gets the records of another one.  Durable on return.
  // Errors: Storage.
  virtual Result<void> advance_to(CommitSequence least);
  // The newest commit in the lane of `key` that a reader from now on is sure to see.  At least the commits that earlier
  // snapshots see.
  virtual CommitSequence last_commit_of(BytesView /*key*/) const { return last_commit(); }
  // The same of all lanes, for Batch::read_at() of a batch that reads from now on.
  virtual ReadPoint read_point() const { return ReadPoint(last_commit()); }
  // Makes everything committed so far durable, also when relaxed.  Errors: Storage.
  virtual Result<void> sync() = 0;
  // After an error: tries to get back to work.  Errors: Storage, while the cause is still there, and, where the store
  // has to be opened again, while a snapshot is open.  When it succeeds, last_commit() may have grown by the commit
  // that failed. Corruption, when the store is damaged: it stays as it is.
  virtual Result<void> recover() = 0;
  // The process is about to end: from now on, calls wait only seconds for a database server that does not answer.
  virtual void shorten_waits() {}
  // Whether commits are accepted, and why not.  Known at once, also without commits.
  virtual StoreHealth health() const { return {}; }

  // The clock that all processes of a shared store agree on; null where there is none.
  virtual const Clock* clock() const { return nullptr; }

  virtual Capabilities capabilities() const = 0;
  virtual StoreStatistics statistics() const = 0;
  // Known at once.  nullopt: no server keeps the store.
  virtual std::optional<StoreServer> server() const { return std::nullopt; }
  // Null: the store keeps nothing in files.
  virtual StoreFiles* files() { return nullptr; }
};

}  // namespace stator::storage
