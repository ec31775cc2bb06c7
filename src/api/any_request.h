#pragma once

#include <array>
#include <string_view>
#include <variant>

#include "stator/api/fault.h"
#include "stator/api/items/item_operations.h"
#include "stator/api/partiql/statement_operations.h"
#include "stator/api/streams/stream_operations.h"
#include "stator/api/tables/table_operations.h"
#include "stator/base/result.h"
#include "stator/base/unique_function.h"

// The operations that Stator carries out, each as a type. Operations of features that Stator does not have are known on
// the wire only: absent_features.h.
namespace stator::api {

using AnyRequest =
    std::variant<GetItemRequest, PutItemRequest, UpdateItemRequest, DeleteItemRequest, QueryRequest, ScanRequest,
                 BatchGetItemRequest, BatchWriteItemRequest, TransactGetItemsRequest, TransactWriteItemsRequest,
                 ExecuteStatementRequest, BatchExecuteStatementRequest, ExecuteTransactionRequest, CreateTableRequest,
                 UpdateTableRequest, DeleteTableRequest, DescribeTableRequest, ListTablesRequest,
                 UpdateTimeToLiveRequest, DescribeTimeToLiveRequest, TagResourceRequest, UntagResourceRequest,
                 ListTagsOfResourceRequest, DescribeLimitsRequest, DescribeEndpointsRequest, ListStreamsRequest,
                 DescribeStreamRequest, GetShardIteratorRequest, GetRecordsRequest>;
using AnyAnswer = std::variant<GetItemAnswer, WriteItemAnswer, PageAnswer, BatchGetItemAnswer, BatchWriteItemAnswer,
                               TransactGetItemsAnswer, TransactWriteItemsAnswer, ExecuteStatementAnswer,
                               BatchExecuteStatementAnswer, ExecuteTransactionAnswer, ChangedTableAnswer,
                               DescribeTableAnswer, ListTablesAnswer, UpdateTimeToLiveAnswer, DescribeTimeToLiveAnswer,
                               ChangedTagsAnswer, ListTagsAnswer, DescribeLimitsAnswer, DescribeEndpointsAnswer,
                               ListStreamsAnswer, DescribeStreamAnswer, GetShardIteratorAnswer, GetRecordsAnswer>;

// Called once, on any thread; must not block.
using AnyReplyCallback = UniqueFunction<void(Result<AnyAnswer, Fault>)>;

// The operations' names, in the order of AnyRequest.
inline constexpr std::array<std::string_view, std::variant_size_v<AnyRequest>> kOperationNames = {
    "GetItem",
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "Query",
    "Scan",
    "BatchGetItem",
    "BatchWriteItem",
    "TransactGetItems",
    "TransactWriteItems",
    "ExecuteStatement",
    "BatchExecuteStatement",
    "ExecuteTransaction",
    "CreateTable",
    "UpdateTable",
    "DeleteTable",
    "DescribeTable",
    "ListTables",
    "UpdateTimeToLive",
    "DescribeTimeToLive",
    "TagResource",
    "UntagResource",
    "ListTagsOfResource",
    "DescribeLimits",
    "DescribeEndpoints",
    "ListStreams",
    "DescribeStream",
    "GetShardIterator",
    "GetRecords"};
inline std::string_view operation_name(const AnyRequest& request) { return kOperationNames[request.index()]; }

}  // namespace stator::api
