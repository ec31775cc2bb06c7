#include "stator/client/capabilities.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "stator/client/test_call.h"
#include "stator/library/instance.h"

namespace stator::client {
namespace {

// An endpoint that answers one operation with a fault, and the others with success.
class Endpoint final : public Client {
 public:
  explicit Endpoint(std::map<std::string, std::string, std::less<>> faults) : faults_(std::move(faults)) {}

  void call(std::string_view operation, std::string_view /*json*/, api::ReplyCallback reply) override {
    const auto found = faults_.find(operation);
    if (found == faults_.end()) return reply({.outcome = "{}", .table = {}});
    reply({.outcome = api::Fault{.type = found->second, .message = "text"}, .table = {}});
  }

 private:
  std::map<std::string, std::string, std::less<>> faults_;
};

std::string verdict(std::map<std::string, std::string, std::less<>> faults) {
  Endpoint endpoint(std::move(faults));
  const auto required = require_capabilities(endpoint);
  return required ? "all there" : required.error().message;
}

TEST(Capabilities, AreThereWhenTheOperationsAre) {
  EXPECT_EQ(verdict({}), "all there");
  EXPECT_EQ(verdict({{"TransactWriteItems", "com.amazon.coral.validate#ValidationException"}}), "all there");
}

TEST(Capabilities, AreNamedWhenTheyAreMissing) {
  EXPECT_EQ(verdict({{"ListStreams", "x#UnknownOperationException"}}),
            "the endpoint lacks streams (ListStreams answers UnknownOperationException)");
  EXPECT_EQ(
      verdict({{"ListStreams", "x#UnknownOperationException"}, {"TransactWriteItems", "UnknownOperationException"}}),
      "the endpoint lacks transactions (TransactWriteItems answers UnknownOperationException) and streams "
      "(ListStreams answers UnknownOperationException)");
}

TEST(Capabilities, AreNotGuessedWhenTheEndpointCannotBeAsked) {
  EXPECT_EQ(verdict({{"TransactWriteItems", "x#UnrecognizedClientException"}}),
            "the endpoint cannot be asked whether it has transactions: TransactWriteItems answers "
            "UnrecognizedClientException: text");
  EXPECT_EQ(verdict({{"ListStreams", "ValidationException"}}),
            "the endpoint cannot be asked whether it has streams: ListStreams answers ValidationException: text");
}

TEST(Capabilities, AreAllThereInProcessAndAskingLeavesNothingBehind) {
  const auto instance =
      library::Instance::open({.data_folder = {}, .in_memory = true, .relaxed_durability = false}).value();
  InProcessClient client(instance->operations());
  const auto required = require_capabilities(client);
  EXPECT_TRUE(required) << required.error().message;
  EXPECT_EQ(*call_and_wait(client, "ListTables", "{}").outcome, R"({"TableNames":[]})");
}

}  // namespace
}  // namespace stator::client
