#pragma once

#include <string>

#include "stator/api/any_request.h"
#include "stator/api/operation.h"

// The steps of each operation.  Internal to the layer.
//
//   decode  a request's JSON, which has passed check_request(), to its type: binds expressions, makes expressions of
//           the older parameters, and checks all that needs no table, in the service's order
//   check   for a typed request, made in this process: the checks that decode makes for JSON
//   run     checks the request against its table, and carries it out
//   encode  the answer to JSON
//
// A type with plain members only is decoded and encoded by the list of its members: fields.h.
namespace stator::api {

// Says which type to decode.
template <typename Request>
struct As {};

// --- decode

Result<GetItemRequest> decode(As<GetItemRequest>, const JsonMembers& json, expr::Cache& cache);
Result<PutItemRequest> decode(As<PutItemRequest>, const JsonMembers& json, expr::Cache& cache);
Result<UpdateItemRequest> decode(As<UpdateItemRequest>, const JsonMembers& json, expr::Cache& cache);
Result<DeleteItemRequest> decode(As<DeleteItemRequest>, const JsonMembers& json, expr::Cache& cache);
Result<QueryRequest> decode(As<QueryRequest>, const JsonMembers& json, expr::Cache& cache);
Result<ScanRequest> decode(As<ScanRequest>, const JsonMembers& json, expr::Cache& cache);
Result<BatchGetItemRequest> decode(As<BatchGetItemRequest>, const JsonMembers& json, expr::Cache& cache);
Result<BatchWriteItemRequest> decode(As<BatchWriteItemRequest>, const JsonMembers& json, expr::Cache& cache);
Result<TransactGetItemsRequest> decode(As<TransactGetItemsRequest>, const JsonMembers& json, expr::Cache& cache);
Result<TransactWriteItemsRequest> decode(As<TransactWriteItemsRequest>, const JsonMembers& json, expr::Cache& cache);
Result<BatchExecuteStatementRequest> decode(As<BatchExecuteStatementRequest>, const JsonMembers& json,
                                            expr::Cache& cache);
Result<ExecuteTransactionRequest> decode(As<ExecuteTransactionRequest>, const JsonMembers& json, expr::Cache& cache);
Result<CreateTableRequest> decode(As<CreateTableRequest>, const JsonMembers& json, expr::Cache& cache);
Result<UpdateTableRequest> decode(As<UpdateTableRequest>, const JsonMembers& json, expr::Cache& cache);

// --- check

Result<void> check(const GetItemRequest& request);
Result<void> check(const PutItemRequest& request);
Result<void> check(const UpdateItemRequest& request);
Result<void> check(const DeleteItemRequest& request);
Result<void> check(const QueryRequest& request);
Result<void> check(const ScanRequest& request);
Result<void> check(const BatchGetItemRequest& request);
Result<void> check(const BatchWriteItemRequest& request);
Result<void> check(const TransactGetItemsRequest& request);
Result<void> check(const TransactWriteItemsRequest& request);
Result<void> check(const ExecuteStatementRequest& request);
Result<void> check(const BatchExecuteStatementRequest& request);
Result<void> check(const ExecuteTransactionRequest& request);
Result<void> check(const CreateTableRequest& request);
Result<void> check(const UpdateTableRequest& request);
Result<void> check(const ListTablesRequest& request);
Result<void> check(const UpdateTimeToLiveRequest& request);
Result<void> check(const TagResourceRequest& request);
Result<void> check(const UntagResourceRequest& request);
Result<void> check(const ListTagsOfResourceRequest& request);
Result<void> check(const ListStreamsRequest& request);
Result<void> check(const DescribeStreamRequest& request);
Result<void> check(const GetRecordsRequest& request);
// Nothing to check here: the operation checks the name.
inline Result<void> check(const DeleteTableRequest& /*request*/) { return {}; }
inline Result<void> check(const DescribeTableRequest& /*request*/) { return {}; }
inline Result<void> check(const DescribeTimeToLiveRequest& /*request*/) { return {}; }
inline Result<void> check(const DescribeLimitsRequest& /*request*/) { return {}; }
inline Result<void> check(const DescribeEndpointsRequest& /*request*/) { return {}; }
inline Result<void> check(const GetShardIteratorRequest& /*request*/) { return {}; }

// --- run, for operations that are answered at once

Result<GetItemAnswer> run(CallContext& call, const GetItemRequest& request);
Result<PageAnswer> run(CallContext& call, const QueryRequest& request);
Result<PageAnswer> run(CallContext& call, const ScanRequest& request);
Result<BatchGetItemAnswer> run(CallContext& call, const BatchGetItemRequest& request);
Result<TransactGetItemsAnswer, Fault> run(CallContext& call, const TransactGetItemsRequest& request);
Result<DescribeTableAnswer> run(CallContext& call, const DescribeTableRequest& request);
Result<ListTablesAnswer> run(CallContext& call, const ListTablesRequest& request);
Result<DescribeTimeToLiveAnswer> run(CallContext& call, const DescribeTimeToLiveRequest& request);
Result<ListTagsAnswer> run(CallContext& call, const ListTagsOfResourceRequest& request);
Result<DescribeLimitsAnswer> run(CallContext& call, const DescribeLimitsRequest& request);
Result<DescribeEndpointsAnswer> run(CallContext& call, const DescribeEndpointsRequest& request);
Result<ListStreamsAnswer> run(CallContext& call, const ListStreamsRequest& request);
Result<DescribeStreamAnswer> run(CallContext& call, const DescribeStreamRequest& request);
Result<GetShardIteratorAnswer> run(CallContext& call, const GetShardIteratorRequest& request);
Result<GetRecordsAnswer> run(CallContext& call, const GetRecordsRequest& request);

// --- the keys that run() will read, for a caller that must not wait.  Errors: as run(); Busy: read step by step.

Result<storage::ReadWish> wish_of(CallContext& call, const GetItemRequest& request);
Result<storage::ReadWish> wish_of(CallContext& call, const BatchGetItemRequest& request);
Result<storage::ReadWish> wish_of(CallContext& call, const TransactGetItemsRequest& request);
Result<storage::ReadWish> wish_of(CallContext& call, const QueryRequest& request);

// --- run, for operations that are answered after their commit

void run(CallContext call, PutItemRequest request, Done<WriteItemAnswer> done);
void run(CallContext call, UpdateItemRequest request, Done<WriteItemAnswer> done);
void run(CallContext call, DeleteItemRequest request, Done<WriteItemAnswer> done);
void run(CallContext call, BatchWriteItemRequest request, Done<BatchWriteItemAnswer> done);
void run(CallContext call, TransactWriteItemsRequest request, Done<TransactWriteItemsAnswer> done);
void run(CallContext call, ExecuteStatementRequest request, Done<ExecuteStatementAnswer> done);
void run(CallContext call, BatchExecuteStatementRequest request, Done<BatchExecuteStatementAnswer> done);
void run(CallContext call, ExecuteTransactionRequest request, Done<ExecuteTransactionAnswer> done);
void run(CallContext call, CreateTableRequest request, Done<ChangedTableAnswer> done);
void run(CallContext call, UpdateTableRequest request, Done<ChangedTableAnswer> done);
void run(CallContext call, DeleteTableRequest request, Done<ChangedTableAnswer> done);
void run(CallContext call, UpdateTimeToLiveRequest request, Done<UpdateTimeToLiveAnswer> done);
void run(CallContext call, TagResourceRequest request, Done<ChangedTagsAnswer> done);
void run(CallContext call, UntagResourceRequest request, Done<ChangedTagsAnswer> done);

// --- encode

std::string encode(const GetItemAnswer& answer);
std::string encode(const WriteItemAnswer& answer);
std::string encode(PageAnswer&& answer);
// `request` is where the answer takes a table's expressions from, for the keys that are left.
std::string encode(BatchGetItemAnswer&& answer, const JsonMembers& request);
std::string encode(BatchGetItemAnswer&& answer);  // the expressions are printed again
std::string encode(const TransactGetItemsAnswer& answer);
std::string encode(const BatchWriteItemAnswer& answer);
std::string encode(const TransactWriteItemsAnswer& answer);

}  // namespace stator::api
