#include <algorithm>
#include <tuple>

#include "stator/api/functions.h"
#include "stator/api/streams/stream_name.h"
#include "stator/api/typed_check.h"

namespace stator::api {
namespace {

constexpr std::int64_t kMaxStreams = 100;

}  // namespace

Result<void> check(const ListStreamsRequest& request) { return check_limit("ListStreams", request.limit); }

// The newest stream comes first, so that of a table's streams the one in use does.
Result<ListStreamsAnswer> run(CallContext& call, const ListStreamsRequest& request) {
  const auto snapshot = call.engine().snapshot();
  const auto streams = TRY(engine::list_streams(*snapshot, request.table));
  auto next = streams.begin();
  if (request.after) {
    // Found by its place in the order: it may have gone since.
    const auto name = TRY(parse_stream_arn(*request.after));
    next = std::find_if(streams.begin(), streams.end(), [&](const engine::Table& table) {
      return std::tuple<std::string_view, std::string_view>(table.stream.label, table.name) <
             std::tie(name.label, name.table);
    });
  }
  const auto end = next + std::min<std::ptrdiff_t>(request.limit.value_or(kMaxStreams), streams.end() - next);
  ListStreamsAnswer answer;
  for (auto stream = next; stream != end; ++stream) {
    answer.streams.push_back(
        {.arn = stream_arn(call.environment(), *stream), .table = stream->name, .label = stream->stream.label});
  }
  if (end != streams.end()) answer.last_arn = stream_arn(call.environment(), *(end - 1));
  return answer;
}

}  // namespace stator::api
