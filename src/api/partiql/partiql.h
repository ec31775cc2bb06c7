#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/api/functions.h"
#include "stator/api/items/capacity_report.h"
#include "stator/api/items/page_read.h"
#include "stator/engine/write/item_write.h"
#include "stator/expr/partiql/binding.h"

// PartiQL statements as the engine's reads and writes, for ExecuteStatement, BatchExecuteStatement and
// ExecuteTransaction.
namespace stator::api {

// A statement of a request with its parameters, parsed.  Stays where it is: the binding points into it.
class BoundStatement {
 public:
  using Parameters = std::vector<value::AttributeValue>;
  // Errors: Validation.
  static Result<std::unique_ptr<BoundStatement>> from(std::string_view text, std::optional<Parameters> parameters);

  const expr::partiql::Statement& statement() const { return statement_; }
  const expr::partiql::Binding& binding() const { return *binding_; }
  bool is_exists() const;
  // The same for the same statement with the same parameters.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  expr::partiql::Statement statement_;
  std::optional<expr::partiql::Binding> binding_;
  std::uint64_t fingerprint_ = 0;
};

// The table that a statement is about.  Errors: Validation, ResourceNotFound.
Result<engine::TablePtr> find_table(CallContext& call, const BoundStatement& statement);

// ---- SELECT ----

struct SelectPlan : PageRead {
  std::vector<engine::RangeRead> reads;        // one after the other; no item is in two of them
  std::optional<value::Item> key;              // instead of reads: the WHERE is this key and nothing else
  std::optional<Error> key_error;              // why it cannot be a key of the table
  std::vector<expr::partiql::Column> columns;  // none: all
};

// Equality and IN on the partition key become range reads, everything else one scan.  Errors: Validation.  The caller
// looks at the plan's key_error.
Result<SelectPlan> plan_select(const BoundStatement& statement, engine::TablePtr table, bool consistent);

// How far a page got.
struct SelectPosition {
  std::uint32_t read = 0;
  std::optional<value::Item> after;  // the key of the last item seen in it
};

struct SelectPage {
  AnswerItems items;
  std::size_t count = 0;
  std::size_t read_bytes = 0;  // DynamoDB's size of all items that were looked at
  std::optional<SelectPosition> next;
  double table_units = 0;
  double index_units = 0;
};
// `growth` is told of the items of a page; null: the caller looks at the one item of a key itself.
Result<SelectPage> run_select(const storage::Snapshot& snapshot, const SelectPlan& plan,
                              std::optional<std::uint64_t> limit, const SelectPosition& from,
                              AnswerGrowth* growth = nullptr);

// A NextToken, and back.  Errors: Validation, when it was not made here or for another statement.
std::string make_next_token(const BoundStatement& statement, const SelectPosition& position);
Result<SelectPosition> read_next_token(const BoundStatement& statement, std::string_view token);

// ---- INSERT, UPDATE, DELETE and the condition check EXISTS ----

struct StatementWrite {
  engine::WriteAction action;
  // The statement does not name one item of the table.  A transaction tells that in words of its own: item_error().
  std::optional<Error> key_error;
  expr::partiql::Returning returning = expr::partiql::Returning::Nothing;
  bool is_insert = false;
};
// Errors: Validation.  The caller looks at the plan's key_error.
Result<StatementWrite> plan_write(const BoundStatement& statement, engine::TablePtr table);

// The parts of a plan that its answer needs after the engine has taken the action.
struct WriteReturn {
  explicit WriteReturn(const StatementWrite& plan)
      : table(plan.action.table), update(plan.action.update), returning(plan.returning), is_insert(plan.is_insert) {}

  // The item that RETURNING asks for, when there is one.  Errors: Corruption.
  Result<std::optional<AnswerItem>> item(engine::ActionOutcome& outcome) const;
  // Why nothing was written.
  Fault failure(engine::ActionOutcome& outcome, bool with_item) const;

  engine::TablePtr table;
  std::optional<expr::Update> update;
  expr::partiql::Returning returning;
  bool is_insert;
};

}  // namespace stator::api
