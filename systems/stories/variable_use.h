#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stator/value/attribute_value.h"

namespace stator::systems::stories {

// A variable that a response reads.
struct VariableRead {
  std::size_t response = 0;  // counted from 0
  std::string variable;
  std::string where;  // "condition", or "set.coins" for the value computed for coins
};
// In the order of responses; each place once.
std::vector<VariableRead> reads_of(const value::List& responses);

// Finds the variables of a story that are read and never have a value.
//
// A response that computes a variable gives it a value only if the result is one: `=coins + 5` is none without coins,
// and `=coalesce(coins, 0) + 5` is one.  Holds names and a bounded number of expressions; beyond that bound a variable
// is taken for set.  Confined to one thread.
class VariableUse {
 public:
  explicit VariableUse(const value::Item& at_start);

  void add(const value::List& responses);  // of each node
  std::set<std::string> unset() const;     // when all are there

 private:
  using Names = std::set<std::string, std::less<>>;

  void assign(const std::string& name, const value::AttributeValue& content);
  static bool gives_value(const std::string& text, const Names& known);

  Names read_;
  Names set_;
  std::set<std::pair<std::string, std::string>>
      computed_;  // variable and expression, where the result depends on others
  std::size_t computed_bytes_ = 0;
};

}  // namespace stator::systems::stories
