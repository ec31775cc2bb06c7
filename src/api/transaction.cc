#include "stator/api/transaction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stator::api {

Fault transaction_canceled(const std::vector<CancellationReason>& reasons) {
  std::vector<std::string_view> codes;
  std::string members = ",\"CancellationReasons\":";
  value::JsonWriter json(members);
  json.begin_array();
  for (const auto& reason : reasons) {
    codes.push_back(reason.code);
    json.begin_object().key("Code").string(reason.code);
    if (!reason.message.empty()) json.key("Message").string(reason.message);
    if (!reason.item.empty()) json.key("Item").raw(reason.item);
    json.end_object();
  }
  json.end_array();
  return {.type = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
          .message = fmt::format("Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
                                 fmt::join(codes, ", ")),
          .members = std::move(members),
          .server_side = false};
}

std::vector<CancellationReason> condition_reasons(const engine::WriteOutcome& outcome,
                                                  const std::vector<bool>& return_item) {
  std::vector<CancellationReason> reasons;
  for (std::size_t i = 0; i < outcome.actions.size(); ++i) {
    const auto& action = outcome.actions[i];
    auto& reason = reasons.emplace_back();
    if (action.error) {
      reason.code = "ValidationError";
      reason.message = action.error->message;
    } else if (action.condition_failed) {
      reason.code = "ConditionalCheckFailed";
      reason.message = "The conditional request failed";
      if (return_item[i] && action.before.exists()) reason.item = std::string(action.before.stored().json());
    }
  }
  return reasons;
}

std::size_t returned_bytes(const engine::WriteOutcome& outcome, const std::vector<bool>& return_item) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < outcome.actions.size(); ++i) {
    const auto& action = outcome.actions[i];
    if (return_item[i] && action.condition_failed && action.before.exists())
      bytes += action.before.stored().json().size();
  }
  return bytes;
}

}  // namespace stator::api
