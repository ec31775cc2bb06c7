#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace stator::bench {

// Counts durations in buckets that are at most 1/32 wide of what they hold; percentiles are as exact as that.
class Histogram {
 public:
  void add(std::uint64_t nanoseconds) {
    ++buckets_[index(nanoseconds)];
    ++count_;
  }

  std::uint64_t count() const { return count_; }

  // The duration that a share of `p` (0 to 1) of all durations does not exceed; 0 when there are none.
  std::uint64_t percentile(double p) const {
    const auto wanted = static_cast<std::uint64_t>(p * static_cast<double>(count_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen > wanted || (seen == count_ && seen > 0)) return upper_bound(i);
    }
    return 0;
  }

 private:
  static constexpr unsigned kSteps = 32;  // per power of two

  static std::size_t index(std::uint64_t v) {
    if (v < kSteps) return v;
    const auto shift = static_cast<unsigned>(std::bit_width(v)) - 6;  // v >> shift lies in [32, 64)
    return (shift + 1) * kSteps + ((v >> shift) - kSteps);
  }

  static std::uint64_t upper_bound(std::size_t i) {
    if (i < kSteps) return i;
    const auto shift = i / kSteps - 1;
    return ((i % kSteps + kSteps + 1) << shift) - 1;
  }

  std::array<std::uint64_t, 60 * kSteps> buckets_{};
  std::uint64_t count_ = 0;
};

}  // namespace stator::bench
