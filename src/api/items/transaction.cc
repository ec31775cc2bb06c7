#include "stator/api/items/transaction.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

namespace stator::api {

std::uint64_t fingerprint_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

Fault transaction_canceled(std::vector<CancellationReason> reasons) {
  std::vector<std::string_view> codes;
  for (const auto& reason : reasons) codes.push_back(reason.code);
  auto fault =
      dynamodb_fault("TransactionCanceledException",
                     fmt::format("Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
                                 fmt::join(codes, ", ")));
  fault.reasons = std::move(reasons);
  return fault;
}

Fault transaction_failed(const Error& error, std::size_t items) {
  if (error.code != ErrorCode::Conflict) return to_fault(error);
  const CancellationReason conflict{.code = "TransactionConflict", .message = "Transaction is ongoing for the item"};
  return transaction_canceled(std::vector<CancellationReason>(items, conflict));
}

std::vector<CancellationReason> condition_reasons(engine::WriteOutcome& outcome, const std::vector<bool>& return_item) {
  std::vector<CancellationReason> reasons;
  for (std::size_t i = 0; i < outcome.actions.size(); ++i) {
    auto& action = outcome.actions[i];
    auto& reason = reasons.emplace_back();
    if (action.error) {
      reason.code = "ValidationError";
      reason.message = action.error->message;
    } else if (action.condition_failed) {
      reason.code = "ConditionalCheckFailed";
      reason.message = "The conditional request failed";
      if (return_item[i] && action.before.exists()) reason.item = AnswerItem(std::move(action.before).take());
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
