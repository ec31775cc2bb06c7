#include "stator/storage/postgres/postgres_reads.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "stator/storage/failed_cursor.h"
#include "stator/storage/postgres/key_parts.h"

namespace stator::storage::postgres {
namespace {

// A page is as large as an answer of the API can be.  A reader may want only the first few entries.
constexpr std::int64_t kFirstRows = 32, kMostRows = 1024;
constexpr std::int64_t kFirstBytes = 128 << 10, kMostBytes = 1 << 20;

// The values in a column, which are the parts of a counter, from one row to another.
Result<std::optional<Bytes>> sum_of_column(const Rows& rows, int column, int begin, int end) {
  std::vector<BytesView> parts;
  for (int row = begin; row < end; ++row) {
    if (!rows.is_null(row, column)) parts.push_back(rows.bytes(row, column));
  }
  return sum_of_parts(parts);
}

// The parts that a snapshot and its cursors share.
class SnapshotConnection {
 public:
  SnapshotConnection(ConnectionPool::Lease lease, const Statements& statements, const Lanes& lanes)
      : lease_(std::move(lease)), statements_(statements), lanes_(lanes) {}
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

  Result<std::optional<Bytes>> get(BytesView key) {
    const KeyParts parts(key);
    if (const auto lane = lanes_.of(key)) {
      const auto rows = TRY(run(statements_.get, Parameters().int32(*lane).bytes(parts.head).bytes(parts.digest)));
      if (rows.count() == 0 || rows.is_null(0, 3)) return std::optional<Bytes>();
      return std::optional<Bytes>(rows.bytes(0, 3));
    }
    const auto rows = TRY(
        run(statements_.get_parts, Parameters().array(each_lane(lanes_.all())).bytes(parts.head).bytes(parts.digest)));
    return sum_of_column(rows, 4, 0, rows.count());
  }

  const Statements& statements() const { return statements_; }
  const Lanes& lanes() const { return lanes_; }

 private:
  Mutex mutex_;
  ConnectionPool::Lease lease_ GUARDED_BY(mutex_);
  std::optional<Error> failure_ GUARDED_BY(mutex_);
  const Statements& statements_;
  const Lanes& lanes_;
};

// Walks one lane after the other where their keys follow each other, and all of them together otherwise.  The first
// page is of all lanes in any case: most ranges are short.
class PostgresCursor final : public Cursor {
 public:
  PostgresCursor(SnapshotConnection& connection, const KeyRange& range, Direction direction)
      : connection_(connection), direction_(direction), range_(range) {
    if (!range.end.empty() && range.end <= range.begin) {
      last_page_ = true;
      return;
    }
    lanes_ = connection_.lanes().of(range);
    fetch();
  }

  bool valid() const override { return page_ && row_ < page_->count(); }
  void next() override {
    row_ += parts_;
    if (row_ < page_->count()) return load();
    if (last_page_) return;
    // Behind the last key, or before it.
    if (direction_ == Direction::Forward) {
      range_.begin = key_ + Bytes(1, '\0');
    } else {
      range_.end = key_;
    }
    if (lanes_.in_key_order && lanes_.first != lanes_.last && !lane_by_lane_) leave_lanes_behind();
    rows_ = std::min(rows_ * 4, kMostRows);
    bytes_ = std::min(bytes_ * 4, kMostBytes);
    fetch();
  }
  BytesView key() const override { return key_; }
  BytesView value() const override { return sum_ ? BytesView(*sum_) : page_->bytes(row_, 2); }
  Result<void> status() const override { return failure_ ? Result<void>(*failure_) : Result<void>(); }

 private:
  // The lanes before that of the last key are done, or those behind it.
  void leave_lanes_behind() {
    const auto lane = static_cast<std::uint32_t>(connection_.lanes().of(key_).value_or(0));
    (direction_ == Direction::Forward ? lanes_.first : lanes_.last) = lane;
    lane_by_lane_ = true;
  }

