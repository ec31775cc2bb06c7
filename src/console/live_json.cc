#include "stator/console/live_json.h"

#include "stator/console/time_text.h"
#include "stator/value/json.h"

namespace stator::console {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // of an answer, and one more request

void write_request(value::JsonWriter& json, const LiveRequest& request, bool with_body) {
  const auto size = [](std::size_t number) { return static_cast<std::int64_t>(number); };
  json.begin_object().key("id").integer(static_cast<std::int64_t>(request.id)).key("at").string(time_text(request.at));
  json.key("operation").string(request.operation).key("table").string(request.table);
  json.key("status").integer(request.status);
  if (!request.error.empty()) json.key("error").string(request.error);
  json.key("micros").integer(request.took.count()).key("requestBytes").integer(size(request.request_bytes));
  json.key("responseBytes").integer(size(request.response_bytes)).key("capacity");
  if (request.capacity) {
    json.real(*request.capacity);
  } else {
    json.null();
  }
  json.key("partition");
  if (request.partitions.empty()) {
    json.null();
  } else {
    json.string(request.partitions.front().key);
  }
  if (with_body) json.key("body").string(request.body).key("cut").boolean(request.cut);
  json.end_object();
}

}  // namespace

std::string live_json(const LiveRequests::News& news, bool with_bodies) {
  std::string out;
  value::JsonWriter json(out);
  auto cursor = news.cursor;
  json.begin_object().key("dropped").integer(static_cast<std::int64_t>(news.dropped)).key("requests").begin_array();
  for (const auto& request : news.requests) {
    write_request(json, request, with_bodies);
    cursor = request.id;
    if (out.size() > kMostBytes) break;  // the next answer goes on behind this one
  }
  json.end_array().key("cursor").integer(static_cast<std::int64_t>(cursor)).end_object();
  return out;
}

}  // namespace stator::console
