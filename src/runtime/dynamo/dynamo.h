#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/client/client.h"
#include "stator/model/model.h"
#include "stator/runtime/problem.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

using api::QueryRequest;
using api::ScanRequest;
using RowWrite = api::TransactWriteItem;

// Why one write of a refused transaction did not go through.
struct Refusal {
  enum class Cause : std::uint8_t {
    None,        // this write was not the reason
    Condition,   // its condition did not hold
    Contention,  // another transaction was at the same item
  };
  Cause cause = Cause::None;
  std::optional<value::Item> item;  // Condition: the item as it is, when there is one
};

// The outcome of a write or a transaction.  `refusals` is empty when it was written; otherwise it has one per write.
struct RowWriteOutcome {
  std::vector<Refusal> refusals;
  bool written() const { return refusals.empty(); }
};

struct ItemPage {
  std::vector<value::Item> items;
  std::optional<value::Item> last_key;  // there is more behind it
};

// For the rows of one partition of the table or an index (null: the table), strongly consistent where that is possible.
QueryRequest partition_query(const model::TableDesign& table, const model::IndexDesign* index,
                             const value::Item& partition, unsigned limit);

// A table as DescribeTable tells it, in the model's words: no types or rules, only the parts that can be compared.
struct TableState {
  std::string arn;
  std::string status;        // "ACTIVE"
  model::TableDesign table;  // name, keys, indexes, stream view
  std::vector<std::string> index_status;
  std::optional<std::string> stream_arn;
};

// DynamoDB's operations as blocking calls with types.
//
// A fault becomes a Problem: throttling is Busy, an endpoint that cannot be reached or failed is Unavailable, an item
// that is too large is TooLarge, and a request that the database finds invalid is Invalid.  A false condition is no
// problem but an answer.  Thread-safe.
class Dynamo {
 public:
  // All outlive it.
  Dynamo(client::Client& client, Random& random, const Clock& clock)
      : client_(client), random_(random), clock_(clock) {}

  client::Client& client() const { return client_; }
  const Clock& clock() const { return clock_; }

  Result<std::optional<value::Item>, Problem> get(std::string_view table, const value::Item& key,
                                                  bool consistent = true);
  // Any number of keys, each once; items that are not there are left out.  In no particular order.  `attributes`: only
  // these are read; empty: all.
  Result<std::vector<value::Item>, Problem> batch_get(std::string_view table, const std::vector<value::Item>& keys,
                                                      bool consistent = true,
                                                      const std::vector<std::string>& attributes = {});
  Result<ItemPage, Problem> query(QueryRequest request);
  // Shows `look_at` all rows of a table, from behind `start` on.  `after_page` hears after each page how many these are
  // and the key of the last one, which is empty at the end; false stops the scan.  Returns whether it came to the end.
  Result<bool, Problem> scan(std::string_view table, const std::optional<value::Item>& start,
                             const std::function<Result<void, Problem>(const value::Item& row)>& look_at,
                             const std::function<bool(std::uint64_t rows, const value::Item& last)>& after_page);

  // One conditional write.  Not for Check.  A refusal tells the item that it found.
  Result<RowWriteOutcome, Problem> write(RowWrite write);
  // All or none, 1 to 100 of them, on different items.  A remote client gives them a token, so that a repeated request
  // is carried out once.
  Result<RowWriteOutcome, Problem> transact(std::vector<RowWrite> writes);

  // nullopt: there is no such table.
  Result<std::optional<TableState>, Problem> describe_table(std::string_view table);
  // Also succeeds when another program has just created the table.
  Result<void, Problem> create_table(const model::TableDesign& table);
  // Begins to build, or to drop, a global index; describe_table tells when it is done.  `table` defines the index's
  // attributes.
  Result<void, Problem> create_index(const model::TableDesign& table, const model::IndexDesign& index);
  Result<void, Problem> drop_index(std::string_view table, std::string_view index);
  // Ends the table's stream (None), or begins one where there is none; describe_table tells when it is done.
  Result<void, Problem> change_stream(std::string_view table, model::StreamView view);
  // The attribute of the table's TTL, when it is on.
  Result<std::optional<std::string>, Problem> describe_ttl(std::string_view table);
  Result<void, Problem> enable_ttl(std::string_view table, std::string_view attribute);

 private:
  template <typename Request>
  Result<typename Request::Answer, Problem> ask(Request request);

  client::Client& client_;
  Random& random_;
  const Clock& clock_;
};

// "new_and_old_images" and the like, as models say it.
std::string_view stream_name(model::StreamView view);

// Waits before try number `attempt` (from 1) of something that lost a race: longer each time, and never in step with
// others.
void back_off(unsigned attempt, Random& random, const Clock& clock);

}  // namespace stator::runtime
