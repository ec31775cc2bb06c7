#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>

#include "stator/api/expressions.h"
#include "stator/api/transaction_write.h"

namespace stator::api {
namespace {

using engine::WriteAction;

constexpr std::array<std::pair<std::string_view, WriteAction::Kind>, 4> kKinds = {{
    {"ConditionCheck", WriteAction::Kind::Check},
    {"Put", WriteAction::Kind::Put},
    {"Delete", WriteAction::Kind::Delete},
    {"Update", WriteAction::Kind::Update},
}};

Result<TransactItem> read_item(OperationCall& call, const Request& request) {
  TransactItem item;
  std::optional<Request> body;
  for (const auto& [name, kind] : kKinds) {
    const auto found = request.object(name);
    if (!found) continue;
    if (body) return validation_error("TransactItems can only contain one of Check, Put, Update or Delete");
    body = found;
    item.action.kind = kind;
  }
  if (!body)
    return validation_error("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request");
  item.table_name = body->string("TableName").value_or("");
  item.return_item = body->string("ReturnValuesOnConditionCheckFailure") == "ALL_OLD";
  const bool is_put = item.action.kind == WriteAction::Kind::Put;
  item.action.item = TRY(value::decode_item(*body->element(is_put ? "Item" : "Key")));
  TRY(check_expression_parameters(
      *body, item.action.kind == WriteAction::Kind::Update
                 ? ExpressionParameters{.expressions = {"UpdateExpression", "ConditionExpression"}, .legacy = {}}
                 : ExpressionParameters{.expressions = {"ConditionExpression"}, .legacy = {}}));
  TRY(bind_expressions(call, *body, item.action));
  return item;
}

}  // namespace

void transact_write_items(OperationCall call) {
  std::vector<TransactItem> items;
  for (const auto& request : call.request().objects("TransactItems")) {
    auto item = read_item(call, request);
    if (!item) return call.fail(item.error());
    items.push_back(std::move(*item));
  }
  std::optional<engine::RequestToken> token;
  if (const auto text = call.request().string("ClientRequestToken")) {
    const auto asked = value::json_text(*call.request().element("TransactItems"));
    token = engine::RequestToken{std::string(*text), XXH3_64bits(asked.data(), asked.size())};
  }
  const auto options = WriteAnswer::from(call.request());
  run_transaction(std::move(call), std::move(items), options, std::move(token));
}

}  // namespace stator::api
