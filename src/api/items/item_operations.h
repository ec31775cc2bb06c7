#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stator/api/answer_item.h"
#include "stator/expr/condition.h"
#include "stator/expr/key_condition.h"
#include "stator/expr/projection.h"
#include "stator/expr/update.h"
#include "stator/value/attribute_value.h"

// The operations on items as types: requests and answers.  A request holds expressions that are bound: text and
// placeholders exist on a wire only.  Names of tables may be ARNs. An absent member means the same as in DynamoDB.
namespace stator::api {

enum class ReturnValues : std::uint8_t { None, AllOld, UpdatedOld, AllNew, UpdatedNew };
enum class Selection : std::uint8_t { Unset, AllAttributes, AllProjectedAttributes, SpecificAttributes, Count };

enum class CapacityDetail : std::uint8_t { None, Total, Indexes };
// A transaction costs twice as much of the table, but not of its indexes, and says which kind of unit it was.
enum class CapacityKind : std::uint8_t { Plain, TransactionalRead, TransactionalWrite };

// The capacity that a request consumed of one table.
struct ConsumedCapacity {
  struct Breakdown {
    double table = 0;
    std::vector<std::pair<std::string, double>> local_indexes, global_indexes;
  };
  std::string table;
  CapacityKind kind = CapacityKind::Plain;
  double units = 0;                // of the table and its indexes
  std::optional<Breakdown> parts;  // when they were asked for
};

// The size of the items with one partition key, in a table with local indexes.
struct ItemCollectionMetrics {
  value::Item key;
  double least_gigabytes = 0, most_gigabytes = 0;
};

struct GetItemAnswer {
  std::optional<AnswerItem> item;
  std::optional<ConsumedCapacity> capacity;
};
struct GetItemRequest {
  using Answer = GetItemAnswer;
  std::string table;
  value::Item key;
  std::optional<expr::Projection> projection = {};
  bool consistent = false;
  CapacityDetail capacity = CapacityDetail::None;
};

// Of PutItem, UpdateItem and DeleteItem.
struct WriteItemAnswer {
  std::optional<AnswerItem> attributes;
  std::optional<ConsumedCapacity> capacity;
  std::optional<ItemCollectionMetrics> collection;
};
// Reports that the answer to a write contains beside its attributes.
struct WriteReports {
  CapacityDetail capacity = CapacityDetail::None;
  bool collection_metrics = false;
};
struct PutItemRequest {
  using Answer = WriteItemAnswer;
  std::string table;
  value::Item item;
  std::optional<expr::Condition> condition = {};
  ReturnValues return_values = ReturnValues::None;
  bool return_item_on_failure = false;  // a fault tells the item that broke the condition
  WriteReports reports = {};
};
struct UpdateItemRequest {
  using Answer = WriteItemAnswer;
  std::string table;
  value::Item key;
  std::optional<expr::Update> update = {};  // without one it makes sure that the item exists
  std::optional<expr::Condition> condition = {};
  ReturnValues return_values = ReturnValues::None;
  bool return_item_on_failure = false;
  WriteReports reports = {};
  bool legacy = false;  // given as AttributeUpdates, whose error has its own text
};
struct DeleteItemRequest {
  using Answer = WriteItemAnswer;
  std::string table;
  value::Item key;
  std::optional<expr::Condition> condition = {};
  ReturnValues return_values = ReturnValues::None;
  bool return_item_on_failure = false;
  WriteReports reports = {};
};

// Of Query and Scan.
struct PageAnswer {
  AnswerItems items;
  bool with_items = true;  // false: they were only counted
  std::uint64_t count = 0, scanned = 0;
  std::optional<value::Item> last_key;  // there is more behind it
  std::optional<ConsumedCapacity> capacity;
};
// Members that Query and Scan have in common.
struct PageRequest {
  std::string table;
  std::optional<std::string> index = {};
  std::optional<expr::Condition> filter = {};
  bool legacy_filter = false;  // given as QueryFilter or ScanFilter; errors name these
  std::optional<expr::Projection> projection = {};
  Selection select = Selection::Unset;
  bool consistent = false;
  std::optional<std::uint64_t> limit = {};
  std::optional<value::Item> start = {};  // ExclusiveStartKey
  CapacityDetail capacity = CapacityDetail::None;
};
struct QueryRequest {
  using Answer = PageAnswer;
  PageRequest page;
  expr::KeyCondition condition;
  bool ascending = true;
};
struct ScanRequest {
  using Answer = PageAnswer;
  PageRequest page;
  std::uint32_t segment = 0, segments = 1;
};

// Maps from tables to their part of a request or an answer keep the request's order.
struct TableKeys {
  std::string table;
  std::vector<value::Item> keys;
  std::optional<expr::Projection> projection = {};
  bool consistent = false;
};
struct BatchGetItemAnswer {
  struct TableItems {
    std::string table;
    AnswerItems items;
  };
  std::vector<TableItems> responses;
  std::vector<TableKeys> unprocessed;
  std::vector<ConsumedCapacity> capacity;
};
struct BatchGetItemRequest {
  using Answer = BatchGetItemAnswer;
  std::vector<TableKeys> tables;
  CapacityDetail capacity = CapacityDetail::None;
};

struct TableWrites {
  struct Write {
    bool is_put = true;
    value::Item item;  // a delete: its key
  };
  std::string table;
  std::vector<Write> writes;
};
// Members that the answers to several writes have in common.
struct SeveralWritesAnswer {
  std::vector<ConsumedCapacity> capacity;
  std::vector<std::pair<std::string, std::vector<ItemCollectionMetrics>>> collections;  // by table
};
struct BatchWriteItemAnswer : SeveralWritesAnswer {
  std::vector<TableWrites> unprocessed = {};  // of a remote endpoint: send them again.  In process there are none.
};
struct BatchWriteItemRequest {
  using Answer = BatchWriteItemAnswer;
  std::vector<TableWrites> tables;
  WriteReports reports = {};
};

struct TransactGetItemsAnswer {
  std::vector<std::optional<AnswerItem>> items;
  std::vector<ConsumedCapacity> capacity;
};
struct TransactGetItemsRequest {
  using Answer = TransactGetItemsAnswer;
  struct Get {
    std::string table;
    value::Item key;
    std::optional<expr::Projection> projection = {};
  };
  std::vector<Get> gets;
  CapacityDetail capacity = CapacityDetail::None;
};

struct TransactWriteItemsAnswer : SeveralWritesAnswer {};
struct TransactWriteItem {
  enum class Kind : std::uint8_t { Put, Update, Delete, Check };
  Kind kind = Kind::Put;
  std::string table;
  value::Item item;                               // Put: the whole item; otherwise its key
  std::optional<expr::Update> update = {};        // Update needs one
  std::optional<expr::Condition> condition = {};  // Check needs one
  bool return_item_on_failure = false;
};
// A repetition of a transaction with the same token does nothing.
struct ClientRequestToken {
  std::string text;  // 1 to 36 characters
  // A hash of the requested writes.  The same token with another fingerprint is refused; with the same fingerprint it
  // is a repetition.  If absent, it is computed from the request.
  std::optional<std::uint64_t> fingerprint = {};
};
struct TransactWriteItemsRequest {
  using Answer = TransactWriteItemsAnswer;
  std::vector<TransactWriteItem> items;
  std::optional<ClientRequestToken> token = {};
  WriteReports reports = {};
};

}  // namespace stator::api
