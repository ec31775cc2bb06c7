#pragma once

#include <string_view>
#include <vector>

#include "stator/api/operation.h"
#include "stator/api/tables/table_operations.h"

namespace stator::api {

// A table as CreateTable, DescribeTable and UpdateTable describe it.  Errors: Storage.
Result<TableDescription> describe_table(const Environment& environment, const engine::Table& table,
                                        std::string_view status);
// The same from DeleteTable, which says less: neither keys nor indexes, and no longer how much was in it.
TableDescription describe_deleted_table(const Environment& environment, const engine::Table& table);

std::vector<KeyElement> describe_keys(const engine::KeySchema& keys);

// Ends a change of a table.
void answer_with_table(CallContext& call, const engine::Table& table, std::string_view status,
                       Done<ChangedTableAnswer>& done);

// The table of a request that only describes it, in the words of the service.  Errors: Validation, ResourceNotFound.
Result<engine::TablePtr> find_described_table(CallContext& call, std::string_view name_or_arn);

}  // namespace stator::api
