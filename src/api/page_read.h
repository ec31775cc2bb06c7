#pragma once

#include <optional>
#include <string>

#include "stator/api/operation.h"
#include "stator/api/request.h"
#include "stator/engine/range_read.h"
#include "stator/expr/binder.h"

// What Query and Scan have in common: a page of items from a table or an index, filtered, cut down and counted.
namespace stator::api {

struct PageRead {
  engine::ReadTarget target;
  engine::RangeRead range;
  std::optional<expr::Condition> filter;
  std::optional<expr::Projection> projection;
  bool count_only = false;        // Select COUNT
  bool fetch_from_table = false;  // a local index lacks what is asked for
  bool consistent = false;
};

// The expressions of a Query or Scan, or the older parameters in their place, bound, and Select checked against them as far
// as no table is needed for that.
struct ReadExpressions {
  std::optional<expr::KeyCondition> key_condition;
  std::optional<expr::Condition> filter;
  std::optional<expr::Projection> projection;
};
Result<ReadExpressions> read_expressions(OperationCall& call, std::string_view legacy_filter_name);

// The table or index to read, with what depends on it checked: consistent reads, Select, projected attributes.
// Errors: Validation, ResourceNotFound.
Result<PageRead> open_page(OperationCall& call, ReadExpressions expressions);

// How many items a page looks at, at most, when its filter compares each of them with the request's own values.
//
// A client chooses both sides of a comparison, and a megabyte holds many small items: without a bound one request could keep a
// thread busy for minutes.  Beyond it the page ends as at a Limit, with a LastEvaluatedKey.  `constants` are the values as JSON,
// `expression_bytes` says how often a text of that length can name them.  Ordinary requests are far below.
std::uint64_t filter_bound(const std::optional<value::JsonElement>& constants, std::size_t expression_bytes);

// Reads the page and answers with it.
Result<std::string> run_page(OperationCall& call, const PageRead& read);

// ExclusiveStartKey, decoded.  Errors: Validation.
Result<std::optional<value::Item>> exclusive_start_key(const Request& request);

}  // namespace stator::api
