#include <fmt/format.h>

#include "stator/api/items/page_read.h"
#include "stator/api/json/expressions.h"

namespace stator::api {
namespace {

struct Segment {
  std::uint32_t number = 0;
  std::uint32_t total = 1;
};

Result<void> check_segment(std::int64_t segment, std::int64_t total) {
  if (segment < total) return {};
  return validation_error(fmt::format(
      "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: {} is not "
      "less than TotalSegments: {}",
      segment, total));
}

Result<Segment> decode_segment(const JsonMembers& json) {
  const auto segment = json.integer("Segment");
  const auto total = json.integer("TotalSegments");
  if (segment && !total) {
    return validation_error(
        "The TotalSegments parameter is required but was not present in the request when Segment parameter is present");
  }
  if (total && !segment) {
    return validation_error(
        "The Segment parameter is required but was not present in the request when parameter TotalSegments is present");
  }
  if (!total) return Segment{};
  TRY(check_segment(*segment, *total));
  return Segment{static_cast<std::uint32_t>(*segment), static_cast<std::uint32_t>(*total)};
}

}  // namespace

Result<ScanRequest> decode(As<ScanRequest>, const JsonMembers& json, expr::Cache& cache) {
  TRY(check_expression_parameters(json, {.expressions = {"ProjectionExpression", "FilterExpression"},
                                         .legacy = {"AttributesToGet", "ScanFilter", "ConditionalOperator"}}));
  auto start = TRY(decode_start_key(json));
  const auto segment = TRY(decode_segment(json));
  auto decoded = TRY(decode_page(json, std::move(start), "ScanFilter", cache));
  return ScanRequest{.page = std::move(decoded.page), .segment = segment.number, .segments = segment.total};
}

Result<void> check(const ScanRequest& request) {
  TRY(check_segment(request.segment, request.segments));
  return check_page(request.page);
}

Result<PageAnswer> run(CallContext& call, const ScanRequest& request) {
  const auto read = TRY(open_page(call, request.page));
  engine::RangeRead range;
  range.range = engine::scan_range(read.target, request.segment, request.segments);
  if (request.page.start) {
    auto key = TRY(engine::start_key(read.target, *request.page.start));
    if (!range.range.contains(key)) {
      return validation_error(fmt::format(
          "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with "
          "correct Segment. TotalSegments: {} Segment: {}",
          request.segments, request.segment));
    }
    range.start_after = std::move(key);
  }
  limit_page(range, request.page, read);
  return answer_page(call, request.page, read, range);
}

}  // namespace stator::api
