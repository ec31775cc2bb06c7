#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/api/operation.h"
#include "stator/engine/item_write.h"

// What the transactional operations have in common.
namespace stator::api {

inline constexpr std::size_t kMaxTransactItems = 100;
inline constexpr std::size_t kMaxTransactBytes = std::size_t{4} << 20;

// Why one item of a transaction was, or was not, the reason for its cancellation.
struct CancellationReason {
  std::string_view code = "None";
  std::string message;  // none when empty
  std::string item;     // JSON; none when empty
};

// TransactionCanceledException with its reasons, in the order of the items.
Fault transaction_canceled(const std::vector<CancellationReason>& reasons);

// The reasons in an outcome whose conditions failed; `return_item[i]` asks for the item that was found.
std::vector<CancellationReason> condition_reasons(const engine::WriteOutcome& outcome,
                                                  const std::vector<bool>& return_item);

// How many bytes of JSON those items are.
std::size_t returned_bytes(const engine::WriteOutcome& outcome, const std::vector<bool>& return_item);

}  // namespace stator::api
