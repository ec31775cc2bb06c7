#pragma once

#include <utility>
#include <vector>

#include "stator/expr/path.h"

namespace stator::expr {

// A projection expression: which parts of an item to return.  A value type.
class Projection {
 public:
  explicit Projection(std::vector<Path> paths) : paths_(std::move(paths)) {}

  value::Item apply(const value::Item& item) const { return project(item, paths_); }
  const std::vector<Path>& paths() const { return paths_; }

 private:
  std::vector<Path> paths_;
};

}  // namespace stator::expr
