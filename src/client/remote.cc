#include "stator/client/remote.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "stator/api/json/shape.h"
#include "stator/client/is_read.h"
#include "stator/client/operation_json.h"
#include "stator/http/client/client.h"
#include "stator/http/crc32.h"
#include "stator/http/signature/signer.h"
#include "stator/value/json.h"

namespace stator::client {
namespace {

constexpr std::string_view kService = "dynamodb";  // in signatures, of streams too
constexpr std::string_view kDatabase = "DynamoDB_20120810";
constexpr std::string_view kStreams = "DynamoDBStreams_20120810";
constexpr std::string_view kToken = "ClientRequestToken";
constexpr std::size_t kQuotedBytes = 200;  // of an answer that is not understood

// How the retries of one client are kept in bounds, and what they cost.
constexpr int kQuota = 500;
constexpr int kTransientCost = 14;
constexpr int kThrottledCost = 5;
constexpr int kReward = 1;  // for a success at the first attempt

// --- what is sent

// Without a condition that its own success could break, or an old item that it could no longer tell.
bool is_plain_write(const value::JsonObject& request) {
  const bool returns = request.get<std::string_view>("ReturnValues").value_or("NONE") != "NONE";
  return !returns && !request["ConditionExpression"] && !request["Expected"];
}

struct Prepared {
  std::string body;
  bool repeatable = false;  // carrying it out twice does no more than once
};

Prepared prepare(std::string_view operation, std::string_view json, Random& random) {
  Prepared prepared{.body = std::string(json)};
  if (is_read(operation) || operation == "BatchWriteItem") {
    prepared.repeatable = true;
    return prepared;
  }
  const bool item = operation == "PutItem" || operation == "DeleteItem";
  const bool transaction = operation == "TransactWriteItems" || operation == "ExecuteTransaction";
  if (!item && !transaction) return prepared;

  thread_local value::JsonParser parser;
  const auto parsed = parser.parse(json);
  value::JsonObject request;
  if (!parsed || !parsed->get(request)) return prepared;  // the endpoint will say what is wrong
  prepared.repeatable = transaction || is_plain_write(request);
  if (transaction && !request[kToken]) {
    const auto* const comma = request.size() == 0 ? "" : ",";
    prepared.body.insert(json.find('{') + 1, fmt::format(R"("{}":"{}"{})", kToken, random.uuid(), comma));
  }
  return prepared;
}

// Amazon has another host for streams.
http::Origin streams_origin(http::Origin origin) {
  const std::string_view host = origin.host;
  if (host.starts_with("dynamodb.") && (host.ends_with(".amazonaws.com") || host.ends_with(".amazonaws.com.cn"))) {
    origin.host = "streams." + origin.host;
  } else if (host.starts_with("dynamodb.") && host.ends_with(".api.aws")) {
    origin.host = "streams-" + origin.host;
  }
  return origin;
}

// --- what comes back

enum class Verdict : std::uint8_t {
  Final,
  Throttled,
  NotDone,    // the request was not executed; a retry may succeed
  MaybeDone,  // it may have been executed
};

struct Attempt {
  api::Reply reply;
  Verdict verdict = Verdict::Final;
};

Attempt faulty(std::string_view type, std::string message, Verdict verdict) {
  return {
      .reply = {.outcome = api::Fault{.type = std::string(type), .message = std::move(message), .server_side = true},
                .table = {}},
      .verdict = verdict};
}

Attempt outcome_of(http::ClientFailure failure) {
  using Kind = http::ClientFailure::Kind;
  switch (failure.kind) {
    case Kind::Malformed: return faulty(kUnexpectedAnswer, std::move(failure.message), Verdict::Final);
    case Kind::Untrusted:
    case Kind::Stopped: return faulty(kNetworkFailure, std::move(failure.message), Verdict::Final);
    case Kind::Unreachable:
    case Kind::TimedOut:
    case Kind::Broken:
    case Kind::Busy: break;
  }
  return faulty(kNetworkFailure, std::move(failure.message),
                failure.maybe_handled ? Verdict::MaybeDone : Verdict::NotDone);
}

// A fault as the endpoint tells it; nothing when the body is not one.
std::optional<api::Fault> parse_fault(std::string_view body) {
  thread_local value::JsonParser parser;
  const auto parsed = parser.parse(body);
  value::JsonObject object;
  std::string_view type;
  if (!parsed || !parsed->get(object) || !object["__type"].get(type)) {
    return std::nullopt;
  }
  api::Fault fault{.type = std::string(type)};
  std::string_view message;
  if (object["message"].get(message) || object["Message"].get(message)) fault.message = message;
  decode_members(object, fault);
  return fault;
}

bool checksum_matches(const http::ClientResponse& response) {
  const auto sent = response.header("x-amz-crc32");
  if (sent.empty()) return true;
  std::uint32_t expected = 0;
  const auto [end, error] = std::from_chars(sent.data(), sent.data() + sent.size(), expected);
  return error == std::errc() && end == sent.data() + sent.size() && http::crc32_of(response.body) == expected;
}

Attempt unexpected(const http::ClientResponse& response, const http::Origin& origin, Verdict verdict) {
  auto quoted = response.body.substr(0, kQuotedBytes);
  for (auto& c : quoted) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return faulty(
      kUnexpectedAnswer,
      fmt::format("{} answers with HTTP status {} and no DynamoDB: {}", origin.url(), response.status, quoted),
      verdict);
}

Attempt outcome_of(http::ClientResponse response, const http::Origin& origin) {
  if (!checksum_matches(response)) {
    return faulty(kNetworkFailure, fmt::format("the answer of {} does not have its checksum", origin.url()),
                  Verdict::MaybeDone);
  }
  if (response.status == 200) {
    // TagResource and UntagResource answer with nothing at all.
    if (response.body.empty() && response.header("x-amzn-RequestId").size() > 0) response.body = "{}";
    if (!response.body.starts_with('{')) return unexpected(response, origin, Verdict::Final);
    return {.reply = {.outcome = std::move(response.body), .table = {}}};
  }
  const auto by_status = response.status == 429   ? Verdict::Throttled
                         : response.status >= 500 ? Verdict::MaybeDone
                                                  : Verdict::Final;
  auto fault = parse_fault(response.body);
  // The answer of the service's front end to a name that cannot be one of its operations.
  if (!fault && response.body.starts_with("<UnknownOperationException")) {
    fault = api::to_fault({ErrorCode::UnknownOperation, ""});
  }
  if (!fault) return unexpected(response, origin, by_status);
  fault->server_side = response.status >= 500;
  // An earlier attempt with the same token is still under way, and a later one gets its answer.
  const bool in_progress = fault->name() == "TransactionInProgressException";
  const auto verdict = in_progress || is_throttling(fault->name()) ? Verdict::Throttled : by_status;
  return {.reply = {.outcome = std::move(*fault), .table = {}}, .verdict = verdict};
}

// One call, from attempt to attempt.
struct RemoteCall {
  std::string target;  // DynamoDB_20120810.GetItem
  const http::Origin* origin;
  std::string body;
  bool reads = false;
  bool repeatable = false;
  api::ReplyCallback reply;
  std::optional<api::Fault> doubt = {};  // of a write: the last fault that leaves open whether it was carried out
  int attempt = 1;
  int paid = 0;  // for the last retry
};

}  // namespace

struct RemoteClient::Impl {
  Impl(const RemoteOptions& o, http::Origin where, std::unique_ptr<http::Transport> how, const Clock& c, Random dice)
      : retries(o.retries),
        database(std::move(where)),
        streams(streams_origin(database)),
        signer({.key = {.id = o.credentials.access_key_id, .secret = o.credentials.secret_access_key},
                .session_token = o.credentials.session_token,
                .region = o.region,
                .service = std::string(kService)}),
        clock(c),
        random(std::move(dice)),
        transport(*how),
        owner(std::move(how)) {}

