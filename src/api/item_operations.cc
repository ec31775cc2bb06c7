#include "stator/api/item_operations.h"

#include <array>

#include "stator/api/item_functions.h"

namespace stator::api {
namespace {

// A read that came as JSON.
template <auto decode, typename Run>
void read_json(OperationCall call, Run run) {
  const auto request = decode(call.request(), call.expressions());
  if (!request) return call.fail(request.error());
  auto answer = run(call, *request);
  if (!answer) return call.fail(std::move(answer).error());
  call.succeed(encode(std::move(*answer)));
}

// A write that came as JSON.
template <auto decode, typename Answer, typename Run, typename Encode>
void write_json(OperationCall call, Run run, Encode encode) {
  auto request = decode(call.request(), call.expressions());
  if (!request) return call.fail(request.error());
  auto done = call.answer_as_json<Answer>(encode);
  run(CallContext(std::move(call)), std::move(*request), std::move(done));
}

// Each operation with a request that was made in this process.
struct TypedRun {
  CallContext call;
  AnyReply reply;

  void operator()(GetItemRequest&& request) {
    read(request, [&] { return get_item(call, request); });
  }
  void operator()(QueryRequest&& request) {
    read(request, [&] { return query(call, request); });
  }
  void operator()(ScanRequest&& request) {
    read(request, [&] { return scan(call, request); });
  }
  void operator()(BatchGetItemRequest&& request) {
    read(request, [&] { return batch_get_item(call, request); });
  }
  void operator()(TransactGetItemsRequest&& request) {
    read(request, [&] { return transact_get_items(call, request); });
  }
  void operator()(PutItemRequest&& request) {
    write(std::move(request), [](auto&&... all) { put_item(std::move(all)...); });
  }
  void operator()(UpdateItemRequest&& request) {
    write(std::move(request), [](auto&&... all) { update_item(std::move(all)...); });
  }
  void operator()(DeleteItemRequest&& request) {
    write(std::move(request), [](auto&&... all) { delete_item(std::move(all)...); });
  }
  void operator()(BatchWriteItemRequest&& request) {
    write(std::move(request), [](auto&&... all) { batch_write_item(std::move(all)...); });
  }
  void operator()(TransactWriteItemsRequest&& request) {
    write(std::move(request), [](auto&&... all) { transact_write_items(std::move(all)...); });
  }

 private:
  template <typename Request, typename Run>
  void read(const Request& request, Run run) {
    if (const auto checked = check(request); !checked) return reply(to_fault(checked.error()));
    auto answer = run();
    if (!answer) return reply(as_fault(std::move(answer).error()));
    reply(AnyAnswer(std::move(*answer)));
  }
  template <typename Request, typename Run>
  void write(Request request, Run run) {
    if (const auto checked = check(request); !checked) return reply(to_fault(checked.error()));
    using Answer = typename Request::Answer;
    run(std::move(call), std::move(request),
        Done<Answer>([reply = std::move(reply)](const CallContext&, Result<Answer, Fault> answer) mutable {
          if (!answer) return reply(std::move(answer).error());
          reply(AnyAnswer(std::move(*answer)));
        }));
  }
  static Fault as_fault(const Error& error) { return to_fault(error); }
  static Fault as_fault(Fault fault) { return fault; }
};

}  // namespace

void get_item(OperationCall call) {
  read_json<decode_get_item>(std::move(call), [](auto& c, const auto& request) { return get_item(c, request); });
}
void query(OperationCall call) {
  read_json<decode_query>(std::move(call), [](auto& c, const auto& request) { return query(c, request); });
}
void scan(OperationCall call) {
  read_json<decode_scan>(std::move(call), [](auto& c, const auto& request) { return scan(c, request); });
}
void transact_get_items(OperationCall call) {
  read_json<decode_transact_get_items>(std::move(call),
                                       [](auto& c, const auto& request) { return transact_get_items(c, request); });
}
void batch_get_item(OperationCall call) {
  const auto request = decode_batch_get_item(call.request(), call.expressions());
  if (!request) return call.fail(request.error());
  auto answer = batch_get_item(call, *request);
  if (!answer) return call.fail(answer.error());
  call.succeed(encode(std::move(*answer), call.request()));
}

void put_item(OperationCall call) {
  write_json<decode_put_item, WriteItemAnswer>(
      std::move(call), [](auto&&... all) { put_item(std::move(all)...); },
      [](const WriteItemAnswer& answer) { return encode(answer); });
}
void update_item(OperationCall call) {
  write_json<decode_update_item, WriteItemAnswer>(
      std::move(call), [](auto&&... all) { update_item(std::move(all)...); },
      [](const WriteItemAnswer& answer) { return encode(answer); });
}
void delete_item(OperationCall call) {
  write_json<decode_delete_item, WriteItemAnswer>(
      std::move(call), [](auto&&... all) { delete_item(std::move(all)...); },
      [](const WriteItemAnswer& answer) { return encode(answer); });
}
void batch_write_item(OperationCall call) {
  write_json<decode_batch_write_item, BatchWriteItemAnswer>(
      std::move(call), [](auto&&... all) { batch_write_item(std::move(all)...); }, encode_batch_write_item);
}
void transact_write_items(OperationCall call) {
  write_json<decode_transact_write_items, BatchWriteItemAnswer>(
      std::move(call), [](auto&&... all) { transact_write_items(std::move(all)...); }, encode_transact_write_items);
}

void run_typed(CallContext call, AnyRequest request, AnyReply reply) {
  std::visit(TypedRun{std::move(call), std::move(reply)}, std::move(request));
}

std::string_view operation_name(const AnyRequest& request) {
  constexpr std::array<std::string_view, std::variant_size_v<AnyRequest>> kNames = {
      "GetItem", "PutItem",      "UpdateItem",     "DeleteItem",       "Query",
      "Scan",    "BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems"};
  return kNames[request.index()];
}

}  // namespace stator::api
