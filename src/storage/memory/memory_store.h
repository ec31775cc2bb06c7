#pragma once

#include <cstdint>
#include <memory>

#include "stator/storage/store.h"

namespace stator::storage {

// A store that lives in this process's memory and ends with it.
//
// Readers never wait, neither for each other nor for a commit, and a commit never waits for readers; commits wait for
// each other.  A snapshot costs the memory of the changes since it was taken.
//
// With a limit, a commit that would take the store beyond it fails with Storage, and so do further ones until there is
// room, except commits that free space.
std::unique_ptr<Store> open_memory_store(std::uint64_t limit_bytes = UINT64_MAX);

}  // namespace stator::storage
