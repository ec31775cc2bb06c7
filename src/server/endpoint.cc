#include "stator/server/endpoint.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>

#include "stator/api/shape.h"
#include "stator/base/log.h"
#include "stator/base/log_limit.h"
#include "stator/base/random.h"
#include "stator/http/content_coding.h"
#include "stator/server/host_guard.h"

namespace stator::server {
namespace {

constexpr std::string_view kJson10 = "application/x-amz-json-1.0";
constexpr std::string_view kJson11 = "application/x-amz-json-1.1";
constexpr std::string_view kJson = "application/json";

constexpr std::size_t kCompressAbove = 4096;  // bytes of an answer, as in the service

// 52 characters of the alphabet that the service's ids are made of.
std::string request_id() {
  static constexpr char kAlphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
  thread_local Random random = Random::from_system();
  std::string id;
  id.reserve(52);
  while (id.size() < 52) {
    std::uint64_t bits = random.next();
    for (int i = 0; i < 12 && id.size() < 52; ++i, bits >>= 5) id.push_back(kAlphabet[bits & 31]);
  }
  return id;
}

// "DynamoDB_20120810.GetItem" or "DynamoDBStreams_20120810.GetRecords"; nothing when the service has no such operation.
std::string_view operation_of(std::string_view target) {
  const auto dot = target.find('.');
  if (dot == std::string_view::npos) return {};
  const auto* operation = api::find_operation(target.substr(dot + 1));
  return operation != nullptr && operation->service == target.substr(0, dot) ? operation->name : std::string_view();
}

// Instead of what is wrong with the signature: no signature would be right.
constexpr std::string_view kNoKeys =
    "This database has been used with access keys and has none now, so every request is refused. Whoever runs the "
    "server makes a "
    "key with `stator key add`, or starts it with --allow-unsigned.";

// An id is worth knowing, and the few who paste a secret in its place must not find it in a log: ids are 20 characters, secrets 40.
constexpr std::size_t kLongestIdToLog = 32;

void log_refused_signature(const http::SignatureFault& wrong) {
  static log::Limit limit(5, std::chrono::seconds(1));
  const auto left_out = limit.admit();
  if (!left_out) return;
  // What is incomplete is repeated in its message, whatever it is.
  const bool repeats_request = wrong.kind == http::SignatureFault::Kind::Incomplete;
  log::warning(
      "signature_refused",
      {{"reason", repeats_request ? "Something that a signature needs is missing or malformed" : wrong.message},
       {"key", wrong.key_id.size() <= kLongestIdToLog ? wrong.key_id : "(not an id)"},
       {"left_out", *left_out}});
}

int status_of(const api::Fault& fault) { return fault.server_side ? 500 : 400; }

std::string_view type_of(http::SignatureFault::Kind kind) {
  using Kind = http::SignatureFault::Kind;
  switch (kind) {
    case Kind::MissingToken: return "com.amazon.coral.service#MissingAuthenticationTokenException";
    case Kind::Incomplete: return "com.amazon.coral.service#IncompleteSignatureException";
    case Kind::UnknownKey: return "com.amazon.coral.service#UnrecognizedClientException";
    case Kind::Invalid: return "com.amazon.coral.service#InvalidSignatureException";
  }
  return {};
}

// What load balancers and browsers ask for without a key; it tells them nothing about the data.
bool needs_no_signature(const http::Request& request) {
  return request.method == "OPTIONS" ||
         ((request.method == "GET" || request.method == "HEAD") && (request.path == "/" || request.path == "/health"));
}

std::string answer_headers(std::string_view body, std::string_view cors) {
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return fmt::format("Server: Stator\r\nx-amzn-RequestId: {}\r\nx-amz-crc32: {}\r\n{}", request_id(), crc, cors);
}

http::Response dynamodb_response(int status, std::string_view content_type, std::string body, std::string_view cors) {
  http::Response response{.status = status, .content_type = content_type, .headers = {}, .body = std::move(body)};
  response.headers = answer_headers(response.body, cors);
  return response;
}

// The checksum is of the bytes that are sent: SDKs compare it before they decompress.
http::Response compressed(http::Response response, http::ContentCoding coding, std::string_view cors) {
  if (coding == http::ContentCoding::Identity || response.body.size() <= kCompressAbove) return response;
  response.body = http::encode_content(coding, response.body);
  response.headers = answer_headers(response.body, cors);
  response.headers += fmt::format("Content-Encoding: {}\r\n", http::name_of(coding));
  return response;
}

// What the service's front end says to what cannot be one of its operations.
http::Response no_operation(std::string_view cors) {
  return dynamodb_response(404, {}, "<UnknownOperationException/>\n", cors);
}

// The content type of the answer to a request of this one; empty when the service does not speak it.
std::string_view answer_type(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  while (content_type.ends_with(' ')) content_type.remove_suffix(1);
  for (const auto known : {kJson10, kJson11, kJson}) {
    if (http::equal_ignoring_case(content_type, known)) return known;
  }
  return {};
}

}  // namespace

DynamoDbEndpoint::DynamoDbEndpoint(library::Instance& instance, EndpointOptions options)
    : instance_(instance), options_(std::move(options)) {}

void DynamoDbEndpoint::handle(const http::Request& request, http::Responder responder) {
  if (auto answer = objection(request)) return responder.send(std::move(*answer));
  if (request.method == "POST") return call(request, std::move(responder));
  if (request.method == "OPTIONS") return responder.send(preflight(request));
  auto cors = cors_headers(request.header("Origin"));
  if (request.method != "GET" && request.method != "HEAD") return responder.send(no_operation(cors));
  auto answer = page(request);
  answer.headers += cors;
  responder.send(std::move(answer));
}

http::Response DynamoDbEndpoint::page(const http::Request& request) const {
  if (request.path == "/health") return health();
  if (request.path == "/metrics") return metrics();
  const auto text = [](int status, std::string body) {
    return http::Response{.status = status, .content_type = "text/plain", .headers = {}, .body = std::move(body)};
  };
  return request.path == "/" ? text(200, fmt::format("healthy: {} ", request.header("Host")))
                             : text(404, "Not found\n");
}

std::optional<http::Response> DynamoDbEndpoint::objection(const http::Request& request) {
  const auto* signatures = options_.signatures;
  if (signatures == nullptr || !signatures->required()) {
    if (options_.hosts == nullptr) return std::nullopt;
    auto wrong = options_.hosts->objection(request);
    if (!wrong || request.path == "/health") return std::nullopt;
    log_refused_host(*wrong);
    return refusal(request, 403, "com.amazon.coral.service#AccessDeniedException", std::move(*wrong));
  }
  if (needs_no_signature(request)) return std::nullopt;
  auto wrong = signatures->check(request);
  if (!wrong) return std::nullopt;
  log_refused_signature(*wrong);
  return refusal(request, 400, type_of(wrong->kind),
                 signatures->has_keys() ? std::move(wrong->message) : std::string(kNoKeys));
}

http::Response DynamoDbEndpoint::refusal(const http::Request& request, int status, std::string_view type,
                                         std::string message) {
  const api::Fault fault{.type = std::string(type), .message = std::move(message), .members = {}};
  const auto operation = operation_of(request.header("X-Amz-Target"));
  requests_.record(std::string(operation.empty() ? "unknown" : operation), {}, fault.name(), {});
  return dynamodb_response(status, kJson10, fault.body(), cors_headers(request.header("Origin")));
}

void DynamoDbEndpoint::call(const http::Request& request, http::Responder responder) {
  const auto start = std::chrono::steady_clock::now();
  const auto operation = operation_of(request.header("X-Amz-Target"));
  auto cors = options_.cors_origins.empty() ? std::string() : cors_headers(request.header("Origin"));
  auto content_type = answer_type(request.header("Content-Type"));
  if (content_type.empty() && request.body.empty()) content_type = kJson10;
  if (content_type.empty() || request.path != "/") return responder.send(no_operation(cors));
  // Only names that exist become labels, or a client could fill the memory with them.
  std::string label(api::Service::knows(operation) ? operation : "unknown");
  auto body = request.body;
  std::string decoded;
  if (const auto encoding = request.header("Content-Encoding"); !encoding.empty()) {
    auto content = http::decode_content(encoding, body, options_.max_body_bytes);
    if (!content) {
      const bool too_large = content.error().code == ErrorCode::LimitExceeded;
      const auto fault =
          api::to_fault({too_large ? ErrorCode::Serialization : ErrorCode::Internal, content.error().message});
      requests_.record(label, {}, fault.name(), std::chrono::steady_clock::now() - start);
      return responder.send(dynamodb_response(too_large ? 413 : 500, content_type, fault.body(), cors));
    }
    decoded = std::move(*content);
    body = decoded;
  }
  const auto coding = http::accepted_coding(request.header("Accept-Encoding"));
  instance_.service().call(
      operation, body,
      [this, start, content_type, coding, cors = std::move(cors), label = std::move(label),
       responder = std::move(responder)](api::Reply reply) mutable {
        const auto latency = std::chrono::steady_clock::now() - start;
        if (auto* answer = std::get_if<std::string>(&reply.outcome)) {
          requests_.record(label, reply.table, {}, latency);
          return responder.send(
              compressed(dynamodb_response(200, content_type, std::move(*answer), cors), coding, cors));
        }
        const auto& fault = std::get<api::Fault>(reply.outcome);
        requests_.record(label, reply.table, fault.name(), latency);
        responder.send(compressed(dynamodb_response(status_of(fault), content_type, fault.body(), cors), coding, cors));
      },
      request.header("Host"));
}

http::Response DynamoDbEndpoint::refuse(int status, std::string_view reason) {
  if (status == 414 || status == 431) status = 400;  // as the service says it
  // A client that speaks DynamoDB gets the envelope it can read.
  const auto code = status == 503 ? ErrorCode::Busy : status == 500 ? ErrorCode::Internal : ErrorCode::Serialization;
  const auto fault = api::to_fault({code, std::string(reason)});
  return dynamodb_response(status, kJson10, fault.body(), {});
}

http::Response DynamoDbEndpoint::health() const {
  const bool read_only = instance_.engine().commit_statistics().read_only;
  return {.status = read_only ? 503 : 200,
          .content_type = "application/json",
          .headers = {},
          .body = read_only ? "{\"status\":\"read-only\"}\n" : "{\"status\":\"ok\"}\n"};
}

http::Response DynamoDbEndpoint::metrics() const {
  std::string body;
  requests_.print(body);
  if (options_.systems != nullptr) options_.systems->print_metrics(body);
  const auto& engine = instance_.engine();
  const auto commits = engine.commit_statistics();
  const auto store = engine.store_statistics();
  const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    http::print_metric(body, name, "counter", help, static_cast<double>(value));
  };
  const auto gauge = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    http::print_metric(body, name, "gauge", help, static_cast<double>(value));
  };
  counter("stator_commits_total", "Commits; each may hold many writes.", commits.commits);
  counter("stator_writes_total", "Writes handed to the committer.", commits.works);
  counter("stator_commit_conflicts_total", "Commits retried because a shared store had changed.", commits.conflicts);
  counter("stator_commit_failures_total", "Commits that the store could not keep.", commits.failures);
  gauge("stator_read_only", "1 while the store cannot be written to.", commits.read_only ? 1 : 0);
  counter("stator_store_syncs_total", "Times the disk was asked to keep what was written.", store.syncs);
  counter("stator_store_written_bytes_total", "Bytes of keys and values committed.", store.bytes_written);
  gauge("stator_store_size_bytes", "Approximate size of the store.", store.size_bytes);
  gauge("stator_tables", "Tables.", engine.catalog().size());
  if (server_ != nullptr) {
    const auto http = server_->statistics();
    gauge("stator_connections", "Open connections.", http.connections_open);
    counter("stator_connections_total", "Connections accepted.", http.connections_accepted);
    counter("stator_connections_refused_total", "Connections over the limit.", http.connections_refused);
    counter("stator_requests_refused_total", "Malformed, oversized or late requests.", http.requests_refused);
    counter("stator_received_bytes_total", "Bytes received.", http.bytes_received);
    counter("stator_sent_bytes_total", "Bytes sent.", http.bytes_sent);
  }
  return {.status = 200, .content_type = "text/plain; version=0.0.4", .headers = {}, .body = std::move(body)};
}

