#pragma once

#include <memory>

#include <rocksdb/merge_operator.h>

namespace stator::storage {

// Lets RocksDB add up counters: value, operand and result are counters (see encode_counter).
std::shared_ptr<rocksdb::MergeOperator> new_counter_merge();

}  // namespace stator::storage
