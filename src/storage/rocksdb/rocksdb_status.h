#pragma once

#include <rocksdb/status.h>

#include <string>
#include <string_view>

#include "stator/base/result.h"
#include "stator/storage/store.h"

// Turns RocksDB's statuses into our errors.
namespace stator::storage {

StoreTrouble trouble_of(const rocksdb::Status& status);  // of one that is not ok
// Corruption, or Storage with a cause that a person can do something about.
Error storage_error(std::string_view what, const rocksdb::Status& status);
// Another process, or another store of this one, holds the folder's lock.
bool is_in_use(const rocksdb::Status& status);
// The name of the table file that a status is about, "000012.sst"; empty when it names none.
std::string table_in(std::string_view text);

}  // namespace stator::storage
