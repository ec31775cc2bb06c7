#pragma once

#include <rocksdb/memtablerep.h>

#include <memory>

namespace stator::storage {

// Makes RocksDB keep the entries of its memory tables in a KeyTree.  For databases that order keys by their bytes and
// write with one thread at a time (allow_concurrent_memtable_write = false).  Nothing on disk depends on it.
std::shared_ptr<rocksdb::MemTableRepFactory> new_key_tree_factory();

}  // namespace stator::storage
