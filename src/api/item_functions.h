#pragma once

#include <string>

#include "stator/api/item_operations.h"
#include "stator/api/operation.h"

// The steps of each operation on items.  Internal to the layer.
//
//   decode   a request's JSON, which has passed check_request(), to its type: binds expressions, makes expressions of
//   the older
//            parameters, and checks all that needs no table, in the service's order
//   check    what decode has made sure of, for a request that was made in this process
//   the operation itself: checks the request against its table, and carries it out
//   encode   the answer to JSON
namespace stator::api {

Result<GetItemRequest> decode_get_item(const Request& json, expr::Cache& cache);
Result<PutItemRequest> decode_put_item(const Request& json, expr::Cache& cache);
Result<UpdateItemRequest> decode_update_item(const Request& json, expr::Cache& cache);
Result<DeleteItemRequest> decode_delete_item(const Request& json, expr::Cache& cache);
Result<QueryRequest> decode_query(const Request& json, expr::Cache& cache);
Result<ScanRequest> decode_scan(const Request& json, expr::Cache& cache);
Result<BatchGetItemRequest> decode_batch_get_item(const Request& json, expr::Cache& cache);
Result<BatchWriteItemRequest> decode_batch_write_item(const Request& json, expr::Cache& cache);
Result<TransactGetItemsRequest> decode_transact_get_items(const Request& json, expr::Cache& cache);
Result<TransactWriteItemsRequest> decode_transact_write_items(const Request& json, expr::Cache& cache);

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

Result<GetItemAnswer> get_item(CallContext& call, const GetItemRequest& request);
Result<PageAnswer> query(CallContext& call, const QueryRequest& request);
Result<PageAnswer> scan(CallContext& call, const ScanRequest& request);
Result<BatchGetItemAnswer> batch_get_item(CallContext& call, const BatchGetItemRequest& request);
Result<TransactGetItemsAnswer, Fault> transact_get_items(CallContext& call, const TransactGetItemsRequest& request);
void put_item(CallContext call, PutItemRequest request, Done<WriteItemAnswer> done);
void update_item(CallContext call, UpdateItemRequest request, Done<WriteItemAnswer> done);
void delete_item(CallContext call, DeleteItemRequest request, Done<WriteItemAnswer> done);
void batch_write_item(CallContext call, BatchWriteItemRequest request, Done<BatchWriteItemAnswer> done);
void transact_write_items(CallContext call, TransactWriteItemsRequest request, Done<BatchWriteItemAnswer> done);

// Checks a request that was made in this process, and carries it out.
void run_typed(CallContext call, AnyRequest request, AnyReply reply);

std::string encode(const GetItemAnswer& answer);
std::string encode(const WriteItemAnswer& answer);
std::string encode(PageAnswer&& answer);
// `request` is where the answer takes a table's expressions from, for the keys that are left.
std::string encode(BatchGetItemAnswer&& answer, const Request& request);
std::string encode(const TransactGetItemsAnswer& answer);
// The same type answers both.
std::string encode_batch_write_item(const BatchWriteItemAnswer& answer);
std::string encode_transact_write_items(const BatchWriteItemAnswer& answer);

}  // namespace stator::api
