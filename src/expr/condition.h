#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/base/result.h"
#include "stator/expr/placeholders.h"
#include "stator/expr/tree.h"

namespace stator::expr {

struct Bindings;
struct KeyCondition;

// A condition or filter expression, ready to be asked.
//
// Immutable, self-contained and cheap to copy: copies share the tree and the bound values.  Thread-safe.
class Condition {
 public:
  // A condition that was not written as an expression.  Every #name and :value of the tree must be in `placeholders`.
  // The tree is taken as it is: the checks of Binder::condition() are for text that a client wrote.
  static Condition from_tree(std::shared_ptr<const Tree> tree, std::shared_ptr<const Placeholders> placeholders);

  // Whether the item satisfies it.  An item that does not exist is an empty one.  Copies no values.
  bool matches(const value::Item& item) const;

  // The top-level attributes that it reads, each once, in order of appearance.
  std::vector<std::string_view> attributes() const;
  // The attributes among them of which it reads a nested part, which a key attribute does not have.
  std::vector<std::string_view> nested_attributes() const;

  // The values that it compares with, one for each place where one stands.
  std::span<const value::AttributeValue* const> values() const;
  // The placeholders of these values: ":v".
  std::span<const std::string> placeholders() const;
  // The names in its paths.
  std::span<const std::string* const> names() const;

 private:
  friend class Binder;
  friend class Unbinder;
  friend Result<KeyCondition> to_key_condition(const Condition& condition);
  explicit Condition(std::shared_ptr<const Bindings> bindings) : bindings_(std::move(bindings)) {}

  std::shared_ptr<const Bindings> bindings_;
};

}  // namespace stator::expr