  void attempt(std::unique_ptr<RemoteCall> call);
  void finish(std::unique_ptr<RemoteCall> call, Attempt outcome);
  bool pay(RemoteCall& call, Verdict verdict);
  std::chrono::milliseconds delay(int attempt, Verdict verdict);

  const RetryOptions retries;
  const http::Origin database, streams;
  const http::Signer signer;
  const Clock& clock;
  Random random;
  int quota = kQuota;  // confined to the transport's thread

  http::Transport& transport;
  const std::unique_ptr<http::Transport> owner;  // last: its destructor brings the replies that are missing
};

void RemoteClient::Impl::attempt(std::unique_ptr<RemoteCall> call) {
  http::ClientRequest request{
      .method = "POST",
      .target = "/",
      .headers = {{"Content-Type", "application/x-amz-json-1.0"}, {"X-Amz-Target", call->target}},
      .body = call->body,
      .idempotent = call->repeatable};
  signer.sign(request, call->origin->authority(), clock.now());

  const auto& origin = *call->origin;
  transport.send(origin, std::move(request), [this, call = std::move(call)](http::Exchange exchange) mutable {
    auto outcome = exchange ? outcome_of(std::move(*exchange), *call->origin) : outcome_of(std::move(exchange).error());
    finish(std::move(call), std::move(outcome));
  });
}

void RemoteClient::Impl::finish(std::unique_ptr<RemoteCall> call, Attempt outcome) {
  if (outcome.reply.ok()) quota = std::min(kQuota, quota + (call->paid > 0 ? call->paid : kReward));
  if (outcome.verdict == Verdict::MaybeDone && !call->reads) {
    call->doubt = outcome.reply.outcome.error();
  }
  const bool harmless = outcome.verdict != Verdict::MaybeDone || call->repeatable;
  if (outcome.verdict != Verdict::Final && harmless && call->attempt < retries.attempts &&
      pay(*call, outcome.verdict)) {
    const auto wait = delay(call->attempt++, outcome.verdict);
    transport.after(wait, [this, call = std::move(call)]() mutable { attempt(std::move(call)); });
    return;
  }
  // That it was throttled, or not sent, the last time says nothing of the time before.
  if (call->doubt && outcome.verdict != Verdict::Final) {
    call->doubt->message += "; the request may have been carried out";
    outcome.reply.outcome = std::move(*call->doubt);
  }
  call->reply(std::move(outcome.reply));
}

// For another attempt; false when too many calls have failed of late.
bool RemoteClient::Impl::pay(RemoteCall& call, Verdict verdict) {
  const int cost = verdict == Verdict::Throttled ? kThrottledCost : kTransientCost;
  if (quota < cost) return false;
  quota -= cost;
  call.paid = cost;
  return true;
}

// Full jitter: the calls that failed together do not come back together.
std::chrono::milliseconds RemoteClient::Impl::delay(int attempt, Verdict verdict) {
  auto bound = verdict == Verdict::Throttled ? retries.throttled_base_delay : retries.base_delay;
  for (int i = 1; i < attempt && bound < retries.longest_delay; ++i) bound *= 2;
  bound = std::min(bound, retries.longest_delay);
  return std::chrono::milliseconds(random.below(static_cast<std::uint64_t>(bound.count()) + 1));
}

RemoteClient::RemoteClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

RemoteClient::~RemoteClient() = default;

Result<RemoteOptions> RemoteOptions::from_environment(std::string endpoint, const Environment& environment) {
  auto identity = TRY(find_signing_scope(TRY(http::Origin::parse(endpoint)), environment));
  return RemoteOptions{.endpoint = std::move(endpoint),
                       .region = std::move(identity.region),
                       .credentials = std::move(identity.credentials),
                       .ca_file = environment("AWS_CA_BUNDLE").value_or("")};
}

Result<std::unique_ptr<RemoteClient>> RemoteClient::open(const RemoteOptions& options) {
  static const SystemClock clock;
  auto transport = TRY(http::Client::start(
      {.ca_file = options.ca_file, .connect_timeout = options.connect_timeout, .timeout = options.attempt_timeout}));
  return open(options, std::move(transport), clock, Random::from_system());
}

Result<std::unique_ptr<RemoteClient>> RemoteClient::open(const RemoteOptions& options,
                                                         std::unique_ptr<http::Transport> transport, const Clock& clock,
                                                         Random random) {
  auto origin = TRY(http::Origin::parse(options.endpoint));
  return std::unique_ptr<RemoteClient>(new RemoteClient(
      std::make_unique<Impl>(options, std::move(origin), std::move(transport), clock, std::move(random))));
}

void RemoteClient::call(std::string_view operation, std::string_view json, api::ReplyCallback reply) {
  const auto* const known = api::find_operation(operation);
  const bool of_streams = known != nullptr && known->service == kStreams;
  auto prepared = prepare(operation, json, impl_->random);
  impl_->attempt(std::make_unique<RemoteCall>(
      RemoteCall{.target = fmt::format("{}.{}", of_streams ? kStreams : kDatabase, operation),
                 .origin = of_streams ? &impl_->streams : &impl_->database,
                 .body = std::move(prepared.body),
                 .reads = is_read(operation),
                 .repeatable = prepared.repeatable,
                 .reply = std::move(reply)}));
}

}  // namespace stator::client
