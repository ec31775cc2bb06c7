#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "stator/model/model.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/repository.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// Reads one page from several queries at once (the shards of a pattern) in the order of their sort key.
//
// Rows are taken one by one, and the page can end after any of them: nothing is left out and nothing comes twice.  A
// page takes a bounded number of requests; when these are used up it ends early, and says where.  Confined to one
// request.
class OrderedRead {
 public:
  struct Accepted {
    const model::Entity* entity;
    value::Item attributes;
  };
  // Converts a row for the answer; nothing if it is no part of the answer.
  using Accept = std::function<Result<std::optional<Accepted>, Problem>(value::Item row)>;

  // `requests` differ in their partition only.  `index` is null for the table.  Problems: Invalid, when `start` is not
  // the end of a page of as many shards.
  static Result<OrderedRead, Problem> begin(Dynamo& dynamo, const model::TableDesign& table,
                                            const model::IndexDesign* index, std::vector<QueryRequest> requests,
                                            const std::optional<PageEnd>& start, Accept accept);

  // Up to `limit` rows, and where to go on, if there is more.  Once.
  struct Rows {
    std::vector<Accepted> rows;
    std::optional<PageEnd> next;
  };
  Result<Rows, Problem> read(unsigned limit);

 private:
  struct Read {
    value::Item position;  // the key that a request would go on from behind this row
    Accepted accepted;
  };
  struct Shard {
    QueryRequest request;             // its start is where the next request begins
    std::optional<value::Item> last;  // where the page has come to
    std::deque<Read> rows;            // read, accepted and not taken
    bool ended = false;               // there is nothing behind `rows`
  };

  OrderedRead(Dynamo& dynamo, const model::TableDesign& table, const model::IndexDesign* index, Accept accept);

  Result<bool, Problem> fill(Shard& shard, unsigned missing);
  Shard* next_shard();
  bool before(const Read& a, const Read& b, bool ascending) const;
  value::Item position_of(const value::Item& row) const;
  std::optional<PageEnd> end() const;

  Dynamo& dynamo_;
  const model::TableDesign& table_;
  const model::IndexDesign* index_;
  Accept accept_;
  std::vector<Shard> shards_;
  unsigned requests_left_ = 0;
};

}  // namespace stator::runtime
