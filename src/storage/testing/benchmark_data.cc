#include "stator/storage/testing/benchmark_data.h"

#include <fmt/format.h>

#include <utility>

#include "stator/base/random.h"

namespace stator::storage::testing {

Bytes benchmark_key(std::uint64_t n) {
  Bytes key("i\0\0\0\x01\0\0", 7);
  append_u64be(key, Random(n).next());
  return key + fmt::format("customer#{:08}", n) + Bytes("\0\1", 2);
}

Bytes benchmark_value(std::uint64_t n) {
  Random random(n);
  Bytes value;
  for (int field = 0; value.size() < 1024; ++field)
    value += fmt::format(R"("field{}":{{"S":"{:016x}"}},)", field, random.next());
  value.resize(1024);
  return value;
}

void fill_for_benchmark(Store& store, std::uint64_t count) {
  for (std::uint64_t n = 0; n < count;) {
    Batch batch;
    for (int i = 0; i < 500 && n < count; ++i, ++n) batch.put(benchmark_key(n), benchmark_value(n));
    STATOR_ASSERT(store.commit(std::move(batch)), "the benchmark's store takes what it is filled with");
  }
  STATOR_ASSERT(store.sync(), "the benchmark's store can be synced");
}

std::uint64_t scattered(std::uint64_t n, std::uint64_t count) { return Random(n * 77 + 5).below(count); }

}  // namespace stator::storage::testing
