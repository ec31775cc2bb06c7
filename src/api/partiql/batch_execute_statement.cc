#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "stator/api/functions.h"
#include "stator/api/items/capacity_report.h"
#include "stator/api/json/statement_fields.h"
#include "stator/api/partiql/partiql.h"

namespace stator::api {
namespace {

// The outcome of one statement.
struct BatchMember {
  std::optional<Fault> fault;
  engine::TablePtr table;  // none when the statement never got to its table
  std::optional<AnswerItem> item;
  double read_units = 0;
  std::optional<engine::WriteUnits> write_units;
};

// "ConditionalCheckFailedException" is told as "ConditionalCheckFailed", and so on.
std::string code_of(const Fault& fault) {
  if (fault.name() == "ValidationException") return "ValidationError";
  if (fault.server_side) return "InternalServerError";
  auto name = std::string(fault.name());
  static constexpr std::string_view kSuffix = "Exception";
  if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  return name;
}

BatchExecuteStatementAnswer answer_of(std::vector<BatchMember>&& members, CapacityDetail detail) {
  BatchExecuteStatementAnswer answer;
  CapacityReports reports;
  for (auto& member : members) {
    auto& response = answer.responses.emplace_back();
    if (member.fault) {
      response.error = {.code = code_of(*member.fault),
                        .message = std::move(member.fault->message),
                        .item = std::move(member.fault->item)};
    }
    response.item = std::move(member.item);
    if (member.table == nullptr) continue;
    response.table = member.table->name;
    auto& report = reports.of(member.table);
    report.add_table(member.read_units);
    if (member.write_units) report.add(*member.write_units);
  }
  if (detail != CapacityDetail::None) answer.capacity = reports.consumed(detail);
  return answer;
}

Result<std::unique_ptr<BoundStatement>> read_statement(StatementRequest& request) {
  if (request.error) return std::move(*request.error);
  auto statement = TRY(BoundStatement::from(request.statement, std::move(request.parameters)));
  if (statement->is_exists()) return validation_error("EXISTS can only be used in ExecuteTransaction write requests.");
  return statement;
}

Result<void> read_item(CallContext& call, const BoundStatement& statement, bool consistent, BatchMember& member) {
  const auto epoch = call.engine().epoch();
  const auto plan = TRY(plan_select(statement, TRY(find_table(call, statement)), consistent));
  if (!plan.key) {
    return validation_error(
        "Select statements within BatchExecuteStatement must specify the primary key in the where clause.");
  }
  if (plan.key_error) return *plan.key_error;
  member.table = plan.target.table;
  auto page = TRY(run_select(*TRY(call.engine().snapshot_in(epoch)), plan, {}, {}));
  member.read_units = page.table_units;
  member.item = std::move(page.items).take_only();
  return {};
}

// Writes under way.  Each has a slot of its own; the last to finish answers.
struct Writes {
  void finish_one() {
    if (open.fetch_sub(1, std::memory_order_acq_rel) == 1) done(call, answer_of(std::move(members), detail));
  }

  CallContext call;
  std::vector<BatchMember> members;
  CapacityDetail detail;
  Done<BatchExecuteStatementAnswer> done;
  std::atomic<std::size_t> open{1};  // one for the thread that starts them
};

void start_write(const std::shared_ptr<Writes>& writes, std::size_t i, StatementWrite plan, bool with_item) {
  WriteReturn returned(plan);
  engine::WriteRequest request;
  request.memory = writes->call.write_memory();
  request.actions.push_back(std::move(plan.action));
  writes->open.fetch_add(1, std::memory_order_relaxed);
  writes->call.engine().write(
      std::move(request), [writes, i, returned = std::move(returned), with_item](Result<engine::WriteOutcome> outcome) {
        auto& member = writes->members[i];
        member.table = returned.table;
        if (!outcome) {
          member.fault = to_fault(outcome.error());
        } else if (auto& action = outcome->actions[0]; action.error) {
          member.fault = to_fault(*action.error);
        } else {
          member.write_units = action.units;
          if (!outcome->written) {
            member.fault = returned.failure(action, with_item);
          } else if (auto item = returned.item(action)) {
            member.item = std::move(*item);
          } else {
            member.fault = to_fault(item.error());
          }
        }
        writes->finish_one();
      });
}

// The statements in the order of the request; null: it could not be read, and its member has the fault.
using Statements = std::vector<std::unique_ptr<BoundStatement>>;

// Errors: Busy; Outdated, after which all are read again.  What else is wrong with one statement is its member's.
Result<void> run_reads(CallContext& call, const BatchExecuteStatementRequest& request, const Statements& statements,
                       std::vector<BatchMember>& members) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (statements[i] == nullptr) continue;
    const bool consistent = request.statements[i].consistent.value_or(false);
    if (auto read = read_item(call, *statements[i], consistent, members[i]); !read) {
      if (read.error().code == ErrorCode::Outdated) return std::move(read).error();
      members[i].fault = to_fault(read.error());
    }
    if (members[i].item) bytes += members[i].item->bytes();
    TRY(call.answer_grows(bytes));
  }
  return {};
}

void run_writes(CallContext call, const BatchExecuteStatementRequest& request, const Statements& statements,
                std::vector<BatchMember> members, Done<BatchExecuteStatementAnswer> done) {
  const std::shared_ptr<Writes> shared(
      new Writes{std::move(call), std::move(members), request.capacity, std::move(done)});
  const auto plan_one = [&](const BoundStatement& statement) -> Result<StatementWrite> {
    auto plan = TRY(plan_write(statement, TRY(find_table(shared->call, statement))));
    if (plan.key_error) return *plan.key_error;
    return plan;
  };
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (statements[i] == nullptr) continue;
    auto plan = plan_one(*statements[i]);
    if (plan) {
      start_write(shared, i, std::move(*plan), request.statements[i].return_item_on_failure);
    } else {
      shared->members[i].fault = to_fault(plan.error());
    }
  }
  shared->finish_one();
}

}  // namespace

Result<BatchExecuteStatementRequest> decode(As<BatchExecuteStatementRequest>, const JsonMembers& json,
                                            expr::Cache& /*cache*/) {
  BatchExecuteStatementRequest request{.statements = {}, .capacity = capacity_detail(json)};
  for (const auto& object : json.objects("Statements")) {
    auto& statement = request.statements.emplace_back();
    if (const auto read = read_fields(object, statement); !read) statement.error = read.error();
  }
  return request;
}

void run(CallContext call, BatchExecuteStatementRequest request, Done<BatchExecuteStatementAnswer> done) {
  const auto count = request.statements.size();
  std::vector<BatchMember> members(count);
  Statements statements(count);
  bool reads = false, writes = false;
  for (std::size_t i = 0; i < count; ++i) {
    auto statement = read_statement(request.statements[i]);
    if (!statement) {
      members[i].fault = to_fault(statement.error());
      continue;
    }
    statements[i] = std::move(*statement);
    (statements[i]->statement().is_read() ? reads : writes) = true;
  }
  if (reads && writes) {
    return done(
        call,
        to_fault(validation_error("The batch must consist of either read statements or write statements, not both.")));
  }
  if (writes) return run_writes(std::move(call), request, statements, std::move(members), std::move(done));
  if (const auto read = run_reads(call, request, statements, members); !read) {
    return done(call, to_fault(read.error()));
  }
  done(call, answer_of(std::move(members), request.capacity));
}

}  // namespace stator::api
