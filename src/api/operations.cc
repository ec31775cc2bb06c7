#include "stator/api/operations.h"

#include <algorithm>
#include <array>

#include "stator/api/absent_features.h"
#include "stator/api/current_catalog.h"
#include "stator/api/json/request_check.h"
#include "stator/api/json/shape.h"
#include "stator/api/json/statement_fields.h"
#include "stator/api/json/stream_fields.h"
#include "stator/api/json/table_fields.h"
#include "stator/api/measuring.h"
#include "stator/api/operation.h"
#include "stator/value/plain_text.h"

namespace stator::api {
namespace {

template <typename Asked>
Result<Asked> decode_any(const OperationCall& call) {
  if constexpr (requires { decode(As<Asked>(), call.request(), call.expressions()); }) {
    return decode(As<Asked>(), call.request(), call.expressions());
  } else {
    Asked request;
    TRY(read_fields(call.request(), request));
    return request;
  }
}

template <typename Answer>
std::string encode_any(Answer&& answer) {
  if constexpr (std::same_as<Answer, ChangedTagsAnswer>) {
    return {};  // nothing at all, as the service answers
  } else if constexpr (requires { encode(std::move(answer)); }) {
    return encode(std::move(answer));
  } else {
    return fields_to_json(answer);
  }
}

// The measuring of a call; none: its capacity is not needed.
using CallMeasuring = std::optional<Measuring>;

template <typename Answer>
void take_capacity(const CallMeasuring& measuring, CallContext& call, Answer& answer) {
  if (!measuring) return;
  if constexpr (requires { answer.capacity; }) call.has_consumed(measuring->take(answer).value_or(0));
}

// Runs an operation on values that were read ahead.  If anything is wrong, for example because another process has
// changed the table, the operation is repeated where it may wait.
template <typename Asked>
void run_ahead(OperationCall call, Asked request, CallMeasuring measuring) {
  auto wish = wish_of(call, request);
  if (!wish) return call.end_put_off();
  auto* const reader = call.reader();
  reader->read(std::move(*wish), [call = std::move(call), request = std::move(request),
                                  measuring](Result<storage::ReadAhead> read) mutable {
    if (!read) return call.end_put_off();
    call.use(*read);
    auto answer = run(call, request);
    if (!answer || call.engine().epoch() != read->epoch()) return call.end_put_off();
    if constexpr (requires { answer->unprocessed; }) {
      if (!answer->unprocessed.empty()) return call.end_put_off();
    }
    take_capacity(measuring, call, *answer);
    call.succeed(encode(std::move(*answer)));
  });
}

// A request that came as JSON.
template <typename Asked>
void run_json(OperationCall call) {
  using Answer = typename Asked::Answer;
  auto request = decode_any<Asked>(call);
  if (!request) return call.fail(request.error());
  CallMeasuring measuring;
  if (call.measures()) measuring.emplace(*request, CapacityDetail::Total);
  if constexpr (requires { wish_of(call, *request); }) {
    if (call.reader() != nullptr) return run_ahead(std::move(call), std::move(*request), measuring);
  }
  if constexpr (requires { run(call, *request); }) {
    auto answer = run_on_current(call, *request);
    if (!answer) return call.fail(std::move(answer).error());
    take_capacity(measuring, call, *answer);
    if constexpr (std::same_as<Answer, BatchGetItemAnswer>) {
      call.succeed(encode(std::move(*answer), call.request()));
    } else {
      call.succeed(encode_any(std::move(*answer)));
    }
  } else {
    auto done = call.answer_as_json<Answer>([measuring](CallContext& context, Answer&& answer) {
      take_capacity(measuring, context, answer);
      return encode_any(std::move(answer));
    });
    run_on_current(CallContext(std::move(call)), std::move(*request), std::move(done));
  }
}

// A request that was made in this process.
struct TypedRun {
  CallContext call;
  AnyReplyCallback reply;

  template <typename Asked>
  void operator()(Asked&& request) {
    using Answer = typename Asked::Answer;
    if (const auto checked = check(request); !checked) return reply(to_fault(checked.error()));
    if constexpr (requires { run(call, request); }) {
      auto answer = run_on_current(call, request);
      if (!answer) return reply(as_fault(std::move(answer).error()));
      reply(AnyAnswer(std::move(*answer)));
    } else {
      run_on_current(std::move(call), std::forward<Asked>(request),
                     Done<Answer>([reply = std::move(reply)](const CallContext&, Result<Answer, Fault> answer) mutable {
                       if (!answer) return reply(std::move(answer).error());
                       reply(AnyAnswer(std::move(*answer)));
                     }));
    }
  }

 private:
  static Fault as_fault(const Error& error) { return to_fault(error); }
  static Fault as_fault(Fault fault) { return fault; }
};

struct NamedOperation {
  std::string_view name;
  OperationFunction run;
};

template <std::size_t... kIndexes>
constexpr auto named_operations(std::index_sequence<kIndexes...>) {
  std::array operations = {
      NamedOperation{kOperationNames[kIndexes], run_json<std::variant_alternative_t<kIndexes, AnyRequest>>}...};
  std::ranges::sort(operations, {}, &NamedOperation::name);
  return operations;
}
constexpr auto kOperations = named_operations(std::make_index_sequence<std::variant_size_v<AnyRequest>>());

// Smaller bodies are not worth the counting.
constexpr std::size_t kUncountedBytes = 16 << 10;

// The most memory that a body takes while it is decoded, including the body: the parser's index and tape for each mark,
// and a value and its name for each colon.  Measured with bodies of the smallest values.
std::size_t decoded_bytes(std::string_view body) {
  constexpr std::size_t kPerMark = 24;
  constexpr std::size_t kPerColon = 120;
  return body.size() + kPerMark * value::count_bytes(body, ',') + kPerColon * value::count_bytes(body, ':');
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
  const auto found = std::ranges::lower_bound(kOperations, name, {}, &NamedOperation::name);
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
  if (!json->is_object()) {
    return fail({ErrorCode::Serialization, "Start of structure or map found where not expected."});
  }
  if (const auto checked = check_request(*shape, *json); !checked) return fail(checked.error());
  auto& engine = state_->environment.engine;
  if (engine.is_shared() && run == absent_feature(operation)) {
    ignore_error(engine.catch_up(), "the operation looks for tables in the catalog as it is known");
  }
  run(OperationCall(state_->environment, JsonMembers(json->object()), std::move(reply), options));
}

void Operations::run(AnyRequest request, AnyReplyCallback reply, const CallOptions& options) {
  std::visit(TypedRun{CallContext(state_->environment, options, true), std::move(reply)}, std::move(request));
}

std::string Operations::encode(AnyAnswer answer) {
  return std::visit([](auto&& one) { return encode_any(std::forward<decltype(one)>(one)); }, std::move(answer));
}

}  // namespace stator::api
