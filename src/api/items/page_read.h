#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "stator/api/functions.h"
#include "stator/engine/range_read.h"

// Shared by Query, Scan and SELECT: a page of items from a table or an index, filtered and counted.
namespace stator::api {

// The table or index that a page is read from, and the filter.
struct PageRead {
  engine::ReadTarget target;
  std::optional<expr::Condition> filter;
  bool fetch_from_table = false;  // a local index lacks a requested attribute
  bool consistent = false;
};

// Reads pages and hands on the items that pass the filter.  Confined to one request.
class PageReader {
 public:
  // Takes an item.  `item` has its attributes, which the sink may take, if they had to be read, else null.  Errors end
  // the page.
  using Sink = std::function<Result<void>(const value::StoredItemView& stored, value::Item* item)>;

  // All outlive the reader.  `parse`: the sink wants the attributes of each item.
  PageReader(const PageRead& read, const storage::Snapshot& snapshot, Sink sink, bool parse);

  Result<engine::RangePage> read(const engine::RangeRead& range);
  // One item, from the table.
  Result<void> read(const value::StoredItemView& stored);

  // The cost of fetching from the table.
  double fetched_units() const { return fetched_units_; }

 private:
  Result<std::size_t> add(const value::StoredItemView& stored);
  Result<void> take(const value::StoredItemView& stored);

  const PageRead& read_;
  const storage::Snapshot& snapshot_;
  Sink sink_;
  bool parse_;
  double fetched_units_ = 0;
};

// Whether an index lacks one of the attributes, so that they are fetched from the table.  Errors: Validation, of a
// global index, from which nothing is fetched.
Result<bool> needs_table(const engine::ReadTarget& target, const std::vector<std::string_view>& attributes);

// Tells a call how its answer grows, in steps: most answers are smaller than the first and cost nothing.
class AnswerGrowth {
 public:
  explicit AnswerGrowth(CallContext& call) : call_(call) {}  // outlives it

  // The answer has that many bytes.  Errors: CallContext::answer_grows().
  Result<void> check(std::size_t bytes) {
    if (bytes < next_) return {};
    next_ = bytes + kStep;
    return call_.answer_grows(bytes);
  }

 private:
  static constexpr std::size_t kStep = 64 << 10;
  CallContext& call_;
  std::size_t next_ = kStep;
};

// How many items a page looks at, at most, when its filter compares each of them with the request's own values.
//
// A client chooses both sides of a comparison, and a megabyte holds many small items: without a bound one request could
// keep a thread busy for minutes.  Beyond it the page ends as at a Limit, with a LastEvaluatedKey.  Ordinary requests
// are far below.
std::uint64_t filter_bound(const expr::Condition& filter);

// The parameters that Query and Scan share, with the key conditions of a Query.  Errors: Validation.
struct DecodedPage {
  PageRequest page;
  std::optional<expr::KeyCondition> key_condition;
};
Result<DecodedPage> decode_page(const JsonMembers& json, std::optional<value::Item> start,
                                std::string_view legacy_filter, expr::Cache& cache);
// ExclusiveStartKey.  Errors: Validation.
Result<std::optional<value::Item>> decode_start_key(const JsonMembers& json);
// The checks that decoding makes for JSON.  Errors: Validation.
Result<void> check_page(const PageRequest& page);

// The table or index to read. Checks the parameters that depend on it: consistent reads, Select, projected attributes.
// Errors: Validation, ResourceNotFound.
Result<PageRead> open_page(CallContext& call, const PageRequest& page);
// How many items the page looks at.
void limit_page(engine::RangeRead& range, const PageRequest& page, const PageRead& read);
// Reads the range, which has its limit, and answers with it.
Result<PageAnswer> answer_page(CallContext& call, const PageRequest& page, const PageRead& read,
                               const engine::RangeRead& range);

}  // namespace stator::api
