#include "stator/console/elsewhere.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <utility>

#include "stator/client/remote.h"
#include "stator/console/answers.h"
#include "stator/value/json.h"

namespace stator::console {
namespace {

constexpr std::array<std::string_view, 4> kReads = {"DescribeTable", "DescribeTimeToLive", "ListTables", "Scan"};
constexpr std::string_view kForm =
    "Send {\"endpoint\": \"http://...\", \"region\": \"...\", \"accessKeyId\": \"...\", \"secretAccessKey\": \"...\", "
    "\"request\": {...}}.";

struct Question {
  client::RemoteOptions options;
  std::string request;
};

std::optional<Question> read_question(std::string_view body) {
  value::JsonParser parser;
  const auto json = parser.parse(body);
  if (!json || !json->is_object()) return std::nullopt;
  const auto object = json->object();
  const auto text = [&](std::string_view name) -> std::string {
    const auto found = object.get<std::string_view>(name);
    return found ? std::string(*found) : std::string();
  };
  const auto request = object.get<value::JsonElement>("request");
  if (!request || !request->is_object()) return std::nullopt;
  Question question{
      .options = {.endpoint = text("endpoint"),
                  .region = text("region"),
                  .credentials = {.access_key_id = text("accessKeyId"), .secret_access_key = text("secretAccessKey")},
                  .connect_timeout = std::chrono::seconds(3),
                  .attempt_timeout = std::chrono::seconds(20),
                  .retries = {.attempts = 2}},
      .request = value::json_text(*request)};
  if (question.options.endpoint.empty()) return std::nullopt;
  if (question.options.region.empty()) question.options.region = "us-east-1";
  // An endpoint without keys still wants a signature.
  if (question.options.credentials.access_key_id.empty()) {
    question.options.credentials = {.access_key_id = "local", .secret_access_key = "local"};
  }
  return question;
}

http::Response ask(std::string_view operation, const Question& question) {
  const auto client = client::RemoteClient::open(question.options);
  if (!client) return bad_request(client.error().message);
  std::promise<api::Reply> promise;
  auto reply = promise.get_future();
  (*client)->call(operation, question.request, [&](api::Reply answer) { promise.set_value(std::move(answer)); });
  auto outcome = reply.get().outcome;
  if (outcome) {
    value::JsonParser parser;
    const auto parsed = parser.parse(*outcome);
    if (parsed && parsed->is_object()) return json_answer(std::move(*outcome));
    return refusal(502, "NetworkFailure", "The answer of the other endpoint is not JSON.");
  }
  const auto& fault = outcome.error();
  return {
      .status = fault.server_side ? 502 : 400, .content_type = "application/json", .headers = {}, .body = fault.body()};
}

}  // namespace

http::Response Elsewhere::read(const http::Request& request) {
  if (request.method != "POST") return wrong_method();
  auto operation = request.path.substr(std::min(request.path.size(), kPath.size() + 1));
  if (std::find(kReads.begin(), kReads.end(), operation) == kReads.end()) {
    return bad_request("Only DescribeTable, DescribeTimeToLive, ListTables and Scan are sent to another endpoint.");
  }
  const auto question = read_question(request.body);
  if (!question) return bad_request(kForm);
  if (under_way_.fetch_add(1) >= kAtOnce) {
    under_way_.fetch_sub(1);
    return refusal(429, "ThrottlingException", "Other reads of another endpoint are under way; try again.");
  }
  auto response = ask(operation, *question);
  under_way_.fetch_sub(1);
  return response;
}

}  // namespace stator::console
