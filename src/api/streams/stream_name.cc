#include "stator/api/streams/stream_name.h"

#include <fmt/format.h>

#include "stator/api/tables/table_name.h"

namespace stator::api {

std::string stream_arn(const Environment& environment, const engine::Table& table) {
  return fmt::format("{}/stream/{}", table_arn(environment, table.name), table.stream.label);
}

Result<StreamName> parse_stream_arn(std::string_view arn) {
  static constexpr std::string_view kTable = ":table/";
  static constexpr std::string_view kStream = "/stream/";
  const auto table_at = arn.find(kTable);
  const auto stream_at = arn.find(kStream, table_at == std::string_view::npos ? 0 : table_at);
  if (!arn.starts_with("arn:") || table_at == std::string_view::npos || stream_at == std::string_view::npos) {
    return validation_error("Invalid StreamArn");
  }
  const auto name_at = table_at + kTable.size();
  const StreamName name{arn.substr(name_at, stream_at - name_at), arn.substr(stream_at + kStream.size())};
  if (name.table.empty() || name.label.empty()) return validation_error("Invalid StreamArn");
  return name;
}

Result<engine::StreamState> find_stream(CallContext& call, const storage::Snapshot& snapshot, std::string_view arn) {
  const auto name = TRY(parse_stream_arn(arn));
  auto stream = TRY(engine::read_stream(snapshot, call.engine().change_partitions(), name.table, name.label));
  if (!stream) {
    return Error{ErrorCode::ResourceNotFound, fmt::format("Requested resource not found: Stream: {} not found", arn)};
  }
  call.about_table(stream->table.name);
  return std::move(*stream);
}

}  // namespace stator::api
