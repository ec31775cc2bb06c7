#include <fmt/format.h>

#include "stator/api/expressions.h"
#include "stator/api/page_read.h"

namespace stator::api {
namespace {

struct Segment {
  std::uint32_t number = 0;
  std::uint32_t total = 1;
};

Result<Segment> read_segment(const Request& request) {
  const auto segment = request.integer("Segment");
  const auto total = request.integer("TotalSegments");
  if (segment && !total) {
    return validation_error(
        "The TotalSegments parameter is required but was not present in the request when Segment parameter is present");
  }
  if (total && !segment) {
    return validation_error(
        "The Segment parameter is required but was not present in the request when parameter TotalSegments is present");
  }
  if (!total) return Segment{};
  if (*segment >= *total) {
    return validation_error(fmt::format(
        "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: {} is not "
        "less than TotalSegments: {}",
        *segment, *total));
  }
  return Segment{static_cast<std::uint32_t>(*segment), static_cast<std::uint32_t>(*total)};
}

Result<std::string> run_scan(OperationCall& call) {
  const auto& request = call.request();
  TRY(check_expression_parameters(request, {.expressions = {"ProjectionExpression", "FilterExpression"},
                                            .legacy = {"AttributesToGet", "ScanFilter", "ConditionalOperator"}}));
  const auto start = TRY(exclusive_start_key(request));
  const auto segment = TRY(read_segment(request));
  auto read = TRY(open_page(call, TRY(read_expressions(call, "ScanFilter"))));
  read.range.range = engine::scan_range(read.target, segment.number, segment.total);
  if (start) {
    auto key = TRY(engine::start_key(read.target, *start));
    if (key < read.range.range.begin || (!read.range.range.end.empty() && key >= read.range.range.end)) {
      return validation_error(fmt::format(
          "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with "
          "correct Segment. TotalSegments: {} Segment: {}",
          segment.total, segment.number));
    }
    read.range.start_after = std::move(key);
  }
  return run_page(call, read);
}

}  // namespace

void scan(OperationCall call) { immediate<run_scan>(std::move(call)); }

}  // namespace stator::api
