#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/base/result.h"
#include "stator/expr/condition.h"
#include "stator/expr/partiql/statement.h"
#include "stator/expr/update.h"

namespace stator::expr::partiql {

// A statement with the values of its parameters, and its parts in the form in which the engine takes them.
//
// Every error is Validation with DynamoDB's text, as far as it is known.  Borrows the statement; its results do not.
// Confined to one request.
class Binding {
 public:
  // Errors: "Number of parameters in request and statement don't match."
  static Result<Binding> make(const Statement& statement, std::vector<value::AttributeValue> parameters);

  const Statement& statement() const { return *statement_; }
  const Node& node(NodeIndex index) const { return statement_->node(index); }

  // Whether the expression has the same value for every item: a literal, a parameter or a collection.
  bool is_constant(NodeIndex index) const;
  Result<value::AttributeValue> constant(NodeIndex index) const;

  // A WHERE, alone or together with the statement's condition on the existence of the item; `key_attribute` is the
  // first attribute of its key. An UPDATE requires the item, a DELETE does not.
  enum class Existence : std::uint8_t { Any, Required, Optional };
  Result<Condition> where(NodeIndex root, Existence existence = Existence::Any,
                          std::string_view key_attribute = {}) const;
  // No item with that attribute, as an INSERT wants it.
  static Condition absent(std::string_view key_attribute);
  static Condition present(std::string_view key_attribute);

  Result<value::Item> item(const Insert& insert) const;
  Result<expr::Update> update(const Update& update) const;

  // "message at line:column:length"
  Error error_at(std::string_view message, Span span) const;

 private:
  Binding(const Statement& statement, std::vector<value::AttributeValue> parameters)
      : statement_(&statement), parameters_(std::move(parameters)) {}

  class ConditionBuilder;
  class UpdateBuilder;
  Result<value::AttributeValue> convert(NodeIndex index, std::string& under, std::size_t depth, bool parameters) const;
  Result<value::AttributeValue> convert_set(const Node& set, std::string& under) const;

  const Statement* statement_;
  std::vector<value::AttributeValue> parameters_;
};

}  // namespace stator::expr::partiql
