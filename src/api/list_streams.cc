#include <algorithm>
#include <tuple>

#include "stator/api/stream_name.h"

namespace stator::api {
namespace {

constexpr std::int64_t kMaxStreams = 100;

// The newest stream comes first, so that of a table's streams the one in use does.
Result<std::string> run_list_streams(OperationCall& call) {
  const auto& request = call.request();
  const auto snapshot = call.engine().snapshot();
  const auto streams = TRY(engine::list_streams(*snapshot, request.string("TableName")));
  auto next = streams.begin();
  if (const auto start = request.string("ExclusiveStartStreamArn")) {
    // Found by its place in the order: it may have gone since.
    const auto name = TRY(parse_stream_arn(*start));
    next = std::find_if(streams.begin(), streams.end(), [&](const engine::Table& table) {
      return std::tuple<std::string_view, std::string_view>(table.stream.label, table.name) <
             std::tie(name.label, name.table);
    });
  }
  const auto limit = request.integer("Limit").value_or(kMaxStreams);
  const auto end = next + std::min<std::ptrdiff_t>(limit, streams.end() - next);

  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("Streams").begin_array();
  for (auto stream = next; stream != end; ++stream) {
    json.begin_object().key("StreamArn").string(stream_arn(call.environment(), *stream));
    json.key("TableName").string(stream->name).key("StreamLabel").string(stream->stream.label).end_object();
  }
  json.end_array();
  if (end != streams.end()) json.key("LastEvaluatedStreamArn").string(stream_arn(call.environment(), *(end - 1)));
  json.end_object();
  return body;
}

}  // namespace

void list_streams(OperationCall call) { immediate<run_list_streams>(std::move(call)); }

}  // namespace stator::api
