#include <fmt/format.h>

#include "stator/api/expressions.h"
#include "stator/api/page_read.h"

namespace stator::api {
namespace {

bool contains(const storage::KeyRange& range, BytesView key) {
  return key >= range.begin && (range.end.empty() || key < range.end);
}

// A start key must be one that this query could have ended a page with.
Result<engine::KeyBytes> check_start(const engine::ReadTarget& target, const storage::KeyRange& range,
                                     const expr::KeyCondition& condition, const value::Item& start) {
  if (target.index == nullptr && target.keys().sort.empty()) {
    return validation_error(
        "The provided exclusive start key is invalid: ExclusiveStartKey cannot be used with a Query that "
        "reads at most one item");
  }
  auto key = TRY(engine::start_key(target, start));
  if (contains(range, key)) return key;
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
  if (contains(range, moved_key)) {
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

Result<std::string> run_query(OperationCall& call) {
  const auto& request = call.request();
  TRY(check_expression_parameters(
      request, {.expressions = {"ProjectionExpression", "FilterExpression", "KeyConditionExpression"},
                .legacy = {"AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions"}}));
  const auto start = TRY(exclusive_start_key(request));
  auto expressions = TRY(read_expressions(call, "QueryFilter"));
  if (!expressions.key_condition) {
    return validation_error(
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.");
  }
  const expr::KeyCondition condition = *expressions.key_condition;
  auto read = TRY(open_page(call, std::move(expressions)));
  read.range.range = TRY(engine::query_range(read.target, condition));
  if (!request.boolean("ScanIndexForward").value_or(true)) read.range.direction = storage::Direction::Backward;
  if (start) read.range.start_after = TRY(check_start(read.target, read.range.range, condition, *start));
  if (read.filter) {
    TRY(check_filter(read.target, *read.filter, request.has("QueryFilter") ? "QueryFilter" : "Filter Expression"));
  }
  return run_page(call, read);
}

}  // namespace

void query(OperationCall call) { immediate<run_query>(std::move(call)); }

}  // namespace stator::api
