#include "stator/storage/memory/memory_store.h"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "stator/base/mutex.h"
#include "stator/storage/tree/tree.h"
#include "stator/storage/tree/versions.h"

namespace stator::storage {
namespace {

using tree::Blob;
using tree::Edit;
using tree::TreeCursor;
using tree::Version;
using tree::Versions;

class MemoryCursor final : public Cursor {
 public:
  MemoryCursor(const Version& version, const KeyRange& range, Direction direction)
      : cursor_(version.root),
        direction_(direction),
        bound_(direction == Direction::Forward ? range.end : range.begin) {
    if (!range.end.empty() && range.end <= range.begin) return;
    if (direction == Direction::Forward) {
      cursor_.seek_not_below(range.begin);
    } else if (range.end.empty()) {
      cursor_.seek_last();
    } else {
      cursor_.seek_below(range.end);
    }
    load();
  }

  bool valid() const override { return entry_ != nullptr; }
  void next() override {
    if (direction_ == Direction::Forward) {
      cursor_.next();
    } else {
      cursor_.previous();
    }
    load();
  }
  BytesView key() const override { return entry_->key(); }
  BytesView value() const override { return entry_->value(); }
  Result<void> status() const override { return {}; }

 private:
  void load() {
    entry_ = cursor_.valid() ? cursor_.entry() : nullptr;
    if (entry_ == nullptr) return;
    prefetch();
    if (bound_.empty()) return;
    const bool inside = direction_ == Direction::Forward ? entry_->key() < bound_ : entry_->key() >= bound_;
    if (!inside) entry_ = nullptr;
  }

  void prefetch() const {
    if (direction_ == Direction::Forward) {
      cursor_.prefetch_next();
    } else {
      cursor_.prefetch_previous();
    }
  }

  TreeCursor cursor_;
  const Direction direction_;
  const Bytes bound_;  // where the walk ends; empty: at the end of the tree
  const Blob* entry_ = nullptr;
};

std::optional<Bytes> read(const Version& version, BytesView key) {
  const Blob* entry = tree::find(version.root, key);
  if (entry == nullptr) return std::nullopt;
  return Bytes(entry->value());
}

class MemorySnapshot final : public Snapshot {
 public:
  explicit MemorySnapshot(Versions& versions) : versions_(versions), version_(versions.pin()) {}
  ~MemorySnapshot() override { versions_.unpin(version_); }
  MemorySnapshot(const MemorySnapshot&) = delete;
  MemorySnapshot& operator=(const MemorySnapshot&) = delete;

  Result<std::optional<Bytes>> get(BytesView key) const override { return read(*version_, key); }
  std::unique_ptr<Cursor> cursor(const KeyRange& range, Direction direction) const override {
    return std::make_unique<MemoryCursor>(*version_, range, direction);
  }

 private:
  Versions& versions_;
  const Version* version_;
};

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  Result<std::optional<Bytes>> get(BytesView key) const override {
    const Version* version = versions_.pin();
    auto value = read(*version, key);
    versions_.unpin(version);
    return value;
  }

  std::unique_ptr<Snapshot> snapshot() const override { return std::make_unique<MemorySnapshot>(versions_); }

  Result<CommitSequence> commit(Batch batch) override {
    MutexLock lock(commit_mutex_);
    if (limit_bytes_ != UINT64_MAX && !batch.is_freeing_space()) TRY(make_sure_of_room(batch));
    const CommitSequence sequence{versions_.newest()->sequence + 1};
    Edit edit(versions_.newest()->root, sequence.value);
    std::uint64_t bytes = 0;
    auto& operations = batch.operations();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (i % tree::kPathsAtOnce == 0) tree::prefetch_paths(edit.root(), operations, i);
      bytes += size_of(operations[i]);
      TRY(apply(edit, operations[i], sequence));
    }
    versions_.publish(sequence.value, edit.take());
    last_commit_.store(sequence.value, std::memory_order_release);
    commits_.fetch_add(1, std::memory_order_relaxed);
    bytes_written_.fetch_add(bytes, std::memory_order_relaxed);
    return sequence;
  }

  CommitSequence last_commit() const override { return {last_commit_.load(std::memory_order_acquire)}; }
  // A snapshot sees a commit a moment before last_commit_ counts it.
  CommitSequence last_commit_of(BytesView /*key*/) const override {
    const Version* version = versions_.pin();
    const CommitSequence sequence{version->sequence};
    versions_.unpin(version);
    return sequence;
  }
  Result<void> sync() override { return {}; }
  Result<void> recover() override {
    if (!full_.load(std::memory_order_relaxed)) return {};
    if (versions_.allocated_bytes() + limit_bytes_ / kRecoveryShare > limit_bytes_) return full_error();
    full_.store(false, std::memory_order_relaxed);
    return {};
  }
  StoreHealth health() const override {
    if (!full_.load(std::memory_order_relaxed)) return {};
    return {.trouble = StoreTrouble::MemoryFull, .cause = full_error().message};
  }
  Capabilities capabilities() const override { return {}; }

  StoreStatistics statistics() const override {
    return {.commits = commits_.load(std::memory_order_relaxed),
            .syncs = 0,
            .bytes_written = bytes_written_.load(std::memory_order_relaxed),
            .size_bytes = versions_.allocated_bytes(),
            .memory_bytes = versions_.allocated_bytes()};
  }

 private:
  static constexpr std::uint64_t kRecoveryShare = 64;  // of the limit must be free before writes are accepted again

  Error full_error() const {
    return {ErrorCode::Storage,
            fmt::format("the items in memory have reached their share of memory_limit, {} MB", limit_bytes_ >> 20)};
  }

  Result<void> make_sure_of_room(const Batch& batch) REQUIRES(commit_mutex_) {
    std::uint64_t more = 0;
    for (const auto& operation : batch.operations()) more += size_of(operation);
    if (!full_.load(std::memory_order_relaxed) && versions_.allocated_bytes() + more <= limit_bytes_) return {};
    full_.store(true, std::memory_order_relaxed);
    return full_error();
  }

  static Result<void> apply(Edit& edit, Batch::Operation& operation, CommitSequence sequence) {
    if (operation.kind == Batch::Kind::EraseRange) {
      edit.erase_range(operation.key, operation.value);
      return {};
    }
    STATOR_ASSERT(!is_reserved_key(operation.key), "reserved keys belong to the backends");
    switch (operation.kind) {
      case Batch::Kind::PutSequenced: write_sequence(operation.key, operation.sequence_at, sequence); [[fallthrough]];
      case Batch::Kind::Put: edit.put(operation.key, operation.value); break;
      case Batch::Kind::Erase: edit.erase(operation.key); break;
      case Batch::Kind::Add: {
        const Blob* entry = edit.find(operation.key);
        const auto value = entry == nullptr ? 0 : TRY(decode_counter(entry->value()));
        edit.put(operation.key, encode_counter(add_to_counter(value, operation.delta)));
        break;
      }
      case Batch::Kind::EraseRange: break;
    }
    return {};
  }

  mutable Versions versions_;
  const std::uint64_t limit_bytes_;
  std::atomic<bool> full_{false};
  Mutex commit_mutex_;
  std::atomic<std::uint64_t> last_commit_{0};
  std::atomic<std::uint64_t> commits_{0};
  std::atomic<std::uint64_t> bytes_written_{0};
};

}  // namespace

std::unique_ptr<Store> open_memory_store(std::uint64_t limit_bytes) {
  return std::make_unique<MemoryStore>(limit_bytes);
}

}  // namespace stator::storage
