#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

namespace stator::model {

// The work that the proofs of one check may still do.  A step makes a state of an automaton, visits one, or compares
// two edges.  A core does about 40 million in a second.
//
// Once they are used up, or `stop` is requested, there are never any more, and proofs are not made: languages are empty
// and have nothing in common.  So a conclusion is valid only if steps are left after its proof.  Not thread-safe.
class Steps {
 public:
  explicit Steps(std::uint64_t most, std::stop_token stop = {}) : left_(most), stop_(std::move(stop)) {}

  // Whether steps are left after these.
  bool take(std::uint64_t count) {
    left_ = count < left_ && !stop_.stop_requested() ? left_ - count : 0;
    return are_left();
  }
  bool are_left() const { return left_ > 0; }

 private:
  std::uint64_t left_;
  std::stop_token stop_;
};

}  // namespace stator::model
