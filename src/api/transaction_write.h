#pragma once

#include <optional>
#include <vector>

#include "stator/api/item_writes.h"
#include "stator/api/operation.h"

// TransactWriteItems behind the reading of its request.
namespace stator::api {

struct TransactItem {
  engine::WriteAction action;  // run_transaction() finds its table
  std::string_view table_name;
  bool return_item = false;  // when its condition fails
};

// Finds the tables, holds the items against them, and hands all to the engine.  Answers the call.
void run_transaction(OperationCall call, std::vector<TransactItem> items, WriteAnswer options,
                     std::optional<engine::RequestToken> token);

}  // namespace stator::api
