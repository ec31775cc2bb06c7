#include "stator/api/json/stream_fields.h"
#include "stator/value/json.h"

namespace stator::api {

std::string encode(StreamRecord record) { return fields_to_json(record); }

StreamRecord decode_stream_record(std::string_view json) {
  value::JsonParser parser;
  StreamRecord record;
  const auto root = parser.parse(json);
  if (!root || !read_fields(JsonMembers(root->object()), record)) record.unreadable = json;
  return record;
}

}  // namespace stator::api
