#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "stator/api/functions.h"
#include "stator/api/items/capacity_report.h"
#include "stator/api/items/transaction.h"
#include "stator/api/json/statement_fields.h"
#include "stator/api/partiql/partiql.h"
#include "stator/engine/item_rules.h"
#include "stator/engine/keyspace.h"
#include "stator/value/item_size.h"

namespace stator::api {
namespace {

// One statement of the transaction, planned, and why the transaction is cancelled if that is its fault.
struct TransactMember {
  std::unique_ptr<BoundStatement> statement;
  std::optional<SelectPlan> read;
  std::optional<StatementWrite> write;
  bool return_item = false;
  CancellationReason reason;

  bool is_cancelled() const { return reason.code != "None"; }
  const engine::TablePtr& table() const { return read ? read->target.table : write->action.table; }
  const value::Item& item() const { return read ? *read->key : write->action.item; }
};

std::string key_reason(const TransactMember& member) {
  const bool is_insert = member.write && member.write->is_insert;
  const auto checked = is_insert ? engine::check_item(*member.table(), member.item())
                                 : engine::check_key(*member.table(), member.item());
  return checked ? "The provided key element does not match the schema" : checked.error().message;
}

// Errors end the request; what only one statement is to blame for goes into its reason.
Result<void> plan_member(CallContext& call, TransactMember& member) {
  auto table = find_table(call, *member.statement);
  if (!table) {
    if (table.error().code != ErrorCode::ResourceNotFound) return table.error();
    member.reason = {.code = "ResourceNotFound", .message = table.error().message};
    return {};
  }
  const auto& statement = member.statement->statement();
  if (statement.returning() != expr::partiql::Returning::Nothing) {
    return validation_error("RETURNING clause is not supported in ExecuteTransaction.");
  }
  std::optional<Error> key_error;
  if (statement.is_read()) {
    if (!statement.source().index.empty()) {
      return validation_error("Reads on indices are not supported within transactions.");
    }
    member.read = TRY(plan_select(*member.statement, std::move(*table), true));
    if (!member.read->key) {
      return validation_error(
          "Select statements within ExecuteTransaction must specify the primary key in the where clause.");
    }
    key_error = member.read->key_error;
  } else {
    member.write = TRY(plan_write(*member.statement, std::move(*table)));
    key_error = member.write->key_error;
  }
  if (key_error) member.reason = {.code = "ValidationError", .message = key_reason(member)};
  return {};
}

// The statements in order, all read or all written.
Result<std::vector<TransactMember>> read_members(CallContext& call, std::vector<StatementRequest>& statements) {
  std::vector<TransactMember> members;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const auto in_member = [&](const Error& error) {
      return Error{error.code, fmt::format("Validation failed in TransactStatements[{}]: {}", i, error.message)};
    };
    auto& member = members.emplace_back();
    auto statement = BoundStatement::from(statements[i].statement, std::move(statements[i].parameters));
    if (!statement) return in_member(statement.error());
    member.statement = std::move(*statement);
    member.return_item = statements[i].return_item_on_failure;
    if (auto planned = plan_member(call, member); !planned) return in_member(planned.error());
  }
  const auto is_read = [](const TransactMember& member) { return member.statement->statement().is_read(); };
  if (std::ranges::any_of(members, is_read) && !std::ranges::all_of(members, is_read)) {
    return validation_error("The transaction must consist of either read statements or write statements, not both.");
  }
  return members;
}

Result<void> check_together(const std::vector<TransactMember>& members) {
  std::unordered_set<engine::KeyBytes> seen;
  std::size_t bytes = 0;
  for (const auto& member : members) {
    if (!seen.insert(engine::item_key(*member.table(), member.item())).second) {
      return validation_error("Transaction request cannot include multiple operations on one item");
    }
    bytes += value::item_size_bytes(member.item());
  }
  return engine::check_transaction_size(bytes);
}

// `epoch`: in which the tables of the members were found.
Result<ExecuteTransactionAnswer> run_reads(CallContext& call, const std::vector<TransactMember>& members,
                                           CapacityDetail detail, storage::CommitSequence epoch) {
  // One snapshot: all of the items as they were at one moment.
  const auto snapshot = TRY(call.engine().snapshot_in(epoch));
  CapacityReports reports(CapacityKind::TransactionalRead);
  ExecuteTransactionAnswer answer;
  std::size_t read_bytes = 0, body_bytes = 0;
  for (const auto& member : members) {
    auto page = TRY(run_select(*snapshot, *member.read, {}, {}));
    read_bytes += page.read_bytes;
    TRY(engine::check_transaction_size(read_bytes));
    auto& response = answer.responses.emplace_back();
    response.item = std::move(page.items).take_only();
    reports.of(member.table()).add_table(page.table_units);
    if (response.item) body_bytes += response.item->bytes();
    TRY(call.answer_grows(body_bytes, read_bytes));
  }
  answer.capacity = reports.consumed(detail);
  return answer;
}

std::vector<CancellationReason> reasons_of(engine::WriteOutcome& outcome, const std::vector<bool>& return_item,
                                           const std::vector<bool>& is_insert) {
  auto reasons = condition_reasons(outcome, return_item);
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    if (!is_insert[i] || reasons[i].code != "ConditionalCheckFailed") continue;
    reasons[i] = {.code = "DuplicateItem", .message = "Duplicate primary key exists in table"};
  }
  return reasons;
}

