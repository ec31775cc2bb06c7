#include "stator/client/capabilities.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "stator/client/call.h"

namespace stator::client {
namespace {

constexpr std::string_view kUnknownOperation = "UnknownOperationException";

struct Probe {
  std::string_view feature, operation, json;
  std::string_view objection;  // the fault that shows that the operation is there; empty: it succeeds
};

constexpr std::array kProbes = {
    Probe{"transactions", "TransactWriteItems", R"({"TransactItems":[]})", "ValidationException"},
    Probe{"streams", "ListStreams", R"({"Limit":1})", ""},
};

}  // namespace

Result<void> require_capabilities(Client& client) {
  std::vector<std::string> lacking;
  for (const auto& probe : kProbes) {
    const auto reply = call_and_wait(client, probe.operation, probe.json);
    const auto* fault = std::get_if<api::Fault>(&reply.outcome);
    if (fault == nullptr || fault->name() == probe.objection) continue;
    if (fault->name() != kUnknownOperation) {
      return Error{ErrorCode::Usage, fmt::format("the endpoint cannot be asked whether it has {}: {} answers {}: {}",
                                                 probe.feature, probe.operation, fault->name(), fault->message)};
    }
    lacking.push_back(fmt::format("{} ({} answers {})", probe.feature, probe.operation, fault->name()));
  }
  if (lacking.empty()) return {};
  return Error{ErrorCode::Usage, fmt::format("the endpoint lacks {}", fmt::join(lacking, " and "))};
}

}  // namespace stator::client
