#include "stator/engine/lease.h"

#include <future>

#include "stator/engine/keyspace.h"

namespace stator::engine {
namespace {

constexpr char kLeaseVersion = 1;
constexpr std::size_t kHolderBytes = 16;
constexpr std::size_t kLeaseBytes = 1 + 8 + 8 + kHolderBytes;

Bytes random_holder(Random& random) {
  Bytes holder;
  append_u64be(holder, random.next());
  append_u64be(holder, random.next());
  return holder;
}

// Takes the lease, renews it, or ends it, unless another process has it.  Answers the lease as it is then.
class ChangeLease final : public Work {
 public:
  // `abandoned`: the lease of another process that has ended, whatever time it says.
  ChangeLease(Bytes holder, std::uint64_t fence, std::chrono::microseconds duration,
              std::optional<LeaseRecord> abandoned, std::promise<Result<LeaseRecord>> done)
      : holder_(std::move(holder)),
        fence_(fence),
        duration_(duration),
        abandoned_(std::move(abandoned)),
        done_(std::move(done)) {}

  void execute(PendingCommit& commit) override { outcome_ = change(commit); }
  void will_read(std::vector<KeyBytes>& keys) const override { keys.push_back(lease_key()); }
  void finish(const Result<storage::CommitSequence>& committed) override {
    done_.set_value(committed ? std::move(outcome_) : Result<LeaseRecord>(committed.error()));
  }

 private:
  Result<LeaseRecord> change(PendingCommit& commit) const {
    LeaseRecord next{.fence = 1, .until = commit.time() + duration_, .holder = holder_};
    if (const auto bytes = TRY(commit.get(lease_key()))) {
      auto found = TRY(LeaseRecord::decode(*bytes));
      const bool ours = found.holder == holder_ && found.fence == fence_;
      const bool ended = found.until <= commit.time() || found == abandoned_;
      if (!ours && (!ended || duration_.count() == 0)) return found;
      next.fence = ours ? found.fence : found.fence + 1;
    }
    commit.put(lease_key(), next.encode());
    return next;
  }

  const Bytes holder_;
  const std::uint64_t fence_;
  const std::chrono::microseconds duration_;
  const std::optional<LeaseRecord> abandoned_;
  std::promise<Result<LeaseRecord>> done_;
  Result<LeaseRecord> outcome_ = LeaseRecord{};
};

}  // namespace

Bytes LeaseRecord::encode() const {
  Bytes out(1, kLeaseVersion);
  append_u64be(out, fence);
  append_u64be(out, static_cast<std::uint64_t>(until.time_since_epoch().count()));
  return out += holder;
}

Result<LeaseRecord> LeaseRecord::decode(BytesView bytes) {
  if (bytes.size() != kLeaseBytes || bytes[0] != kLeaseVersion) {
    return Error{ErrorCode::Corruption, "the lease of background work has an unknown format"};
  }
  const auto micros = static_cast<std::int64_t>(read_u64be(bytes.data() + 9));
  return LeaseRecord{.fence = read_u64be(bytes.data() + 1),
                     .until = WallTime{std::chrono::microseconds{micros}},
                     .holder = Bytes(bytes.substr(17))};
}

Lease::Lease(bool shared, Committer& committer, const Clock& clock, Random& random)
    : committer_(committer), clock_(clock), shared_(shared), holder_(shared ? random_holder(random) : Bytes()) {}

bool Lease::hold() {
  if (!shared_) return true;
  {
    MutexLock lock(mutex_);
    const auto now = clock_.now();
    const bool ours = fence_ > 0 && now < until_;
    const bool others = fence_ == 0 && now < until_;
    // No lease ends later than that, unless the clock was set back.
    const bool is_plausible = until_ - now <= kDuration;
    const bool may_be_abandoned = seen_ && clock_.steady_now() - seen_since_ >= kDuration;
    if (changing_ || (others && !may_be_abandoned) || (ours && is_plausible && until_ - now > kRenewal)) return ours;
    changing_ = true;
  }
  change(kDuration);
  MutexLock lock(mutex_);
  changing_ = false;
  return fence_ > 0;
}

void Lease::release() {
  {
    MutexLock lock(mutex_);
    if (fence_ == 0 || changing_) return;
  }
  change({});
}

void Lease::change(std::chrono::microseconds duration) {
  std::uint64_t fence = 0;
  std::optional<LeaseRecord> abandoned;
  {
    MutexLock lock(mutex_);
    fence = fence_;
    if (clock_.steady_now() - seen_since_ >= kDuration) abandoned = seen_;
  }
  std::promise<Result<LeaseRecord>> promise;
  auto done = promise.get_future();
  committer_.submit(std::make_unique<ChangeLease>(holder_, fence, duration, std::move(abandoned), std::move(promise)));
  const auto lease = done.get();
  MutexLock lock(mutex_);
  // Without an answer it is ours for as long as it was.
  if (!lease) return;
  until_ = lease->until;
  const bool ours = lease->holder == holder_;
  fence_ = ours ? lease->fence : 0;
  if (ours) {
    seen_.reset();
  } else if (seen_ != *lease) {
    seen_ = *lease;
    seen_since_ = clock_.steady_now();
  }
}

Result<void> Lease::check(PendingCommit& commit) const {
  if (!shared_) return {};
  std::uint64_t fence = 0;
  {
    MutexLock lock(mutex_);
    fence = fence_;
  }
  const auto bytes = TRY(commit.get(lease_key()));
  if (bytes) {
    const auto lease = TRY(LeaseRecord::decode(*bytes));
    if (lease.holder == holder_ && lease.fence == fence) return {};
  }
  return Error{ErrorCode::Busy, "another process does the background work of the store now"};
}

}  // namespace stator::engine
