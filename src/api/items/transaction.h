#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stator/api/reply.h"
#include "stator/engine/write/item_write.h"

// Functions shared by the transactional operations.
namespace stator::api {

inline constexpr std::size_t kMaxTransactItems = 100;

// Errors: Validation, when there are none or too many.
Result<void> check_transaction_count(std::size_t items);

// Of a token: equal for equal texts only.
std::uint64_t fingerprint_of(std::string_view text);

// TransactionCanceledException with its reasons, in the order of the items.
Fault transaction_canceled(std::vector<CancellationReason> reasons);

// A transaction of so many items that was not carried out.  One that lost against others every time it was tried is
// cancelled because of them.
Fault transaction_failed(const Error& error, std::size_t items);

// The reasons in an outcome whose conditions failed; `return_item[i]` asks for the item that was found, which is taken
// out of the outcome.
std::vector<CancellationReason> condition_reasons(engine::WriteOutcome& outcome, const std::vector<bool>& return_item);

// The size of those items as JSON, in bytes.
std::size_t returned_bytes(const engine::WriteOutcome& outcome, const std::vector<bool>& return_item);

}  // namespace stator::api