http::Response DynamoDbEndpoint::preflight(const http::Request& request) const {
  auto headers = cors_headers(request.header("Origin"));
  if (headers.empty())
    return {.status = 200, .content_type = {}, .headers = "Allow: POST, GET, HEAD, OPTIONS\r\n", .body = {}};
  // What it asks for is allowed, as at the service: whether it may do it is not for a browser to know.
  const auto method = request.header("Access-Control-Request-Method");
  headers += fmt::format("Access-Control-Allow-Methods: {}\r\nAccess-Control-Max-Age: 172800\r\n",
                         method.empty() ? "POST, GET, OPTIONS" : method);
  if (const auto wanted = request.header("Access-Control-Request-Headers"); !wanted.empty()) {
    headers += fmt::format("Access-Control-Allow-Headers: {}\r\n", wanted);
  }
  return {.status = 200, .content_type = {}, .headers = std::move(headers), .body = {}};
}

std::string DynamoDbEndpoint::cors_headers(std::string_view origin) const {
  if (origin.empty() || options_.cors_origins.empty()) return {};
  const auto& allowed = options_.cors_origins;
  const bool any = std::find(allowed.begin(), allowed.end(), "*") != allowed.end();
  if (!any && std::find(allowed.begin(), allowed.end(), origin) == allowed.end()) return {};
  return fmt::format(
      "Access-Control-Allow-Origin: {}\r\nAccess-Control-Expose-Headers: x-amzn-RequestId, x-amz-crc32\r\nVary: "
      "Origin\r\n",
      any ? std::string_view("*") : origin);
}

}  // namespace stator::server
