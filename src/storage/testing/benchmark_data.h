#pragma once

#include <cstdint>

#include "stator/storage/store.h"

// Data for the micro-benchmarks of the backends: items of about 1 KB under keys as the engine makes them.

namespace stator::storage::testing {

// 'i', a table, an index, a scattered hash and a partition key.
Bytes benchmark_key(std::uint64_t n);
// 1 KB that compresses about as well as JSON does.
Bytes benchmark_value(std::uint64_t n);
// Puts the first `count` items, some hundred per commit.
void fill_for_benchmark(Store& store, std::uint64_t count);
// The n-th number of a sequence that visits 0 .. count - 1 in no order.
std::uint64_t scattered(std::uint64_t n, std::uint64_t count);

}  // namespace stator::storage::testing
