#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/base/result.h"
#include "stator/expr/path.h"
#include "stator/expr/placeholders.h"
#include "stator/expr/tree.h"

namespace stator::expr {

struct Bindings;

// An update expression, ready to be applied.
//
// Immutable, self-contained and cheap to copy.  Thread-safe.
class Update {
 public:
  // An update that was not written as an expression; see Condition::from_tree().
  static Update from_tree(std::shared_ptr<const Tree> tree, std::shared_ptr<const Placeholders> placeholders);

  // The item after the update.  Every operand reads `old`, not the results of other actions.  The caller checks sizes
  // and keys: see paths() for the attributes that may have changed.  Errors: Validation, with DynamoDB's texts.
  Result<value::Item> apply(const value::Item& old) const;
  // The same where there is no item yet, given its key.  Differs from apply() in one oddity of DynamoDB: a nested path
  // that leads nowhere may be removed from an item that does not exist, and not from one that does.
  Result<value::Item> create(const value::Item& key) const;

  // The paths that it writes or removes, in the order of the expression: for UPDATED_OLD and UPDATED_NEW, and to refuse
  // an update of the key.
  const std::vector<Path>& paths() const { return *paths_; }

  // The top-level attributes that it reads or writes inside of, which a key attribute does not allow.
  std::vector<std::string_view> nested_attributes() const;

  // DynamoDB's charge for the expression itself: the values that it writes with their names, and a fixed price for each
  // action and function.  The service also compares this with the largest size of an item.
  std::size_t charged_bytes() const;

  // The values that it writes, one for each place where one stands.
  std::span<const value::AttributeValue* const> values() const;
  // The placeholders of these values: ":v".
  std::span<const std::string> placeholders() const;
  // The names in its paths.
  std::span<const std::string* const> names() const;

 private:
  friend class Binder;
  friend class Unbinder;
  Update(std::shared_ptr<const Bindings> bindings, std::vector<Path> paths);

  std::shared_ptr<const Bindings> bindings_;
  std::shared_ptr<const std::vector<Path>> paths_;  // one for each action
};

}  // namespace stator::expr
