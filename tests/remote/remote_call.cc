// Calls a DynamoDB endpoint with the remote client.  remote_call ENDPOINT reads one request from each line of its input
// and writes one line with the reply:
//
//   GetItem {"TableName":"Table",...}      {"ok":{...}}, or {"fault":"name","body":{...}}
//   200 GetItem {"TableName":"Table",...}  the same 200 times at once, and one line with the number of successes
//   require-capabilities                   {"ok":{}}, or {"error":"why"}
//
// Credentials, region and trust come from the environment.  An error at the start is one line on standard error.
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <iostream>
#include <latch>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "stator/client/capabilities.h"
#include "stator/client/remote.h"
#include "stator/client/test_call.h"
#include "stator/value/json.h"

namespace {

using namespace stator;

std::string_view take_word(std::string_view& line) {
  const auto word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}

std::string json_text(std::string_view text) {
  std::string json;
  value::append_json_string(json, text);
  return json;
}

std::string printed(const api::Reply& reply) {
  if (reply.ok()) return fmt::format(R"({{"ok":{}}})", *reply.outcome);
  const auto& fault = reply.outcome.error();
  return fmt::format(R"({{"fault":{},"body":{}}})", json_text(fault.name()), fault.body());
}

std::string call_at_once(client::Client& client, int times, std::string_view operation, std::string_view json) {
  struct Count {
    explicit Count(int calls) : replies(calls) {}
    std::atomic<int> successes = 0;
    std::latch replies;
  };
  const auto count = std::make_shared<Count>(times);  // the last callback may still be at it when this returns
  for (int i = 0; i < times; ++i) {
    client.call(operation, json, [count](const api::Reply& reply) {
      if (reply.ok()) ++count->successes;
      count->replies.count_down();
    });
  }
  count->replies.wait();
  return std::to_string(count->successes);
}

std::string run(client::Client& client, std::string_view line) {
  auto word = take_word(line);
  if (word == "require-capabilities") {
    const auto required = client::require_capabilities(client);
    return required ? R"({"ok":{}})" : fmt::format(R"({{"error":{}}})", json_text(required.error().message));
  }
  if (word.find_first_not_of("0123456789") == std::string_view::npos) {
    const auto operation = take_word(line);
    return call_at_once(client, std::stoi(std::string(word)), operation, line);
  }
  return printed(client::call_and_wait(client, word, line));
}

Result<void> serve(std::string endpoint) {
  const auto options = TRY(client::RemoteOptions::from_environment(std::move(endpoint), client::process_environment()));
  const auto client = TRY(client::RemoteClient::open(options));
  for (std::string line; std::getline(std::cin, line);) std::cout << run(*client, line) << std::endl;
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: remote_call ENDPOINT\n", stderr);
    return 2;
  }
  const auto served = serve(arguments[1]);
  if (served) return 0;
  std::fprintf(stderr, "%s\n", served.error().message.c_str());
  return 2;
}
