#include "stator/api/operations.h"

#include <algorithm>
#include <array>

#include "stator/api/absent_features.h"
#include "stator/api/item_functions.h"
#include "stator/api/operation.h"
#include "stator/api/request_check.h"
#include "stator/api/shape.h"

namespace stator::api {
namespace {

struct NamedOperation {
  std::string_view name;
  OperationFunction run;
};

constexpr std::array kOperations = {
    NamedOperation{"BatchExecuteStatement", batch_execute_statement},
    NamedOperation{"BatchGetItem", batch_get_item},
    NamedOperation{"BatchWriteItem", batch_write_item},
    NamedOperation{"CreateTable", create_table},
    NamedOperation{"DeleteItem", delete_item},
    NamedOperation{"DeleteTable", delete_table},
    NamedOperation{"DescribeEndpoints", describe_endpoints},
    NamedOperation{"DescribeLimits", describe_limits},
    NamedOperation{"DescribeStream", describe_stream},
    NamedOperation{"DescribeTable", describe_table},
    NamedOperation{"DescribeTimeToLive", describe_time_to_live},
    NamedOperation{"ExecuteStatement", execute_statement},
    NamedOperation{"ExecuteTransaction", execute_transaction},
    NamedOperation{"GetItem", get_item},
    NamedOperation{"GetRecords", get_records},
    NamedOperation{"GetShardIterator", get_shard_iterator},
    NamedOperation{"ListStreams", list_streams},
    NamedOperation{"ListTables", list_tables},
    NamedOperation{"ListTagsOfResource", list_tags_of_resource},
    NamedOperation{"PutItem", put_item},
    NamedOperation{"Query", query},
    NamedOperation{"Scan", scan},
    NamedOperation{"TagResource", tag_resource},
    NamedOperation{"TransactGetItems", transact_get_items},
    NamedOperation{"TransactWriteItems", transact_write_items},
    NamedOperation{"UntagResource", untag_resource},
    NamedOperation{"UpdateItem", update_item},
    NamedOperation{"UpdateTable", update_table},
    NamedOperation{"UpdateTimeToLive", update_time_to_live},
};
static_assert(std::is_sorted(kOperations.begin(), kOperations.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));

// Smaller bodies are not worth the counting.
constexpr std::size_t kUncountedBytes = 16 << 10;

// What a body takes at most while it is decoded, beyond itself: the parser's index and tape for each mark, and a value
// and its name for each colon.  Measured with bodies of the smallest values.
std::size_t decoded_bytes(std::string_view body) {
  constexpr std::size_t kPerMark = 24;
  constexpr std::size_t kPerColon = 120;
  std::size_t commas = 0, colons = 0;
  for (const char c : body) {
    commas += c == ',' ? 1 : 0;
    colons += c == ':' ? 1 : 0;
  }
  return body.size() + kPerMark * commas + kPerColon * colons;
}

}  // namespace

struct Operations::State {
  State(engine::Engine& engine, OperationsOptions options)
      : environment{engine, expressions, std::move(options.region), std::move(options.account_id)} {}

  expr::Cache expressions;
  Environment environment;
};

Operations::Operations(engine::Engine& engine, OperationsOptions options)
    : state_(std::make_unique<State>(engine, std::move(options))) {}

Operations::~Operations() = default;

OperationFunction function_of(std::string_view name) {
  const auto found = std::lower_bound(kOperations.begin(), kOperations.end(), name,
                                      [](const auto& operation, auto wanted) { return operation.name < wanted; });
  return found != kOperations.end() && found->name == name ? found->run : absent_feature(name);
}

bool Operations::knows(std::string_view operation) { return function_of(operation) != nullptr; }

void Operations::call(std::string_view operation, std::string_view padded_body, ReplyCallback reply,
                      CallOptions options) {
  const auto fail = [&](const Error& error) { reply({.outcome = to_fault(error), .table = {}}); };
  const auto run = function_of(operation);
  const auto* shape = input_shape(operation);

  if (padded_body.size() > kUncountedBytes) {
    MemoryClaim values(options.memory, MemoryPart::Values);
    if (!values.resize(decoded_bytes(padded_body))) return fail(out_of_memory());
    // It is held until the reply, because a write waits with what it was decoded to.
    reply = [reply = std::move(reply), values = std::move(values)](Reply answer) mutable { reply(std::move(answer)); };
  }
  thread_local value::JsonParser parser;
  const auto json = parser.parse_padded(padded_body);
  if (!json) {
    // The service does not say what is wrong with the JSON, and looks at it before it looks for the operation.
    return fail(json.error().code == ErrorCode::Serialization ? Error{ErrorCode::Serialization, ""} : json.error());
  }
  if (run == nullptr || shape == nullptr) return fail({ErrorCode::UnknownOperation, ""});
  value::JsonObject object;
  if (!json->get(object)) {
    return fail({ErrorCode::Serialization, "Start of structure or map found where not expected."});
  }
  if (const auto checked = check_request(*shape, *json); !checked) return fail(checked.error());
  run(OperationCall(state_->environment, Request(object), std::move(reply), options));
}

void Operations::run(AnyRequest request, AnyReply reply, const CallOptions& options) {
  run_typed(CallContext(state_->environment, options), std::move(request), std::move(reply));
}

}  // namespace stator::api
