#pragma once

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "stator/engine/engine.h"
#include "stator/storage/memory/memory_store.h"

namespace stator::engine::testing {

// An engine on a store, in memory if none is given, with a clock that stands still and calls that wait for their
// answer.
class TestDatabase {
 public:
  explicit TestDatabase(std::unique_ptr<storage::Store> store = storage::open_memory_store())
      : store_(std::move(store)) {
    restart();
  }

  Engine& engine() { return *engine_; }
  ManualClock& clock() { return clock_; }
  storage::Store& store() { return *store_; }
  // Like a restart of the process with a store on disk.
  void restart() {
    engine_.reset();
    engine_ = Engine::open(*store_, clock_, random_).value();
  }

  Result<TablePtr> create_table(Table table) {
    return wait<TablePtr>([&](auto done) { engine_->create_table(std::move(table), std::move(done)); });
  }
  Result<TablePtr> update_table(std::string name, std::function<void(Table&)> change) {
    return wait<TablePtr>([&](auto done) {
      engine_->update_table(
          std::move(name),
          [change](Table table) -> Result<Table> {
            change(table);
            return table;
          },
          std::move(done));
    });
  }
  Result<TablePtr> delete_table(std::string name) {
    return wait<TablePtr>([&](auto done) { engine_->delete_table(std::move(name), std::move(done)); });
  }
  Result<WriteOutcome> write(WriteRequest request) {
    return wait<WriteOutcome>([&](auto done) { engine_->write(std::move(request), std::move(done)); });
  }

 private:
  template <typename T, typename Start>
  Result<T> wait(Start start) {
    auto promise = std::make_shared<std::promise<Result<T>>>();
    auto answer = promise->get_future();
    start([promise](Result<T> result) { promise->set_value(std::move(result)); });
    return answer.get();
  }

  std::unique_ptr<storage::Store> store_;
  ManualClock clock_;
  Random random_{1};
  std::unique_ptr<Engine> engine_;
};

}  // namespace stator::engine::testing
