#include <algorithm>

#include "stator/api/functions.h"
#include "stator/api/items/capacity_report.h"
#include "stator/api/items/page_read.h"
#include "stator/api/partiql/partiql.h"

namespace stator::api {
namespace {

Result<ExecuteStatementAnswer> run_read(CallContext& call, const ExecuteStatementRequest& request,
                                        const BoundStatement& statement) {
  const auto epoch = call.engine().epoch();
  auto table = TRY(find_table(call, statement));
  const auto plan = TRY(plan_select(statement, std::move(table), request.consistent));
  if (plan.key_error) return *plan.key_error;
  SelectPosition from;
  if (request.next_token) from = TRY(read_next_token(statement, *request.next_token));
  std::optional<std::uint64_t> limit;
  if (request.limit) limit = static_cast<std::uint64_t>(*request.limit);
  if (plan.filter) limit = std::min(limit.value_or(UINT64_MAX), filter_bound(*plan.filter));
  const auto snapshot = TRY(call.engine().snapshot_in(epoch));
  AnswerGrowth growth(call);
  auto page = TRY(run_select(*snapshot, plan, limit, from, &growth));

  ExecuteStatementAnswer answer{.items = std::move(page.items)};
  if (page.next) {
    answer.next_token = make_next_token(statement, *page.next);
    answer.last_key = std::move(page.next->after);
  }
  if (request.capacity != CapacityDetail::None) {
    CapacityReport report(plan.target.table);
    report.add_table(page.table_units);
    if (plan.target.index != nullptr) report.add_index(plan.target.index->id, page.index_units);
    answer.capacity = report.consumed(request.capacity);
  }
  return answer;
}

Result<StatementWrite> read_write(CallContext& call, const ExecuteStatementRequest& request,
                                  const BoundStatement& statement) {
  if (statement.is_exists()) return validation_error("EXISTS can only be used in ExecuteTransaction write requests.");
  if (request.next_token) TRY(read_next_token(statement, *request.next_token));
  auto plan = TRY(plan_write(statement, TRY(find_table(call, statement))));
  if (plan.key_error) return *plan.key_error;
  return plan;
}

Result<ExecuteStatementAnswer> write_answer(const WriteReturn& returned, engine::ActionOutcome& outcome,
                                            CapacityDetail detail) {
  ExecuteStatementAnswer answer;
  if (const auto item = TRY(returned.item(outcome))) answer.items.add(*item);
  if (detail != CapacityDetail::None) {
    CapacityReport report(returned.table);
    report.add(outcome.units);
    answer.capacity = report.consumed(detail);
  }
  return answer;
}

void run_statement_write(CallContext call, const ExecuteStatementRequest& request, StatementWrite plan,
                         Done<ExecuteStatementAnswer> done) {
  WriteReturn returned(plan);
  engine::WriteRequest write;
  write.memory = call.write_memory();
  write.actions.push_back(std::move(plan.action));
  auto& engine = call.engine();
  engine.write(std::move(write), [call = std::move(call), returned = std::move(returned), done = std::move(done),
                                  with_item = request.return_item_on_failure,
                                  detail = request.capacity](Result<engine::WriteOutcome> outcome) mutable {
    if (!outcome) return done(call, to_fault(outcome.error()));
    auto& action = outcome->actions[0];
    if (action.error) return done(call, to_fault(*action.error));
    if (!outcome->written) return done(call, returned.failure(action, with_item));
    auto answer = write_answer(returned, action, detail);
    if (!answer) return done(call, to_fault(answer.error()));
    done(call, std::move(*answer));
  });
}

}  // namespace

void run(CallContext call, ExecuteStatementRequest request, Done<ExecuteStatementAnswer> done) {
  const auto statement = BoundStatement::from(request.statement, std::move(request.parameters));
  if (!statement) return done(call, to_fault(statement.error()));
  if ((*statement)->statement().is_read()) {
    auto answer = run_read(call, request, **statement);
    if (!answer) return done(call, to_fault(answer.error()));
    return done(call, std::move(*answer));
  }
  auto plan = read_write(call, request, **statement);
  if (!plan) return done(call, to_fault(plan.error()));
  run_statement_write(std::move(call), request, std::move(*plan), std::move(done));
}

}  // namespace stator::api
