#include "stator/storage/postgres/postgres_reads.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "stator/storage/postgres/key_parts.h"

namespace stator::storage::postgres {
namespace {

// A page is as large as an answer of the API can be.  A reader may want only the first few entries.
constexpr std::int64_t kFirstRows = 32, kMostRows = 1024;
constexpr std::int64_t kFirstBytes = 128 << 10, kMostBytes = 1 << 20;

// What a snapshot and its cursors share.
class SnapshotConnection {
 public:
  SnapshotConnection(ConnectionPool::Lease lease, const Statements& statements)
      : lease_(std::move(lease)), statements_(statements) {}
  ~SnapshotConnection() {
    MutexLock lock(mutex_);
    lease_->add(statements_.rollback);
    lease_->send();
  }
  SnapshotConnection(const SnapshotConnection&) = delete;
  SnapshotConnection& operator=(const SnapshotConnection&) = delete;

  Result<Rows> run(const Statement& statement, const Parameters& parameters) {
    MutexLock lock(mutex_);
    // After an error the transaction is over, and answers nothing else.
    if (failure_) return *failure_;
    lease_->add(statement, parameters);
    auto rows = lease_->run(StatementKind::Page);
    if (rows) return std::move(rows->front());
    failure_ = rows.error();
    return std::move(rows).error();
  }

  const Statements& statements() const { return statements_; }

 private:
  Mutex mutex_;
  ConnectionPool::Lease lease_ GUARDED_BY(mutex_);
  std::optional<Error> failure_ GUARDED_BY(mutex_);
  const Statements& statements_;
};

class PostgresCursor final : public Cursor {
 public:
  PostgresCursor(SnapshotConnection& connection, const KeyRange& range, Direction direction)
      : connection_(connection), direction_(direction), range_(range) {
    if (!range.end.empty() && range.end <= range.begin) {
      done_ = true;
      return;
    }
    fetch();
  }

  bool valid() const override { return page_ && row_ < page_->count(); }
  void next() override {
    if (++row_ < page_->count()) return load();
    if (done_) return;
    // Behind the last key, or before it.
    if (direction_ == Direction::Forward) {
      range_.begin = key_ + Bytes(1, '\0');
    } else {
      range_.end = key_;
    }
    rows_ = std::min(rows_ * 4, kMostRows);
    bytes_ = std::min(bytes_ * 4, kMostBytes);
    fetch();
  }
  BytesView key() const override { return key_; }
  BytesView value() const override { return page_->bytes(row_, 2); }
  Result<void> status() const override { return failure_ ? Result<void>(*failure_) : Result<void>(); }

 private:
  void fetch() {
    const KeyParts begin(range_.begin), end(range_.end);
    Parameters parameters;
    parameters.int32(kLane).bytes(begin.head).bytes(begin.tail);
    const bool bounded = !range_.end.empty();
    if (bounded) parameters.bytes(end.head).bytes(end.tail);
    parameters.int64(rows_).int64(bytes_);
    const auto& statements = connection_.statements();
    const auto& statement = direction_ == Direction::Forward
                                ? (bounded ? statements.forward : statements.forward_to_end)
                                : (bounded ? statements.backward : statements.backward_from_end);
    auto rows = connection_.run(statement, parameters);
    page_.reset();
    row_ = 0;
    if (!rows) {
      failure_ = std::move(rows).error();
      done_ = true;
      return;
    }
    page_ = std::move(*rows);
    // A page with fewer rows than were asked for is the last one, unless it ends by its size.
    std::int64_t size = 0;
    for (int row = 0; row < page_->count(); ++row) size += static_cast<std::int64_t>(page_->bytes(row, 2).size());
    done_ = page_->count() < rows_ && size < bytes_;
    if (page_->count() > 0) load();
  }

  void load() {
    key_ = page_->bytes(row_, 0);
    key_ += page_->bytes(row_, 1);
  }

  SnapshotConnection& connection_;
  const Direction direction_;
  KeyRange range_;  // what is left
  std::int64_t rows_ = kFirstRows, bytes_ = kFirstBytes;
  std::optional<Rows> page_;
  int row_ = 0;
  Bytes key_;
  bool done_ = false;
  std::optional<Error> failure_;
};

class PostgresSnapshot final : public Snapshot {
 public:
  PostgresSnapshot(ConnectionPool::Lease lease, const Statements& statements)
      : connection_(std::move(lease), statements) {}

  Result<std::optional<Bytes>> get(BytesView key) const override {
    const KeyParts parts(key);
    const auto rows = TRY(
        connection_.run(connection_.statements().get, Parameters().int32(kLane).bytes(parts.head).bytes(parts.digest)));
    if (rows.count() == 0 || rows.is_null(0, 3)) return std::optional<Bytes>();
    return std::optional<Bytes>(rows.bytes(0, 3));
  }
  std::unique_ptr<Cursor> cursor(const KeyRange& range, Direction direction) const override {
    return std::make_unique<PostgresCursor>(connection_, range, direction);
  }

 private:
  mutable SnapshotConnection connection_;
};

class FailedCursor final : public Cursor {
 public:
  explicit FailedCursor(Error error) : error_(std::move(error)) {}
  bool valid() const override { return false; }
  void next() override {}
  BytesView key() const override { return {}; }
  BytesView value() const override { return {}; }
  Result<void> status() const override { return error_; }

 private:
  const Error error_;
};

class FailedSnapshot final : public Snapshot {
 public:
  explicit FailedSnapshot(Error error) : error_(std::move(error)) {}
  Result<std::optional<Bytes>> get(BytesView /*key*/) const override { return error_; }
  std::unique_ptr<Cursor> cursor(const KeyRange& /*range*/, Direction /*direction*/) const override {
    return std::make_unique<FailedCursor>(error_);
  }

 private:
  const Error error_;
};

}  // namespace

std::unique_ptr<Snapshot> snapshot_on(ConnectionPool::Lease lease, const Statements& statements) {
  return std::make_unique<PostgresSnapshot>(std::move(lease), statements);
}

std::unique_ptr<Snapshot> failed_snapshot(Error error) { return std::make_unique<FailedSnapshot>(std::move(error)); }

}  // namespace stator::storage::postgres
