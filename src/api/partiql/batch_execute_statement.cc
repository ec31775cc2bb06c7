#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "stator/api/partiql/partiql.h"

namespace stator::api {
namespace {

// What became of one statement.
struct BatchMember {
  std::optional<Fault> fault;
  engine::TablePtr table;  // none when the statement never got to its table
  std::string item;        // JSON; none when empty
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

void write_member(value::JsonWriter& json, const BatchMember& member) {
  json.begin_object();
  if (member.fault) {
    json.key("Error").begin_object().key("Code").string(code_of(*member.fault));
    json.key("Message").string(member.fault->message);
    if (member.fault->item) {
      json.key("Item");
      member.fault->item->write(json);
    }
    json.end_object();
  }
  if (member.table != nullptr) json.key("TableName").string(member.table->name);
  if (!member.item.empty()) json.key("Item").raw(member.item);
  json.end_object();
}

std::string answer(const std::vector<BatchMember>& members, CapacityDetail detail) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("Responses").begin_array();
  for (const auto& member : members) write_member(json, member);
  json.end_array();
  CapacityReports reports;
  for (const auto& member : members) {
    if (member.table == nullptr) continue;
    auto& report = reports.of(member.table);
    report.add_table(member.read_units);
    if (member.write_units) report.add(*member.write_units);
  }
  if (detail != CapacityDetail::None) {
    json.key("ConsumedCapacity").begin_array();
    for (const auto& consumed : reports.consumed(detail)) write_consumed(json, consumed);
    json.end_array();
  }
  json.end_object();
  return body;
}

Result<std::unique_ptr<BoundStatement>> read_statement(const Request& request) {
  auto parameters = TRY(BoundStatement::read_parameters(request));
  auto statement = TRY(BoundStatement::from(request, std::move(parameters)));
  if (statement->is_exists()) return validation_error("EXISTS can only be used in ExecuteTransaction write requests.");
  return statement;
}

Result<void> read_item(OperationCall& call, const BoundStatement& statement, bool consistent, BatchMember& member) {
  const auto plan = TRY(plan_select(statement, TRY(find_table(call, statement)), consistent));
  if (!plan.key) {
    return validation_error(
        "Select statements within BatchExecuteStatement must specify the primary key in the where clause.");
  }
  if (plan.key_error) return *plan.key_error;
  member.table = plan.target.table;
  auto page = TRY(run_select(*call.engine().snapshot(), plan, {}, {}));
  member.read_units = page.table_units;
  if (page.count > 0) member.item = std::move(page.items).take_json();
  return {};
}

// Writes under way.  Each has a slot of its own; the last to finish answers.
struct Writes {
  Writes(OperationCall the_call, std::vector<BatchMember> the_members)
      : call(std::move(the_call)), members(std::move(the_members)), detail(capacity_detail(call.request())) {}

  void finish_one() {
    if (open.fetch_sub(1, std::memory_order_acq_rel) == 1) call.succeed(answer(members, detail));
  }

  OperationCall call;
  std::vector<BatchMember> members;
  CapacityDetail detail;
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

}  // namespace

void batch_execute_statement(OperationCall call) {
  const auto requests = call.request().objects("Statements");
  std::vector<BatchMember> members(requests.size());
  std::vector<std::unique_ptr<BoundStatement>> statements(requests.size());
  bool reads = false, writes = false;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto statement = read_statement(requests[i]);
    if (!statement) {
      members[i].fault = to_fault(statement.error());
      continue;
    }
    statements[i] = std::move(*statement);
    (statements[i]->statement().is_read() ? reads : writes) = true;
  }
  if (reads && writes) {
    return call.fail(
        validation_error("The batch must consist of either read statements or write statements, not both."));
  }
  if (!writes) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (statements[i] == nullptr) continue;
      const bool consistent = requests[i].boolean("ConsistentRead").value_or(false);
      if (auto read = read_item(call, *statements[i], consistent, members[i]); !read)
        members[i].fault = to_fault(read.error());
      bytes += members[i].item.size();
      if (const auto room = call.answer_grows(bytes); !room) return call.fail(room.error());
    }
    auto body = answer(members, capacity_detail(call.request()));
    return call.succeed(std::move(body));
  }
  const auto shared = std::make_shared<Writes>(std::move(call), std::move(members));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (statements[i] == nullptr) continue;
    const auto plan_one = [&]() -> Result<StatementWrite> {
      auto plan = TRY(plan_write(*statements[i], TRY(find_table(shared->call, *statements[i]))));
      if (plan.key_error) return *plan.key_error;
      return plan;
    };
    auto plan = plan_one();
    if (!plan) {
      shared->members[i].fault = to_fault(plan.error());
      continue;
    }
    start_write(shared, i, std::move(*plan), requests[i].string("ReturnValuesOnConditionCheckFailure") == "ALL_OLD");
  }
  shared->finish_one();
}

}  // namespace stator::api