  void fetch() {
    for (;;) {
      const bool merged = lanes_.first != lanes_.last && !lane_by_lane_;
      fetch_page(merged);
      if (failure_ || !lane_by_lane_ || !last_page_ || lanes_.first == lanes_.last) break;
      // There may be more in the next lane.
      last_page_ = false;
      if (direction_ == Direction::Forward) {
        ++lanes_.first;
      } else {
        --lanes_.last;
      }
      if (page_->count() > 0) break;
    }
    if (valid()) load();
  }

  void fetch_page(bool merged) {
    const KeyParts begin(range_.begin), end(range_.end);
    Parameters parameters;
    if (merged) {
      parameters.array(each_lane(lanes_));
    } else {
      parameters.int32(static_cast<std::int32_t>(direction_ == Direction::Forward ? lanes_.first : lanes_.last));
    }
    parameters.bytes(begin.head).bytes(begin.tail);
    const bool bounded = !range_.end.empty();
    if (bounded) parameters.bytes(end.head).bytes(end.tail);
    parameters.int64(rows_).int64(bytes_);
    const auto& pages = merged ? connection_.statements().merged_pages : connection_.statements().pages;
    const auto& statement = direction_ == Direction::Forward ? (bounded ? pages.forward : pages.forward_to_end)
                                                             : (bounded ? pages.backward : pages.backward_from_end);
    auto rows = connection_.run(statement, parameters);
    page_.reset();
    row_ = 0;
    if (!rows) return fail(std::move(rows).error());
    page_ = std::move(*rows);
    // A page with fewer rows than were asked for is the last one, unless it ends by its size.
    std::int64_t size = 0;
    for (int row = 0; row < page_->count(); ++row) size += static_cast<std::int64_t>(page_->bytes(row, 2).size());
    last_page_ = page_->count() < rows_ && size < bytes_;
  }

  void load() {
    key_ = page_->bytes(row_, 0);
    key_ += page_->bytes(row_, 1);
    parts_ = 1;
    sum_.reset();
    if (connection_.lanes().of(key_)) return;
    while (row_ + parts_ < page_->count() && page_->bytes(row_ + parts_, 0) == page_->bytes(row_, 0) &&
           page_->bytes(row_ + parts_, 1) == page_->bytes(row_, 1)) {
      ++parts_;
    }
    // The page may have ended between the parts.
    auto sum = row_ + parts_ == page_->count() && !last_page_ ? connection_.get(key_)
                                                              : sum_of_column(*page_, 2, row_, row_ + parts_);
    if (!sum) {
      page_.reset();
      return fail(std::move(sum).error());
    }
    sum_ = std::move(*sum);
  }

  void fail(Error error) {
    failure_ = std::move(error);
    last_page_ = true;
  }

  SnapshotConnection& connection_;
  const Direction direction_;
  KeyRange range_;  // what is left
  LaneRange lanes_;
  bool lane_by_lane_ = false;
  std::int64_t rows_ = kFirstRows, bytes_ = kFirstBytes;
  std::optional<Rows> page_;
  bool last_page_ = false;  // there is none behind it
  int row_ = 0;
  int parts_ = 1;  // rows of the entry, which begins at row_
  Bytes key_;
  std::optional<Bytes> sum_;  // of the parts
  std::optional<Error> failure_;
};

class PostgresSnapshot final : public Snapshot {
 public:
  PostgresSnapshot(ConnectionPool::Lease lease, const Statements& statements, const Lanes& lanes)
      : connection_(std::move(lease), statements, lanes) {}

  Result<std::optional<Bytes>> get(BytesView key) const override { return connection_.get(key); }
  std::unique_ptr<Cursor> cursor(const KeyRange& range, Direction direction) const override {
    return std::make_unique<PostgresCursor>(connection_, range, direction);
  }

 private:
  mutable SnapshotConnection connection_;
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

std::unique_ptr<Snapshot> snapshot_on(ConnectionPool::Lease lease, const Statements& statements, const Lanes& lanes) {
  return std::make_unique<PostgresSnapshot>(std::move(lease), statements, lanes);
}

std::unique_ptr<Snapshot> failed_snapshot(Error error) { return std::make_unique<FailedSnapshot>(std::move(error)); }

}  // namespace stator::storage::postgres
