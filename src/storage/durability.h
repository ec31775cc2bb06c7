#pragma once

#include <cstdint>

namespace stator::storage {

// When a store on disk answers a commit.
enum class Durability : std::uint8_t {
  Sync,     // when it is on disk
  Relaxed,  // before: it survives the process at once, and a crash of the machine a few milliseconds later
};

}  // namespace stator::storage
