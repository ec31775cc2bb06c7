#include "stator/api/table_settings.h"

#include <fmt/format.h>

namespace stator::api {
namespace {

constexpr std::int64_t kMaxCapacityUnits = 1'000'000'000'000;

engine::StreamView view_of(std::string_view name) {
  for (const auto view : {engine::StreamView::KeysOnly, engine::StreamView::NewImage, engine::StreamView::OldImage}) {
    if (engine::stream_view_name(view) == name) return view;
  }
  return engine::StreamView::NewAndOldImages;
}

}  // namespace

Result<std::optional<engine::Throughput>> read_throughput(const Request& request) {
  const auto object = request.object("ProvisionedThroughput");
  if (!object) return std::optional<engine::Throughput>();
  engine::Throughput throughput{object->integer("ReadCapacityUnits").value_or(0),
                                object->integer("WriteCapacityUnits").value_or(0)};
  if (throughput.read_units > kMaxCapacityUnits) {
    return validation_error(
        fmt::format("Given value {} for ReadCapacityUnits is out of bounds", throughput.read_units));
  }
  if (throughput.write_units > kMaxCapacityUnits) {
    return validation_error(
        fmt::format("Given value {} for WriteCapacityUnits is out of bounds", throughput.write_units));
  }
  return std::optional<engine::Throughput>(throughput);
}

std::optional<engine::OnDemandThroughput> read_on_demand(const Request& request) {
  const auto object = request.object("OnDemandThroughput");
  if (!object) return std::nullopt;
  return engine::OnDemandThroughput{object->integer("MaxReadRequestUnits"), object->integer("MaxWriteRequestUnits")};
}

std::optional<engine::Throughput> read_warm(const Request& request) {
  const auto object = request.object("WarmThroughput");
  if (!object) return std::nullopt;
  return engine::Throughput{object->integer("ReadUnitsPerSecond").value_or(0),
                            object->integer("WriteUnitsPerSecond").value_or(0)};
}

Result<void> apply_stream(const Request& request, engine::Stream& stream) {
  const auto specification = request.object("StreamSpecification");
  if (!specification) return {};
  const bool enable = specification->boolean("StreamEnabled").value_or(false);
  const auto view = specification->string("StreamViewType");
  if (enable && !view) {
    return validation_error(
        "One or more parameter values were invalid: StreamViewType is required when StreamEnabled is true");
  }
  if (!enable && view) {
    return validation_error(
        "One or more parameter values were invalid: StreamViewType cannot be specified when StreamEnabled is false");
  }
  if (enable && stream.enabled) return validation_error("Table already has an enabled stream");
  if (!enable) {
    stream.enabled = false;
    return {};
  }
  stream = {.enabled = true, .view = view_of(*view), .label = {}, .since = {}};
  return {};
}

Result<void> refuse_unsupported(const Request& request, std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    if (request.has(name)) {
      return Error{ErrorCode::Unsupported, fmt::format("{} is not supported", name)};
    }
  }
  return {};
}

}  // namespace stator::api
