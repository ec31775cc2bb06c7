#include "stator/app/rest/idempotency.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "stator/app/auth/crypto.h"
#include "stator/app/rest/answer.h"
#include "stator/base/log.h"
#include "stator/expr/build.h"

namespace stator::app {
namespace {

using runtime::Problem;
using runtime::ProblemKind;
using value::AttributeValue;

constexpr std::string_view kId = "Id";
constexpr std::string_view kRequest = "Request";  // a digest of method, target and body
constexpr std::string_view kExpires = "Expires";  // seconds since 1970; the table's TTL
constexpr std::string_view kClaimedUntil =
    "ClaimedUntil";                             // seconds since 1970; behind that, the request is taken to be dead
constexpr std::string_view kStatus = "Status";  // this and the following once it is answered
constexpr std::string_view kHeaders = "Headers";
constexpr std::string_view kBody = "Body";  // not there: the answer was too large

constexpr std::chrono::milliseconds kTablePoll{100};
constexpr int kTablePolls = 600;

bool is_key(std::string_view key) {
  return !key.empty() && key.size() <= IdempotencyStore::kMaxKeyBytes &&
         std::ranges::all_of(key, [](char c) { return c > ' ' && c < 0x7f; });
}

// A digest of texts, each told apart from the next by its length.
std::string digest_of(std::initializer_list<std::string_view> texts) {
  std::vector<std::string> lengths;
  lengths.reserve(texts.size());
  std::vector<std::string_view> parts;
  for (const auto text : texts) {
    parts.push_back(lengths.emplace_back(fmt::format("{}:", text.size())));
    parts.push_back(text);
  }
  return base64url(sha256(parts));
}

Problem conflict(std::string_view code, std::string_view message) {
  return {.kind = ProblemKind::Conflict, .code = std::string(code), .message = std::string(message), .details = {}};
}

Problem still_running() {
  return conflict("InProgress",
                  "the first request with this Idempotency-Key is still running: send it again in a moment, with the "
                  "same key");
}

Problem outcome_unknown() {
  return conflict("OutcomeUnknown",
                  "the first request with this Idempotency-Key ended without an answer, and may or may not have been "
                  "carried out: look whether it was, and if not, send it with a new key");
}

Problem answer_not_kept() {
  return conflict(
      "AnswerNotKept",
      "the first request with this Idempotency-Key was carried out, and its answer was too large to be kept: "
      "look up its outcome, and do not send it again");
}

std::int64_t seconds_of(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

IdempotencyStore::IdempotencyStore(std::string table, client::Client& client, const Clock& clock, Random& random,
                                   std::stop_token stop)
    : table_(std::move(table)), clock_(clock), stop_(std::move(stop)), dynamo_(client, random, clock) {}

Result<void, Problem> IdempotencyStore::make_table() {
  {
    MutexLock lock(mutex_);
    if (table_made_) return {};
  }
  if (!TRY(dynamo_.describe_table(table_))) {
    model::TableDesign table;
    table.name = table_;
    table.partition.name = std::string(kId);
    table.stream = model::StreamView::None;
    TRY(dynamo_.create_table(table));
  }
  for (int poll = 0;; ++poll) {
    const auto state = TRY(dynamo_.describe_table(table_));
    if (state && state->status == "ACTIVE") break;
    if (poll == kTablePolls) {
      return Problem{.kind = ProblemKind::Unavailable,
                     .code = "Unavailable",
                     .message = fmt::format("the table {} is not ready yet", table_),
                     .details = {}};
    }
    if (!clock_.wait(kTablePoll, stop_)) return runtime::stopped(fmt::format("waiting for table {}", table_));
  }
  if (!TRY(dynamo_.describe_ttl(table_))) TRY(dynamo_.enable_ttl(table_, kExpires));
  MutexLock lock(mutex_);
  table_made_ = true;
  return {};
}

Result<void, Problem> IdempotencyStore::check_key(std::string_view key) {
  if (is_key(key)) return {};
  return Problem{.kind = ProblemKind::Invalid,
                 .code = "InvalidIdempotencyKey",
                 .message = fmt::format("an Idempotency-Key has 1 to {} printable ASCII characters", kMaxKeyBytes),
                 .details = {}};
}

Result<std::variant<IdempotencyStore::Claimed, http::Response>, Problem> IdempotencyStore::claim(
    const KeyedRequest& request) {
  using Claim = std::variant<Claimed, http::Response>;
  TRY(check_key(request.key));
  TRY(make_table());
  const auto now = seconds_of(clock_.now());
  const auto request_digest = digest_of({request.method, request.target, request.body});
  Claimed claimed{digest_of({request.subject ? "user" : "", request.subject.value_or(""), request.key})};
  runtime::RowWrite write{
      .kind = runtime::RowWrite::Kind::Put,
      .table = table_,
      .item = {{std::string(kId), AttributeValue::string(claimed.id)},
               {std::string(kRequest), AttributeValue::string(request_digest)},
               {std::string(kClaimedUntil), AttributeValue::number(now + std::chrono::seconds(kClaim).count())},
               {std::string(kExpires), AttributeValue::number(now + std::chrono::seconds(kKeep).count())}},
      // TTL may be late.
      .condition = expr::to_condition(
          expr::any_of({expr::absent(std::string(kId)),
                        expr::compare(std::string(kExpires), expr::Op::LessEqual, AttributeValue::number(now))}))};
  const auto answer = TRY(dynamo_.write(std::move(write)));
  if (answer.written()) return Claim(std::move(claimed));
  const auto& before = answer.refusals.front().item;
  if (!before) return still_running();
  if (before->text(kRequest) != request_digest) {
    return conflict("IdempotencyKeyReused", "this Idempotency-Key was used for another request");
  }
  if (before->find(kStatus) == nullptr) {
    return now < before->integer(kClaimedUntil) ? still_running() : outcome_unknown();
  }
  if (before->find(kBody) == nullptr) return answer_not_kept();
  return Claim(http::Response{.status = static_cast<int>(before->integer(kStatus)),
                              .content_type = kJsonType,
                              .headers = before->text(kHeaders) + "Idempotency-Replayed: true\r\n",
                              .body = before->text(kBody),
                              .close = false});
}

Result<void, Problem> IdempotencyStore::complete(const Claimed& claimed, const http::Response& response) {
  expr::UpdateBuilder update;
  update.set(std::string(kStatus), AttributeValue::number(response.status));
  if (response.headers.size() + response.body.size() <= kMaxAnswerBytes) {
    update.set(std::string(kHeaders), AttributeValue::string(response.headers));
    update.set(std::string(kBody), AttributeValue::string(response.body));
  }
  TRY(dynamo_.write(update_of(claimed, update.finish())));
  return {};
}

Result<void, Problem> IdempotencyStore::release(const Claimed& claimed) {
  TRY(dynamo_.write({.kind = runtime::RowWrite::Kind::Delete,
                     .table = table_,
                     .item = {{std::string(kId), AttributeValue::string(claimed.id)}}}));
  return {};
}

Result<void, Problem> IdempotencyStore::abandon(const Claimed& claimed) {
  const auto now = AttributeValue::number(seconds_of(clock_.now()));
  TRY(dynamo_.write(update_of(claimed, expr::UpdateBuilder().set(std::string(kClaimedUntil), now).finish())));
  return {};
}

runtime::RowWrite IdempotencyStore::update_of(const Claimed& claimed, expr::Update update) const {
  return {.kind = runtime::RowWrite::Kind::Update,
          .table = table_,
          .item = {{std::string(kId), AttributeValue::string(claimed.id)}},
          .update = std::move(update),
          .condition = expr::to_condition(expr::exists(std::string(kId)))};
}

}  // namespace stator::app
