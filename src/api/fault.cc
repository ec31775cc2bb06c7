#include "stator/api/fault.h"

#include "stator/base/log.h"
#include "stator/base/log_limit.h"
#include "stator/value/json.h"

namespace stator::api {
namespace {

#define DYNAMODB(name) "com.amazonaws.dynamodb.v20120810#" name
#define CORAL_VALIDATE(name) "com.amazon.coral.validate#" name
#define CORAL_SERVICE(name) "com.amazon.coral.service#" name

std::string_view type_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::Validation: return CORAL_VALIDATE("ValidationException");
    case ErrorCode::Unsupported: return CORAL_VALIDATE("ValidationException");
    case ErrorCode::Serialization: return CORAL_SERVICE("SerializationException");
    case ErrorCode::UnknownOperation: return CORAL_SERVICE("UnknownOperationException");
    case ErrorCode::ResourceNotFound: return DYNAMODB("ResourceNotFoundException");
    case ErrorCode::ResourceInUse: return DYNAMODB("ResourceInUseException");
    case ErrorCode::TableNotFound: return DYNAMODB("TableNotFoundException");
    case ErrorCode::LimitExceeded: return DYNAMODB("LimitExceededException");
    case ErrorCode::ConditionalCheckFailed: return DYNAMODB("ConditionalCheckFailedException");
    case ErrorCode::ItemCollectionSizeLimit: return DYNAMODB("ItemCollectionSizeLimitExceededException");
    case ErrorCode::ExpiredIterator: return DYNAMODB("ExpiredIteratorException");
    case ErrorCode::TrimmedData: return DYNAMODB("TrimmedDataAccessException");
    case ErrorCode::IdempotentMismatch: return DYNAMODB("IdempotentParameterMismatchException");
    case ErrorCode::Busy: return DYNAMODB("ProvisionedThroughputExceededException");
    case ErrorCode::Conflict: return DYNAMODB("TransactionConflictException");
    case ErrorCode::Outdated:
    case ErrorCode::Storage:
    case ErrorCode::ReadOnly:
    case ErrorCode::Corruption:
    case ErrorCode::Usage:
    case ErrorCode::Internal: return DYNAMODB("InternalServerError");
  }
  return DYNAMODB("InternalServerError");
}

bool is_server_side(ErrorCode code) { return code > ErrorCode::Conflict && code != ErrorCode::Busy; }

// Clients can repeat a request that fails as often as they like.  The committer tells when the database becomes
// read-only, so that a refused write has less to say.
void log_failure(const Error& error) {
  static log::Limit failures(10, std::chrono::seconds(1));
  if (const auto left_out = failures.admit())
    log::error("request_failed", {{"cause", error.message}, {"left_out", *left_out}});
}

}  // namespace

std::string Fault::body() const {
  constexpr std::size_t kBesideItem = 128;
  std::size_t bytes = kBesideItem + 2 * message.size() + (item ? item->bytes() : 0);
  if (reasons) {
    for (const auto& reason : *reasons) {
      bytes += kBesideItem + reason.message.size() + (reason.item ? reason.item->bytes() : 0);
    }
  }
  std::string body;
  body.reserve(bytes);
  body += "{\"__type\":";
  value::append_json_string(body, type);
  if (!message.empty()) {
    // The service spells it with a capital letter where the request never reached an operation.
    body += type == CORAL_SERVICE("SerializationException") ? ",\"Message\":" : ",\"message\":";
    value::append_json_string(body, message);
  }
  if (item) {
    body += ",\"Item\":";
    value::JsonWriter json(body);
    item->write(json);
  }
  if (reasons) {
    body += ",\"CancellationReasons\":";
    value::JsonWriter json(body);
    json.begin_array();
    for (const auto& reason : *reasons) reason.write(json);
    json.end_array();
  }
  body += '}';
  return body;
}

void CancellationReason::write(value::JsonWriter& json) const {
  json.begin_object().key("Code").string(code);
  if (!message.empty()) json.key("Message").string(message);
  if (item) {
    json.key("Item");
    item->write(json);
  }
  json.end_object();
}

std::string_view Fault::name() const { return std::string_view(type).substr(type.find('#') + 1); }

Fault dynamodb_fault(std::string_view name, std::string message) {
  return {.type = std::string(DYNAMODB("")).append(name), .message = std::move(message)};
}

Fault to_fault(const Error& error) {
  Fault fault{
      .type = std::string(type_of(error.code)), .message = error.message, .server_side = is_server_side(error.code)};
  if (error.code == ErrorCode::Conflict) fault.message = "Transaction is ongoing for the item";
  // A database that is read-only has said so in its log once, and has words for clients.
  if (fault.server_side && error.code != ErrorCode::ReadOnly) {
    // Paths and other details of this machine are for its log, not for its clients.
    log_failure(error);
    fault.message = "Internal server error";
  }
  return fault;
}

}  // namespace stator::api
