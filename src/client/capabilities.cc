#include "stator/client/capabilities.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "stator/client/call.h"

namespace stator::client {
namespace {

constexpr std::string_view kUnknownOperation = "UnknownOperationException";

struct Probe {
  std::string_view feature;
  api::AnyRequest request;
  std::string_view objection;  // the fault that shows that the operation is there; empty: it succeeds
};

}  // namespace

Result<void> require_capabilities(Client& client) {
  std::vector<std::string> lacking;
  for (const auto& [feature, request, objection] :
       {Probe{"transactions", api::TransactWriteItemsRequest(), "ValidationException"},
        Probe{"streams", api::ListStreamsRequest{.limit = 1}, ""}}) {
    const auto operation = api::operation_name(request);
    const auto answer = run_and_wait(client, request);
    if (answer || answer.error().name() == objection) continue;
    const auto& fault = answer.error();
    if (fault.name() != kUnknownOperation) {
      return Error{ErrorCode::Usage, fmt::format("the endpoint cannot be asked whether it has {}: {} answers {}: {}",
                                                 feature, operation, fault.name(), fault.message)};
    }
    lacking.push_back(fmt::format("{} ({} answers {})", feature, operation, fault.name()));
  }
  if (lacking.empty()) return {};
  return Error{ErrorCode::Usage, fmt::format("the endpoint lacks {}", fmt::join(lacking, " and "))};
}

}  // namespace stator::client
