#include <benchmark/benchmark.h>

#include "stator/storage/memory/memory_store.h"
#include "stator/storage/testing/benchmark_data.h"

namespace stator::storage {
namespace {

using testing::benchmark_key;
using testing::benchmark_value;
using testing::scattered;

Store& store_with(std::uint64_t count) {
  static std::unique_ptr<Store> store;
  static std::uint64_t filled = 0;
  if (filled != count) {
    store.reset();
    store = open_memory_store();
    testing::fill_for_benchmark(*store, count);
    filled = count;
  }
  return *store;
}

void get(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  auto& store = store_with(count);
  std::vector<Bytes> keys;
  for (std::uint64_t n = 0; n < 65536; ++n) keys.push_back(benchmark_key(scattered(n, count)));
  std::uint64_t n = 0;
  for (auto _ : state) benchmark::DoNotOptimize(store.get(keys[n++ % keys.size()]));
}
BENCHMARK(get)->Arg(100'000)->Arg(1'000'000);

// Replaces items that are there.  Making the batch is not counted.
void commit(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  auto& store = store_with(count);
  const auto value = benchmark_value(1);
  std::uint64_t n = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Batch batch;
    for (std::int64_t i = 0; i < state.range(1); ++i) batch.put(benchmark_key(scattered(n++, count)), value);
    state.ResumeTiming();
    benchmark::DoNotOptimize(store.commit(std::move(batch)));
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}
BENCHMARK(commit)->Args({100'000, 1})->Args({100'000, 64})->Args({1'000'000, 1})->Args({1'000'000, 64});

void scan(benchmark::State& state) {
  auto& store = store_with(static_cast<std::uint64_t>(state.range(0)));
  const auto snapshot = store.snapshot();
  std::int64_t entries = 0;
  for (auto _ : state) {
    for (auto cursor = snapshot->cursor({}, Direction::Forward); cursor->valid(); cursor->next()) {
      benchmark::DoNotOptimize(cursor->value());
      ++entries;
    }
  }
  state.SetItemsProcessed(entries);
}
BENCHMARK(scan)->Arg(100'000);

}  // namespace
}  // namespace stator::storage

BENCHMARK_MAIN();
