#include "stator/storage/rocksdb/rocksdb_reads.h"

#include <utility>

namespace stator::storage {
namespace {

class RocksDbCursor final : public Cursor {
 public:
  RocksDbCursor(rocksdb::DB& db, const rocksdb::Snapshot* snapshot, const KeyRange& range, Direction direction,
                FailureListener& listener)
      : listener_(listener),
        begin_(is_reserved_key(range.begin) ? Bytes(kFirstUserKey) : range.begin),
        end_(range.end),
        begin_slice_(begin_),
        end_slice_(end_),
        direction_(direction) {
    if (!end_.empty() && end_ <= begin_) return;
    rocksdb::ReadOptions read;
    read.snapshot = snapshot;
    read.iterate_lower_bound = &begin_slice_;
    if (!end_.empty()) read.iterate_upper_bound = &end_slice_;
    iterator_.reset(db.NewIterator(read));
    if (direction == Direction::Forward) {
      iterator_->Seek(begin_slice_);
    } else {
      iterator_->SeekToLast();  // the last one before the upper bound
    }
  }

  bool valid() const override { return iterator_ != nullptr && iterator_->Valid(); }
  void next() override {
    if (direction_ == Direction::Forward) {
      iterator_->Next();
    } else {
      iterator_->Prev();
    }
  }
  BytesView key() const override { return view(iterator_->key()); }
  BytesView value() const override { return view(iterator_->value()); }
  Result<void> status() const override {
    if (iterator_ == nullptr || iterator_->status().ok()) return {};
    listener_.note_read(iterator_->status());
    return storage_error("cannot read", iterator_->status());
  }

 private:
  FailureListener& listener_;
  // RocksDB keeps pointers to the bounds.
  const Bytes begin_, end_;
  const rocksdb::Slice begin_slice_, end_slice_;
  const Direction direction_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

class RocksDbSnapshot final : public Snapshot {
 public:
  RocksDbSnapshot(rocksdb::DB& db, std::atomic<std::size_t>& open_snapshots, FailureListener& listener)
      : db_(db), snapshot_(db.GetSnapshot()), open_snapshots_(open_snapshots), listener_(listener) {
    open_snapshots_.fetch_add(1, std::memory_order_relaxed);
  }
  ~RocksDbSnapshot() override {
    db_.ReleaseSnapshot(snapshot_);
    open_snapshots_.fetch_sub(1, std::memory_order_release);
  }
  RocksDbSnapshot(const RocksDbSnapshot&) = delete;
  RocksDbSnapshot& operator=(const RocksDbSnapshot&) = delete;

  Result<std::optional<Bytes>> get(BytesView key) const override {
    if (is_reserved_key(key)) return std::optional<Bytes>();
    rocksdb::ReadOptions options;
    options.snapshot = snapshot_;
    rocksdb::PinnableSlice value;
    const auto status = db_.Get(options, db_.DefaultColumnFamily(), slice(key), &value);
    if (status.IsNotFound()) return std::optional<Bytes>();
    if (!status.ok()) {
      listener_.note_read(status);
      return storage_error("cannot read", status);
    }
    return std::optional<Bytes>(view(value));
  }
  std::unique_ptr<Cursor> cursor(const KeyRange& range, Direction direction) const override {
    return std::make_unique<RocksDbCursor>(db_, snapshot_, range, direction, listener_);
  }

 private:
  rocksdb::DB& db_;
  const rocksdb::Snapshot* snapshot_;
  std::atomic<std::size_t>& open_snapshots_;
  FailureListener& listener_;
};

}  // namespace

std::shared_ptr<const Snapshot> take_snapshot(rocksdb::DB& db, std::atomic<std::size_t>& open_snapshots,
                                              FailureListener& listener) {
  return std::make_shared<RocksDbSnapshot>(db, open_snapshots, listener);
}

}  // namespace stator::storage
