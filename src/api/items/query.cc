#include <fmt/format.h>

#include "stator/api/items/page_read.h"
#include "stator/api/json/expressions.h"
#include "stator/value/well_formed.h"

namespace stator::api {
namespace {

// A start key must be one that this query could have ended a page with.
Result<engine::KeyBytes> check_start(const engine::ReadTarget& target, const storage::KeyRange& range,
                                     const expr::KeyCondition& condition, const value::Item& start) {
  if (target.index == nullptr && target.keys().sort.empty()) {
    return validation_error(
        "The provided exclusive start key is invalid: ExclusiveStartKey cannot be used with a Query that "
        "reads at most one item");
  }
  auto key = TRY(engine::start_key(target, start));
  if (range.contains(key)) return key;
  const bool has_range = condition.terms.size() > target.keys().partition.size();
  if (!has_range) {
    return validation_error("The provided starting key is outside query boundaries based on provided conditions");
  }
  // With the partition of the condition, is the rest of the key right?
  value::Item moved = start;
  for (const auto& attribute : target.keys().partition) {
    for (const auto& term : condition.terms) {
      if (term.attribute == attribute.name) moved.set(attribute.name, term.low);
    }
  }
  const auto moved_key = TRY(engine::start_key(target, moved));
  if (range.contains(moved_key)) {
    return validation_error("The query can return at most one row and cannot be restarted");
  }
  return validation_error("The provided starting key does not match the range key predicate");
}

Result<void> check_filter(const engine::ReadTarget& target, const expr::Condition& filter, std::string_view parameter) {
  for (const auto attribute : filter.attributes()) {
    if (target.keys().contains(attribute)) {
      return validation_error(fmt::format("{} can only contain non-primary key attributes: Primary key attribute: {}",
                                          parameter, attribute));
    }
  }
  return {};
}

}  // namespace

Result<QueryRequest> decode(As<QueryRequest>, const JsonMembers& json, expr::Cache& cache) {
  TRY(check_expression_parameters(
      json, {.expressions = {"ProjectionExpression", "FilterExpression", "KeyConditionExpression"},
             .legacy = {"AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions"}}));
  auto start = TRY(decode_start_key(json));
  auto decoded = TRY(decode_page(json, std::move(start), "QueryFilter", cache));
  if (!decoded.key_condition) {
    return validation_error(
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.");
  }
  return QueryRequest{.page = std::move(decoded.page),
                      .condition = std::move(*decoded.key_condition),
                      .ascending = json.boolean("ScanIndexForward").value_or(true)};
}

Result<void> check(const QueryRequest& request) {
  for (const auto& term : request.condition.terms) {
    TRY(value::check_well_formed(term.low));
    TRY(value::check_well_formed(term.high));
  }
  return check_page(request.page);
}

namespace {

struct OpenQuery {
  PageRead read;
  engine::RangeRead range;
};

Result<OpenQuery> open_query(CallContext& call, const QueryRequest& request) {
  const auto& page = request.page;
  OpenQuery query{.read = TRY(open_page(call, page)), .range = {}};
  const auto& target = query.read.target;
  auto& range = query.range;
  range.range = TRY(engine::query_range(target, request.condition));
  if (!request.ascending) range.direction = storage::Direction::Backward;
  if (page.start) range.start_after = TRY(check_start(target, range.range, request.condition, *page.start));
  if (page.filter) {
    TRY(check_filter(target, *page.filter, page.legacy_filter ? "QueryFilter" : "Filter Expression"));
  }
  limit_page(range, page, query.read);
  return query;
}

}  // namespace

Result<storage::ReadWish> wish_of(CallContext& call, const QueryRequest& request) {
  const auto query = TRY(open_query(call, request));
  if (query.read.fetch_from_table) return Error{ErrorCode::Busy, "items are fetched one by one"};
  auto range = engine::rest_of(query.range);
  if (!range.end.empty() && range.begin >= range.end) return Error{ErrorCode::Busy, "there is nothing to read"};
  return storage::ReadWish{.keys = {},
                           .entries = storage::ReadWish::Entries{.range = std::move(range),
                                                                 .direction = query.range.direction,
                                                                 .most = query.range.limit.value_or(UINT64_MAX)}};
}

Result<PageAnswer> run(CallContext& call, const QueryRequest& request) {
  auto query = TRY(open_query(call, request));
  return answer_page(call, request.page, query.read, query.range);
}

}  // namespace stator::api
