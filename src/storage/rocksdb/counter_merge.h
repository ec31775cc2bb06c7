#pragma once

#include <memory>

#include <rocksdb/merge_operator.h>

namespace stator::storage {

// Lets RocksDB add up counters: value and operand are counters (see encode_counter), and so is what it makes of them.
std::shared_ptr<rocksdb::MergeOperator> new_counter_merge();

}  // namespace stator::storage
