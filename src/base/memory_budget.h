#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace stator {

// The purposes of memory.  Metrics show each part of the budget.
enum class MemoryPart : std::uint8_t {
  Bodies,   // requests as they are received, and inflated
  Values,   // decoded requests, and work that waits with them
  Answers,  // answers that are being put together or have not been sent yet
};
inline constexpr std::array kMemoryParts = {MemoryPart::Bodies, MemoryPart::Values, MemoryPart::Answers};
std::string_view name_of(MemoryPart part);  // "bodies"

// The memory that requests make a process hold, and its limit.
//
// Only large amounts are counted: a few kilobytes per connection or request are not worth the counting.  Two shares are
// kept back, so that a few can go on while many ask for much: bodies get at most half of the limit, and claims that are
// or become larger than kSmallBytes at most seven eighths.  Thread-safe.
class MemoryBudget {
 public:
  static constexpr std::size_t kSmallBytes = 64 << 10;

  explicit MemoryBudget(std::size_t limit) : limit_(limit) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // For a claim that grows by `bytes` to `total`.  False, and nothing taken, when that is more than is left.
  bool take(MemoryPart part, std::size_t bytes, std::size_t total);
  void give_back(MemoryPart part, std::size_t bytes);

  std::size_t limit() const { return limit_; }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  std::size_t used(MemoryPart part) const {
    return parts_[static_cast<std::size_t>(part)].load(std::memory_order_relaxed);
  }
  std::uint64_t refusals() const { return refusals_.load(std::memory_order_relaxed); }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> used_ = 0;
  std::array<std::atomic<std::size_t>, kMemoryParts.size()> parts_ = {};
  std::atomic<std::uint64_t> refusals_ = 0;
};

// A part of a budget that somebody holds; the destructor gives it back.  Without a budget everything is granted.
class MemoryClaim {
 public:
  MemoryClaim() = default;
  MemoryClaim(MemoryBudget* budget, MemoryPart part) : budget_(budget), part_(part) {}  // the budget outlives the claim
  MemoryClaim(MemoryClaim&& other) noexcept
      : budget_(other.budget_), part_(other.part_), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryClaim& operator=(MemoryClaim&& other) noexcept {
    if (this == &other) return *this;
    if (bytes_ != 0) reset();
    budget_ = other.budget_;
    part_ = other.part_;
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }
  ~MemoryClaim() {
    if (bytes_ != 0) reset();
  }

  // Holds `bytes` from now on, in place of the earlier amount.  False, and unchanged, when there is no room for more.
  bool resize(std::size_t bytes) {
    if (budget_ == nullptr || bytes == bytes_) return true;
    if (bytes > bytes_ && !budget_->take(part_, bytes - bytes_, bytes)) return false;
    if (bytes < bytes_) budget_->give_back(part_, bytes_ - bytes);
    bytes_ = bytes;
    return true;
  }
  void reset() { resize(0); }
  std::size_t bytes() const { return bytes_; }

 private:
  MemoryBudget* budget_ = nullptr;
  MemoryPart part_ = MemoryPart::Bodies;
  std::size_t bytes_ = 0;
};

}  // namespace stator
