#include <unordered_set>

#include "stator/api/capacity_report.h"
#include "stator/api/expressions.h"
#include "stator/api/table_name.h"
#include "stator/api/transaction.h"
#include "stator/engine/capacity.h"
#include "stator/engine/item_rules.h"
#include "stator/engine/keyspace.h"

namespace stator::api {
namespace {

struct TransactGet {
  std::string_view table_name;
  engine::TablePtr table;
  value::Item key;
  std::optional<expr::Projection> projection;
};

Result<TransactGet> read_get(OperationCall& call, const Request& item) {
  const auto body = item.object("Get");
  if (!body) return validation_error("Invalid Request: TransactGetRequest should contain Get request");
  TransactGet get;
  get.table_name = body->string("TableName").value_or("");
  get.key = TRY(value::decode_item(*body->element("Key")));
  TRY(check_expression_parameters(*body, {.expressions = {"ProjectionExpression"}, .legacy = {}}));
  if (const auto text = body->string("ProjectionExpression")) {
    auto binder = TRY(read_placeholders(*body, call.expressions()));
    get.projection = TRY(binder.projection(*text));
    TRY(binder.check_all_used());
  }
  return get;
}

void run(OperationCall& call, Result<std::string>& answer, std::optional<Fault>& canceled) {
  const auto attempt = [&]() -> Result<std::string> {
    std::vector<TransactGet> gets;
    for (const auto& item : call.request().objects("TransactItems")) gets.push_back(TRY(read_get(call, item)));
    std::vector<CancellationReason> reasons(gets.size());
    std::unordered_set<engine::KeyBytes> seen;
    for (std::size_t i = 0; i < gets.size(); ++i) {
      auto& get = gets[i];
      get.table = TRY(find_table(call, get.table_name));
      if (const auto checked = engine::check_key(*get.table, get.key); !checked) {
        reasons[i] = {.code = "ValidationError", .message = checked.error().message, .item = {}};
        canceled.emplace();
        continue;
      }
      if (!seen.insert(engine::item_key(*get.table, get.key)).second) {
        return validation_error("Transaction request cannot include multiple operations on one item");
      }
    }
    if (canceled) {
      canceled = transaction_canceled(reasons);
      return std::string();
    }

    // One snapshot: all of the items as they were at one moment.
    const auto snapshot = call.engine().snapshot();
    std::string body;
    value::JsonWriter json(body);
    CapacityReports reports(CapacityKind::TransactionalRead);
    std::size_t bytes = 0, read_bytes = 0;
    json.begin_object().key("Responses").begin_array();
    for (const auto& get : gets) {
      const auto image = TRY(engine::ItemImage::from_bytes(TRY(snapshot->get(engine::item_key(*get.table, get.key)))));
      bytes += image.size_bytes();
      if (bytes > kMaxTransactBytes) {
        return validation_error("Aggregate item size cannot exceed 4194304 bytes in a transaction");
      }
      read_bytes += image.exists() ? image.stored().json().size() : 0;
      TRY(call.answer_grows(get.projection ? body.size() : read_bytes, read_bytes));
      json.begin_object();
      if (image.exists()) {
        json.key("Item");
        if (get.projection) {
          json.item(get.projection->apply(*TRY(image.item())));
        } else {
          json.raw(image.stored().json());
        }
      }
      json.end_object();
      reports.of(get.table).add_table(engine::read_units(image.size_bytes(), true));
    }
    json.end_array();
    reports.write(json, capacity_detail(call.request()));
    json.end_object();
    return body;
  };
  answer = attempt();
}

}  // namespace

void transact_get_items(OperationCall call) {
  Result<std::string> answer = std::string();
  std::optional<Fault> canceled;
  run(call, answer, canceled);
  if (!answer) return call.fail(answer.error());
  if (canceled) return call.fail(std::move(*canceled));
  call.succeed(std::move(*answer));
}

}  // namespace stator::api
