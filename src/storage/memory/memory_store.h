#pragma once

#include <memory>

#include "stator/storage/store.h"

namespace stator::storage {

// A store that lives in this process's memory and ends with it.
//
// Readers never wait, neither for each other nor for a commit, and a commit never waits for readers; commits wait for each
// other.  Holding a snapshot costs the memory of what has changed since.
std::unique_ptr<Store> open_memory_store();

}  // namespace stator::storage
