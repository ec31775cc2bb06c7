#include <algorithm>

#include "stator/api/page_read.h"
#include "stator/api/partiql/partiql.h"

namespace stator::api {
namespace {

Result<std::string> run_read(OperationCall& call, const BoundStatement& statement) {
  const auto& request = call.request();
  auto table = TRY(find_table(call, statement));
  const auto plan = TRY(plan_select(statement, std::move(table), request.boolean("ConsistentRead").value_or(false)));
  if (plan.key_error) return *plan.key_error;
  SelectPosition from;
  if (const auto token = request.string("NextToken")) from = TRY(read_next_token(statement, *token));
  std::optional<std::uint64_t> limit;
  if (const auto number = request.integer("Limit")) limit = static_cast<std::uint64_t>(*number);
  if (plan.filter) limit = std::min(limit.value_or(UINT64_MAX), filter_bound(*plan.filter));
  const auto snapshot = call.engine().snapshot();
  auto page = TRY(run_select(*snapshot, plan, limit, from));

  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("Items").begin_array();
  json.take_members(std::move(page.items).take_json());
  json.end_array();
  if (page.next) {
    json.key("NextToken").string(make_next_token(statement, *page.next));
    if (page.next->after) json.key("LastEvaluatedKey").item(*page.next->after);
  }
  if (const auto detail = capacity_detail(request); detail != CapacityDetail::None) {
    CapacityReport report(plan.target.table);
    report.add_table(page.table_units);
    if (plan.target.index != nullptr) report.add_index(plan.target.index->id, page.index_units);
    write_capacity(json, report.consumed(detail));
  }
  json.end_object();
  return body;
}

Result<StatementWrite> read_write(OperationCall& call, const BoundStatement& statement) {
  if (statement.is_exists()) return validation_error("EXISTS can only be used in ExecuteTransaction write requests.");
  if (const auto token = call.request().string("NextToken")) TRY(read_next_token(statement, *token));
  auto plan = TRY(plan_write(statement, TRY(find_table(call, statement))));
  if (plan.key_error) return *plan.key_error;
  return plan;
}

Result<std::string> write_answer(const WriteReturn& returned, const engine::ActionOutcome& outcome,
                                 CapacityDetail detail) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("Items").begin_array();
  if (const auto item = TRY(returned.item(outcome)); !item.empty()) json.raw(item);
  json.end_array();
  if (detail != CapacityDetail::None) {
    CapacityReport report(returned.table);
    report.add(outcome.units);
    write_capacity(json, report.consumed(detail));
  }
  json.end_object();
  return body;
}

void run_write(OperationCall call, StatementWrite plan) {
  WriteReturn returned(plan);
  const bool with_item = call.request().string("ReturnValuesOnConditionCheckFailure") == "ALL_OLD";
  const auto detail = capacity_detail(call.request());
  engine::WriteRequest request;
  request.memory = call.write_memory();
  request.actions.push_back(std::move(plan.action));
  auto& engine = call.engine();
  engine.write(std::move(request), [call = std::move(call), returned = std::move(returned), with_item,
                                    detail](Result<engine::WriteOutcome> outcome) mutable {
    if (!outcome) return call.fail(outcome.error());
    auto& action = outcome->actions[0];
    if (action.error) return call.fail(*action.error);
    if (!outcome->written) return call.fail(returned.failure(action, with_item));
    auto body = write_answer(returned, action, detail);
    if (!body) return call.fail(body.error());
    call.succeed(std::move(*body));
  });
}

}  // namespace

void execute_statement(OperationCall call) {
  auto parameters = BoundStatement::read_parameters(call.request());
  if (!parameters) return call.fail(parameters.error());
  const auto statement = BoundStatement::from(call.request(), std::move(*parameters));
  if (!statement) return call.fail(statement.error());
  if ((*statement)->statement().is_read()) {
    auto body = run_read(call, **statement);
    if (!body) return call.fail(body.error());
    return call.succeed(std::move(*body));
  }
  auto plan = read_write(call, **statement);
  if (!plan) return call.fail(plan.error());
  run_write(std::move(call), std::move(*plan));
}

}  // namespace stator::api
