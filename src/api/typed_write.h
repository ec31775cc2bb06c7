#pragma once

#include <vector>

#include "stator/api/operation.h"
#include "stator/api/write.h"

// Writes that come as values: what PutItem, UpdateItem, DeleteItem and TransactWriteItems do, without a request to read.  Held to
// all that the service asks of a request.
namespace stator::api {

void write_one(OperationCall call, Write write);
void write_all(OperationCall call, std::vector<Write> writes);

}  // namespace stator::api