ExecuteTransactionAnswer transaction_answer(const std::vector<engine::TablePtr>& tables,
                                            const engine::WriteOutcome& outcome, CapacityDetail detail) {
  CapacityReports reports(outcome.repeated ? CapacityKind::TransactionalRead : CapacityKind::TransactionalWrite);
  for (std::size_t i = 0; i < tables.size(); ++i) reports.of(tables[i]).add(outcome.actions[i].units);
  return {.responses = std::vector<StatementAnswer>(tables.size()), .capacity = reports.consumed(detail)};
}

void run_writes(CallContext call, const ExecuteTransactionRequest& request, std::vector<TransactMember> members,
                Done<ExecuteTransactionAnswer> done) {
  engine::WriteRequest writes;
  writes.memory = call.write_memory();
  if (request.token) writes.token = engine::RequestToken{request.token->text, *request.token->fingerprint};
  std::vector<engine::TablePtr> tables;
  std::vector<bool> return_item, is_insert;
  for (auto& member : members) {
    tables.push_back(member.table());
    return_item.push_back(member.return_item);
    is_insert.push_back(member.write->is_insert);
    writes.actions.push_back(std::move(member.write->action));
  }
  auto& engine = call.engine();
  engine.write(std::move(writes),
               [call = std::move(call), tables = std::move(tables), return_item = std::move(return_item),
                is_insert = std::move(is_insert), done = std::move(done),
                detail = request.capacity](Result<engine::WriteOutcome> outcome) mutable {
                 if (!outcome) return done(call, transaction_failed(outcome.error(), return_item.size()));
                 if (!outcome->written) {
                   const auto room = call.hold_answer(3 * returned_bytes(*outcome, return_item));
                   if (!room) return done(call, to_fault(room.error()));
                   return done(call, transaction_canceled(reasons_of(*outcome, return_item, is_insert)));
                 }
                 done(call, transaction_answer(tables, *outcome, detail));
               });
}

}  // namespace

Result<ExecuteTransactionRequest> decode(As<ExecuteTransactionRequest>, const JsonMembers& json,
                                         expr::Cache& /*cache*/) {
  ExecuteTransactionRequest request;
  TRY(read_fields(json, request));
  if (request.token) request.token->fingerprint = fingerprint_of(*json.text("TransactStatements"));
  return request;
}

void run(CallContext call, ExecuteTransactionRequest request, Done<ExecuteTransactionAnswer> done) {
  if (request.token && !request.token->fingerprint) {  // before the parameters are taken
    request.token->fingerprint = fingerprint_of(fields_to_json(request.statements));
  }
  const auto epoch = call.engine().epoch();
  auto members = read_members(call, request.statements);
  if (!members) return done(call, to_fault(members.error()));
  if (std::ranges::any_of(*members, &TransactMember::is_cancelled)) {
    std::vector<CancellationReason> reasons;
    for (auto& member : *members) reasons.push_back(std::move(member.reason));
    return done(call, transaction_canceled(std::move(reasons)));
  }
  if (auto checked = check_together(*members); !checked) return done(call, to_fault(checked.error()));
  if (!members->front().statement->statement().is_read()) {
    return run_writes(std::move(call), request, std::move(*members), std::move(done));
  }
  auto answer = run_reads(call, *members, request.capacity, epoch);
  if (!answer) return done(call, to_fault(answer.error()));
  done(call, std::move(*answer));
}

}  // namespace stator::api
