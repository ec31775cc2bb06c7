// The cost of a write and of a read in the engine itself, on the memory store: no wire, no disk.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "stator/engine/engine.h"
#include "stator/engine/test_support.h"
#include "stator/storage/memory/memory_store.h"

namespace stator::engine {
namespace {

using namespace testing;
using value::Item;

constexpr std::size_t kItems = 100'000;

// About 1 KB in a few attributes.
Item item_with(std::size_t number, std::int64_t version) {
  return {{"pk", S(fmt::format("user#{:06}", number / 10))},
          {"sk", N(number % 10)},
          {"gpk", S(fmt::format("group#{:04}", number % 1000))},
          {"name", S("Somebody With A Name")},
          {"text", S(std::string(850, 'x'))},
          {"version", N(version)}};
}

Item key_of(std::size_t number) { return {{"pk", S(fmt::format("user#{:06}", number / 10))}, {"sk", N(number % 10)}}; }

class Fixture {
 public:
  explicit Fixture(bool with_index, bool with_stream = false) : store_(storage::open_memory_store()), random_(1) {
    engine_ = Engine::open(*store_, clock_, random_).value();
    Table t = table("T", keys({"pk:S"}, {"sk:N"}));
    if (with_index) add_index(t, "gsi", IndexKind::Global, keys({"gpk:S"}, {"sk:N"}));
    if (with_stream) t.stream = {.enabled = true, .view = StreamView::NewAndOldImages, .label = "now"};
    engine_->create_table(std::move(t), [&](Result<TablePtr> made) { table_ = made.value(); });
    for (std::size_t i = 0; i < kItems; ++i) write(put(table_, item_with(i, 0)));
  }

  void write(WriteRequest request) {
    engine_->write(std::move(request), [](Result<WriteOutcome> outcome) { benchmark::DoNotOptimize(outcome.ok()); });
  }

  Engine& engine() { return *engine_; }
  const TablePtr& table_made() const { return table_; }
  std::size_t next() { return random_.below(kItems); }

 private:
  SystemClock clock_;
  std::unique_ptr<storage::Store> store_;
  Random random_;
  std::unique_ptr<Engine> engine_;
  TablePtr table_;
};

void run_put(benchmark::State& state, bool with_index, bool with_stream) {
  Fixture fixture(with_index, with_stream);
  std::int64_t version = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto request = put(fixture.table_made(), item_with(fixture.next(), ++version));
    state.ResumeTiming();
    fixture.write(std::move(request));
  }
  state.SetItemsProcessed(state.iterations());
}
void BM_Put(benchmark::State& state) { run_put(state, false, false); }
void BM_PutWithIndex(benchmark::State& state) { run_put(state, true, false); }
void BM_PutWithStream(benchmark::State& state) { run_put(state, false, true); }

void BM_Get(benchmark::State& state) {
  Fixture fixture(false);
  for (auto _ : state) {
    const auto image = fixture.engine().get(*fixture.table_made(), key_of(fixture.next()));
    benchmark::DoNotOptimize(image->stored().json().data());
  }
  state.SetItemsProcessed(state.iterations());
}

void BM_Update(benchmark::State& state) {
  Fixture fixture(false);
  const auto add = update("ADD version :one", expr::Values{{":one", N(1)}});
  const auto exists = condition("attribute_exists(pk)");
  for (auto _ : state) fixture.write(change(fixture.table_made(), key_of(fixture.next()), add, exists));
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(BM_Put);
BENCHMARK(BM_PutWithIndex);
BENCHMARK(BM_PutWithStream);
BENCHMARK(BM_Get);
BENCHMARK(BM_Update);

}  // namespace
}  // namespace stator::engine

BENCHMARK_MAIN();
