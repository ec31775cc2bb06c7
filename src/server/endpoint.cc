#include "stator/server/endpoint.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <thread>

#include "stator/api/json/shape.h"
#include "stator/api/no_memory.h"
#include "stator/base/log.h"
#include "stator/base/log_limit.h"
#include "stator/base/priority.h"
#include "stator/base/random.h"
#include "stator/client/is_read.h"
#include "stator/http/crc32.h"
#include "stator/http/message/content_coding.h"
#include "stator/server/health.h"
#include "stator/server/host_guard.h"

namespace stator::server {
namespace {

constexpr std::string_view kJson10 = "application/x-amz-json-1.0";
constexpr std::string_view kJson11 = "application/x-amz-json-1.1";
constexpr std::string_view kJson = "application/json";

constexpr std::size_t kCompressAbove = 4096;  // bytes of an answer, as in the service

// The limits up to which the thread of an event loop does the work itself: a few milliseconds.
constexpr std::size_t kQuickBodyBytes = 256 << 10;
constexpr std::size_t kQuickAnswerBytes = 2 << 20;
constexpr std::size_t kToolBodyBytes = 64 << 10;
constexpr std::size_t kSlowLaneQueue = 256;  // calls that wait; one more is throttled
constexpr std::chrono::seconds kSlowLanePatience{
    20};  // a call that waited longer is throttled: its client has given up
constexpr std::string_view kTooMuchWaits = "Too many requests wait already; try again later";
constexpr int kSlowLaneNiceness = 5;                     // others go first
constexpr std::size_t kUncountedAnswerBytes = 16 << 10;  // a smaller answer is not worth the counting

// For calls to a store on a database server, which wait for its answers.
constexpr std::size_t kStoreLaneThreads = 32;
constexpr std::size_t kStoreLaneQueue = 4096;

std::size_t slow_lane_threads() { return std::max(1U, std::thread::hardware_concurrency() / 4); }

// Whether a thread that must not wait for a database server can carry out an operation, or begin to.  A write is
// handed to the thread that commits.
bool runs_on_loop(std::string_view operation) {
  static constexpr std::array<std::string_view, 9> kOperations{
      "BatchGetItem", "BatchWriteItem",   "DeleteItem",         "GetItem",    "PutItem",
      "Query",        "TransactGetItems", "TransactWriteItems", "UpdateItem",
  };
  return std::ranges::binary_search(kOperations, operation);
}

// 52 characters of the alphabet that the service's ids are made of.
std::string request_id() {
  static constexpr char kAlphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
  // As Random does it, without its lock.
  thread_local std::uint64_t state = Random::from_system().next();
  const auto next = [] {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  };
  std::string id;
  id.reserve(52);
  while (id.size() < 52) {
    std::uint64_t bits = next();
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

// Replaces the message about a wrong signature when no key exists, because no signature can be right then.
constexpr std::string_view kNoKeys =
    "This database has been used with access keys and has none now, so every request is refused. The operator of the "
    "server makes a key with `stator key add`, or starts it with --allow-unsigned.";

// The log shows the id of a key.  It must not show a secret that somebody pasted in place of the id: ids have 20
// characters, secrets 40.
constexpr std::size_t kLongestIdToLog = 32;

void log_refused_signature(const http::SignatureFault& wrong, const http::Request& request) {
  static log::Limit limit(5, std::chrono::seconds(1));
  const auto left_out = limit.admit();
  if (!left_out) return;
  // The message repeats the incomplete header, which may contain anything.
  const bool repeats_request = wrong.kind == http::SignatureFault::Kind::Incomplete;
  log::warning(
      "signature_refused",
      {{"reason", repeats_request ? "Something that a signature needs is missing or malformed" : wrong.message},
       {"client", request.client},
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
    case Kind::Unconfirmed: return "com.amazonaws.dynamodb.v20120810#InternalServerError";
  }
  return {};
}

// Requests of load balancers and browsers that need no key.  Their answers say nothing about the data.
bool needs_no_signature(const http::Request& request) {
  return request.method == "OPTIONS" ||
         ((request.method == "GET" || request.method == "HEAD") && (request.path == "/" || request.path == "/health"));
}

std::string answer_headers(std::string_view body, std::string_view cors) {
  return fmt::format("Server: Stator\r\nx-amzn-RequestId: {}\r\nx-amz-crc32: {}\r\n{}", request_id(),
                     http::crc32_of(body), cors);
}

http::Response dynamodb_response(int status, std::string_view content_type, std::string body, std::string_view cors) {
  http::Response response{.status = status, .content_type = content_type, .headers = {}, .body = std::move(body)};
  response.headers = answer_headers(response.body, cors);
  return response;
}

// The answer of the service's front end to a request that is no operation.
http::Response no_operation(std::string_view cors) {
  return dynamodb_response(404, {}, "<UnknownOperationException/>\n", cors);
}

// The content type of the answer to a request of this one; empty when the service does not speak it.
std::string_view answer_type(std::string_view content_type) {
  if (content_type == kJson10) return kJson10;  // what every SDK sends
  const auto type = http::media_type(content_type);
  for (const auto known : {kJson10, kJson11, kJson}) {
    if (http::equal_ignoring_case(type, known)) return known;
  }
  return {};
}

http::CorsRules cors_rules(std::vector<std::string> origins) {
  return {.origins = std::move(origins),
          .exposed_headers = "x-amzn-RequestId, x-amz-crc32",
          .server_methods = "POST, GET, HEAD, OPTIONS",
          .page_methods = "POST, GET, OPTIONS",
          .any_method = true,  // as at the service: a method that is none is refused when it comes
          .preflight_age = std::chrono::hours(48),
          .preflight_status = 200};
}

// Those of a store on a database server.
void print_store_metrics(std::string& body, const storage::StoreServer& server, const storage::StoreStatistics& store) {
  const auto seconds = [](std::chrono::microseconds time) { return std::chrono::duration<double>(time).count(); };
  const auto by_kind = [&](std::string_view name, std::string_view help, auto value) {
    http::print_metric_head(body, name, "counter", help);
    for (const auto& each : store.statements) {
      fmt::format_to(std::back_inserter(body), "{}{{kind=\"{}\"}} {}\n", name, each.kind, value(each));
    }
  };
  by_kind("stator_store_round_trips_total", "Round trips to the database server; one can carry several statements.",
          [](const auto& each) { return each.round_trips; });
  by_kind("stator_store_statements_total", "Statements sent to the database server.",
          [](const auto& each) { return each.statements; });
  by_kind("stator_store_rows_total", "Rows read or changed.", [](const auto& each) { return each.rows; });
  by_kind("stator_store_seconds_total", "Time until the database server answered.",
          [&](const auto& each) { return seconds(each.time); });
  const auto one = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
    http::print_metric(body, name, type, help, static_cast<double>(value));
  };
  one("stator_store_conflicts_total", "counter", "Commits that conflicted with a commit of another process.",
      store.conflicts);
  one("stator_store_retries_total", "counter", "Commits and reads repeated on another connection.", store.retries);
  one("stator_store_lock_wait_seconds_total", "counter", "Time that commits waited for other commits.",
      seconds(store.lock_wait));
  one("stator_store_reachable", "gauge", "1 while the database server answers.", server.reachable ? 1 : 0);
  one("stator_store_round_trip_seconds", "gauge", "Time of the last ping.", seconds(server.round_trip));
  one("stator_store_connections", "gauge", "Open connections to the database server.", server.connections);
  one("stator_store_connections_used", "gauge", "Connections to the database server that are in use.",
      server.connections_used);
}

std::optional<console::StoreNumbers> store_numbers(const std::optional<storage::StoreServer>& server,
                                                   const storage::StoreStatistics& store) {
  if (!server) return std::nullopt;
  console::StoreNumbers numbers{.host = server->host,
                                .reachable = server->reachable,
                                .since = server->since,
                                .connections = server->connections,
                                .connections_used = server->connections_used,
                                .most_connections = server->most_connections,
                                .round_trip = server->round_trip,
                                .epoch = server->epoch.value,
                                .conflicts = store.conflicts,
                                .retries = store.retries,
                                .lock_wait = store.lock_wait};
  for (const auto& each : store.statements) {
    numbers.statements.push_back({.kind = std::string(each.kind),
                                  .round_trips = each.round_trips,
                                  .statements = each.statements,
                                  .rows = each.rows,
                                  .time = each.time});
  }
  return numbers;
}

}  // namespace

DynamoDbEndpoint::DynamoDbEndpoint(library::Instance& instance, const Clock& clock, EndpointOptions options)
    : instance_(instance),
      clock_(clock),
      options_(std::move(options)),
      cors_(cors_rules(options_.cors_origins)),
      tools_(instance),
      slow_lane_(std::in_place, slow_lane_threads(), kSlowLaneQueue) {
  if (instance.engine().is_shared()) store_lane_.emplace(kStoreLaneThreads, kStoreLaneQueue);
}

void DynamoDbEndpoint::stop() {
  tools_.stop();
  slow_lane_.reset();  // all clients have gone, so no waiting call is started
  store_lane_.reset();
}

http::Admission DynamoDbEndpoint::admit(const http::Request& head) {
  if (auto wrong = objection(head, Known::Head)) return {.refusal = std::move(*wrong)};
  if (head.path.starts_with(Tools::kPrefix)) return {.refusal = {}, .body_bytes = kToolBodyBytes};
  const bool is_call = head.method == "POST" && head.path == "/" && !answer_type(head.header("Content-Type")).empty();
  if (!is_call) return {.refusal = no_operation(cors_.headers(head))};
  return {};
}

void DynamoDbEndpoint::handle(const http::Request& request, http::Responder responder) {
  if (auto answer = objection(request, Known::All)) return responder.send(std::move(*answer));
  if (request.path.starts_with(Tools::kPrefix) && request.method != "OPTIONS") {
    return tools_.handle(request, std::move(responder));
  }
  if (request.method == "POST") return call(request, std::move(responder));
  if (request.method == "OPTIONS") return responder.send(cors_.preflight(request));
  const auto cors = cors_.headers(request);
  if (request.method != "GET" && request.method != "HEAD") return responder.send(no_operation(cors));
  auto answer = page(request);
  answer.headers += cors;
  responder.send(std::move(answer));
}

http::Response DynamoDbEndpoint::page(const http::Request& request) const {
  if (request.path == "/health") return health(request);
  if (request.path == "/metrics") return metrics();
  const auto text = [](int status, std::string body) {
    return http::Response{.status = status, .content_type = "text/plain", .headers = {}, .body = std::move(body)};
  };
  return request.path == "/" ? text(200, fmt::format("healthy: {} ", request.header("Host")))
                             : text(404, "Not found\n");
}

std::optional<http::Response> DynamoDbEndpoint::objection(const http::Request& request, Known known) {
  const auto* signatures = options_.signatures;
  if (signatures == nullptr || !signatures->required()) {
    if (options_.hosts == nullptr) return std::nullopt;
    auto wrong = options_.hosts->objection(request);
    if (!wrong || request.path == "/health") return std::nullopt;
    log_refused_host(*wrong, request);
    return refusal(request, 403, "com.amazon.coral.service#AccessDeniedException", std::move(*wrong));
  }
  if (needs_no_signature(request)) return std::nullopt;
  auto wrong = known == Known::All ? signatures->check(request) : signatures->check_head(request);
  if (!wrong) return std::nullopt;
  return refusal(request, std::move(*wrong));
}

http::Response DynamoDbEndpoint::refusal(const http::Request& request, http::SignatureFault wrong) {
  // Clients repeat it, and the log has the cause.
  if (wrong.kind == http::SignatureFault::Kind::Unconfirmed) {
    return refusal(request, 500, type_of(wrong.kind), std::move(wrong.message));
  }
  log_refused_signature(wrong, request);
  return refusal(request, 400, type_of(wrong.kind),
                 options_.signatures->has_keys() ? std::move(wrong.message) : std::string(kNoKeys));
}

http::Response DynamoDbEndpoint::refusal(const http::Request& request, int status, std::string_view type,
                                         std::string message) {
  const api::Fault fault{.type = std::string(type), .message = std::move(message)};
  const auto operation = operation_of(request.header("X-Amz-Target"));
  requests_.record(std::string(operation.empty() ? "unknown" : operation), {}, fault.name(), {});
  return dynamodb_response(status, kJson10, fault.body(), cors_.headers(request));
}

void DynamoDbEndpoint::call(const http::Request& request, http::Responder responder) {
  ApiCall call{.request = request,
               .operation = operation_of(request.header("X-Amz-Target")),
               .content_type = answer_type(request.header("Content-Type")),
               .label = "unknown",
               .start = clock_.steady_now()};
  if (options_.traffic != nullptr) options_.traffic->note_request(call.start);
  if (call.content_type.empty() && request.body.empty()) call.content_type = kJson10;
  if (call.content_type.empty() || request.path != "/") {
    return responder.send(no_operation(cors_.headers(request)));
  }
  // Only names that exist become labels, or a client could fill the memory with them.
  if (api::Operations::knows(call.operation)) call.label = call.operation;
  if (store_lane_ && (!runs_on_loop(call.operation) || reader_on(responder.loop()) == nullptr)) {
    return run_later(call, std::move(responder), Lane::Store);
  }
  if (request.body.size() > kQuickBodyBytes) return run_later(call, std::move(responder), Lane::Slow);
  run(call, std::move(responder), Lane::Quick);
}

// Each loop has one from its first request to its end.
storage::LoopReader* DynamoDbEndpoint::reader_on(EventLoop& loop) {
  if (loop.attachment() == nullptr) loop.attach(instance_.engine().reader_on(loop));
  return static_cast<storage::LoopReader*>(loop.attachment());
}

void DynamoDbEndpoint::run(const ApiCall& call, http::Responder&& responder, Lane lane) {
  auto body = call.request.body;
  std::string decoded;
  MemoryClaim memory(options_.memory, MemoryPart::Bodies);
  if (const auto encoding = call.request.header("Content-Encoding"); !encoding.empty()) {
    const auto limit =
        lane == Lane::Quick ? std::min(kQuickBodyBytes, options_.max_body_bytes) : options_.max_body_bytes;
    auto content = http::decode_content(encoding, body, limit, lane == Lane::Quick ? nullptr : &memory);
    if (!content && content.error().code == ErrorCode::LimitExceeded && lane == Lane::Quick) {
      return run_later(call, std::move(responder), Lane::Slow);
    }
    if (!content) return responder.send(unreadable_answer(call, content.error()));
    decoded = std::move(*content);
    body = decoded;
    if (lane != Lane::Quick) memory.resize(decoded.size());
  }
  api::CallOptions options{.endpoint = call.request.header("Host"), .memory = options_.memory};
  std::function<bool()> abandoned;
  if (lane == Lane::Quick) {
    options.quick_bytes = kQuickAnswerBytes;
    if (store_lane_) options.reader = reader_on(responder.loop());
  } else {
    abandoned = [client = responder.watch()] { return client.has_gone(); };
    options.abandoned = &abandoned;
  }
  std::unique_ptr<console::LiveRequest> live;
  if (options_.live != nullptr && options_.live->watches()) live = options_.live->begin(call.operation, body);
  options.measure = live != nullptr;
  instance_.operations().call(
      call.operation, body,
      [this, call, live = std::move(live), responder = std::move(responder)](api::Reply reply) mutable {
        if (reply.takes_long) return run_later(call, std::move(responder), Lane::Slow);
        if (live) show(std::move(live), call, reply);
        responder.send(answer(call, reply));
      },
      options);
}

// A read that takes long starts again here.  Its first attempt had no effect.
void DynamoDbEndpoint::run_later(const ApiCall& call, http::Responder&& responder, Lane lane) {
  if (store_lane_) lane = Lane::Store;
  const auto too_late = clock_.steady_now() + kSlowLanePatience;
  auto waiting = std::make_shared<http::Responder>(std::move(responder));
  app::WorkerPool::Job job = [this, too_late, call, waiting, lane] {
    if (lane == Lane::Slow) lower_priority(kSlowLaneNiceness);
    if (waiting->watch().has_gone() || clock_.steady_now() > too_late) {
      return waiting->send(fault_answer(call, 400, {ErrorCode::Busy, std::string(kTooMuchWaits)}));
    }
    run(call, std::move(*waiting), lane);
  };
  if ((lane == Lane::Store ? store_lane_ : slow_lane_)->submit(job)) return;
  waiting->send(fault_answer(call, 400, {ErrorCode::Busy, std::string(kTooMuchWaits)}));
}

void DynamoDbEndpoint::show(std::unique_ptr<console::LiveRequest> live, const ApiCall& call, const api::Reply& reply) {
  using std::chrono::duration_cast;
  if (!reply.table.empty()) live->table = reply.table;
  live->took = duration_cast<std::chrono::microseconds>(clock_.steady_now() - call.start);
  if (!reply.ok()) {
    const auto& fault = reply.outcome.error();
    live->status = status_of(fault);
    live->error = fault.name();
    live->response_bytes = fault.body().size();
  } else {
    live->response_bytes = reply.outcome->size();
    live->capacity = reply.capacity;
  }
  options_.live->finish(std::move(live));
}

http::Response DynamoDbEndpoint::answer(const ApiCall& call, api::Reply& reply) {
  if (!reply.ok()) {
    const auto& fault = reply.outcome.error();
    requests_.record(call.label, reply.table, fault.name(), clock_.steady_now() - call.start);
    auto response = encoded(call, status_of(fault), fault.body());
    response.memory = std::move(reply.memory);
    return response;
  }
  auto& body = *reply.outcome;
  MemoryClaim memory;
  if (body.size() > kUncountedAnswerBytes) {
    memory = reply.memory.bytes() > 0 ? std::move(reply.memory) : MemoryClaim(options_.memory, MemoryPart::Answers);
    if (!memory.resize(body.size())) {
      // The write is done, so the answer must not say that nothing was done.
      const bool again = client::is_read(call.operation);
      return fault_answer(call, again ? 400 : 500,
                          {again ? ErrorCode::Busy : ErrorCode::Internal, std::string(api::kNoMemory)}, reply.table);
    }
  }
  requests_.record(call.label, reply.table, {}, clock_.steady_now() - call.start);
  auto response = encoded(call, 200, std::move(body));
  if (memory.bytes() == 0) return response;
  if (memory.bytes() > response.body.size()) memory.resize(response.body.size());
  response.memory = std::move(memory);
  return response;
}

http::Response DynamoDbEndpoint::encoded(const ApiCall& call, int status, std::string body) const {
  http::Response response{.status = status, .content_type = call.content_type, .headers = {}, .body = std::move(body)};
  http::compress(response, call.request.header("Accept-Encoding"), kCompressAbove);
  // The checksum is of the bytes that are sent: SDKs compare it before they decompress.
  response.headers += answer_headers(response.body, cors_.headers(call.request));
  return response;
}

http::Response DynamoDbEndpoint::fault_answer(const ApiCall& call, int status, const Error& error,
                                              std::string_view table) {
  const auto fault = api::to_fault(error);
  requests_.record(call.label, table, fault.name(), clock_.steady_now() - call.start);
  return dynamodb_response(status, call.content_type, fault.body(), cors_.headers(call.request));
}

http::Response DynamoDbEndpoint::unreadable_answer(const ApiCall& call, const Error& error) {
  switch (error.code) {
    case ErrorCode::Busy: return fault_answer(call, 400, {ErrorCode::Busy, std::string(api::kNoMemory)});
    case ErrorCode::LimitExceeded:
      return fault_answer(call, 413, {ErrorCode::Serialization, error.message + " (the setting max_body_bytes)"});
    default: return fault_answer(call, 500, {ErrorCode::Internal, error.message});
  }
}

http::Response DynamoDbEndpoint::refuse(int status, std::string_view reason) {
  if (status == 414 || status == 431) status = 400;  // as the service says it
  // A client that speaks DynamoDB gets the envelope it can read.
  const auto code = status == 503 ? ErrorCode::Busy : status == 500 ? ErrorCode::Internal : ErrorCode::Serialization;
  std::string message(reason);
  if (status == 413)
    message += fmt::format(": the limit is {} bytes (the setting max_body_bytes)", options_.max_body_bytes);
  const auto fault = api::to_fault({code, std::move(message)});
  return dynamodb_response(status, kJson10, fault.body(), {});
}

http::Response DynamoDbEndpoint::health(const http::Request& request) const {
  instance_.engine().try_recover();
  // Names of tables are for those who may list them.
  const bool may_list = (options_.signatures == nullptr || !options_.signatures->required()) &&
                        (options_.hosts == nullptr || !options_.hosts->objection(request));
  return health_answer(instance_.engine(), may_list ? HealthDetail::AndTables : HealthDetail::Cause);
}

console::ServerMetrics DynamoDbEndpoint::numbers() const {
  const auto& engine = instance_.engine();
  const auto store = engine.store_statistics();
  return {.requests = requests_.totals(),
          .commits = engine.commit_statistics().commits,
          .storage_bytes = store.size_bytes,
          .memory_bytes = console::resident_bytes(),
          .memory_limit = options_.memory_limit,
          .connections = server_ != nullptr ? server_->statistics().connections_open : 0,
          .store = store_numbers(engine.store_server(), store)};
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
  counter("stator_commits_total", "Commits; one can contain many writes.", commits.commits);
  counter("stator_writes_total", "Writes handed to the committer.", commits.works);
  counter("stator_commit_conflicts_total", "Commits retried because a shared store had changed.", commits.conflicts);
  counter("stator_commit_failures_total", "Commits that failed in the store.", commits.failures);
  gauge("stator_read_only", "1 while the store cannot be written to.", engine.health().read_only ? 1 : 0);
  counter("stator_store_syncs_total", "Syncs of written data to the disk.", store.syncs);
  counter("stator_store_written_bytes_total", "Bytes of keys and values committed.", store.bytes_written);
  gauge("stator_store_size_bytes", "Approximate size of the store.", store.size_bytes);
  if (const auto server = engine.store_server()) print_store_metrics(body, *server, store);
  gauge("stator_tables", "Tables.", engine.catalog().size());
  gauge("stator_memory_limit_bytes", "Memory that the process may use (memory_limit).", options_.memory_limit);
  gauge("stator_store_memory_bytes", "Caches and write buffers of the store, or the items that are kept in memory.",
        store.memory_bytes);
  if (const auto* memory = options_.memory) {
    gauge("stator_request_memory_limit_bytes", "Memory that requests may use.", memory->limit());
    http::print_metric_head(body, "stator_request_memory_bytes", "gauge", "Memory that requests use.");
    for (const auto part : kMemoryParts) {
      fmt::format_to(std::back_inserter(body), "stator_request_memory_bytes{{part=\"{}\"}} {}\n", name_of(part),
                     memory->used(part));
    }
    counter("stator_request_memory_refusals_total", "Requests refused because there was no memory for them.",
            memory->refusals());
  }
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

}  // namespace stator::server
