#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stator/api/operations.h"
#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/base/result.h"
#include "stator/engine/engine.h"
#include "stator/engine/expiry/ttl_sweeper.h"
#include "stator/storage/store.h"

namespace stator::library {

struct InstanceOptions {
  std::string data_folder;
  bool in_memory = false;
  std::string store = {};  // postgres://...: the items are there instead of in the folder
  bool relaxed_durability = false;
  std::string region = "us-east-1";
  std::uint64_t block_cache_bytes = 64ULL << 20;   // of a store on disk
  std::uint64_t write_buffer_bytes = 64ULL << 20;  // likewise; there are up to three
  std::uint64_t range_cache_bytes = 64ULL << 20;   // likewise
  int open_files = 512;                            // likewise
  std::uint64_t memory_bytes = UINT64_MAX;         // of items in memory
};

// The newest format of a data folder that this program opens, and the one it makes.
unsigned data_folder_format();

// A database put together: a store, the engine on it, and the API on that.  Thread-safe.
class Instance {
 public:
  // Errors: Usage, Storage, Corruption.
  static Result<std::unique_ptr<Instance>> open(const InstanceOptions& options);

  api::Operations& operations() { return *operations_; }
  // The time that is stored: where processes share a store, all of them have it.
  const Clock& clock() const { return store_->clock() != nullptr ? *store_->clock() : system_clock_; }
  engine::Engine& engine() { return *engine_; }
  storage::Store& store() { return *store_; }

 private:
  Instance();

  const SystemClock system_clock_;
  Random random_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<engine::TtlSweeper> ttl_sweeper_;
  std::unique_ptr<api::Operations> operations_;
};

}  // namespace stator::library
