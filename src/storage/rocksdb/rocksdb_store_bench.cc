#include <benchmark/benchmark.h>

#include <filesystem>

#include "stator/storage/rocksdb/rocksdb_store.h"
#include "stator/storage/testing/benchmark_data.h"

namespace stator::storage {
namespace {

using testing::benchmark_key;
using testing::benchmark_value;
using testing::scattered;

constexpr std::uint64_t kItems = 100'000;
// Where syncs mean something, so not the folder of the tests.
constexpr const char* kFolder = "stator-bench-data";

std::unique_ptr<Store> open(Durability durability) {
  auto store = open_rocksdb_store({.path = kFolder, .durability = durability});
  STATOR_ASSERT(store, "the benchmark's folder can be opened");
  return std::move(*store);
}

void prepare() {
  std::filesystem::remove_all(kFolder);
  testing::fill_for_benchmark(*open(Durability::Relaxed), kItems);
}

void get(benchmark::State& state) {
  const auto store = open(Durability::Relaxed);
  std::vector<Bytes> keys;
  for (std::uint64_t n = 0; n < 65536; ++n) keys.push_back(benchmark_key(scattered(n, kItems)));
  for (const auto& key : keys) benchmark::DoNotOptimize(store->get(key));
  std::uint64_t n = 0;
  for (auto _ : state) benchmark::DoNotOptimize(store->get(keys[n++ % keys.size()]));
}
BENCHMARK(get);

void commit(benchmark::State& state, Durability durability) {
  const auto store = open(durability);
  const auto value = benchmark_value(1);
  std::uint64_t n = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Batch batch;
    for (std::int64_t i = 0; i < state.range(0); ++i) batch.put(benchmark_key(scattered(n++, kItems)), value);
    state.ResumeTiming();
    benchmark::DoNotOptimize(store->commit(std::move(batch)));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(commit, sync, Durability::Sync)->Arg(1)->Arg(64)->UseRealTime();
BENCHMARK_CAPTURE(commit, relaxed, Durability::Relaxed)->Arg(1)->Arg(64)->UseRealTime();

void reopen(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(open(Durability::Sync));
}
BENCHMARK(reopen)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stator::storage

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  stator::storage::prepare();
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove_all(stator::storage::kFolder);
}
