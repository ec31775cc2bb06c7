#include "stator/library/instance.h"

#include <fmt/format.h>

#include <utility>

#include "stator/storage/memory/memory_store.h"
#include "stator/storage/postgres/postgres_store.h"
#include "stator/storage/rocksdb/data_folder.h"
#include "stator/storage/rocksdb/rocksdb_store.h"

namespace stator::library {
namespace {

Result<std::unique_ptr<storage::Store>> open_store(const InstanceOptions& options) {
  if (options.in_memory) return storage::open_memory_store(options.memory_bytes);
  if (!options.store.empty()) {
    return storage::open_postgres_store({.url = options.store,
                                         .sharing = storage::PostgresSharing::Shared,
                                         .relaxed = options.relaxed_durability,
                                         .placement = std::make_shared<engine::KeyPlacement>()});
  }
  using storage::Durability;
  return storage::open_rocksdb_store({.path = options.data_folder,
                                      .durability = options.relaxed_durability ? Durability::Relaxed : Durability::Sync,
                                      .block_cache_bytes = options.block_cache_bytes,
                                      .write_buffer_bytes = options.write_buffer_bytes,
                                      .range_cache_bytes = options.range_cache_bytes,
                                      .open_files = options.open_files});
}

// A block that only reading finds damaged may be one that the start reads.
Error start_error(Error error, const storage::Store& store, const std::string& folder) {
  const auto health = store.health();
  if (health.trouble != storage::StoreTrouble::Damaged || health.file.empty()) return error;
  error.message = fmt::format(
      "data folder {0} is damaged: {1} has a block that cannot be read, and the start needs it: {2}. Either restore a "
      "backup with `stator restore BACKUPS --data NEW_FOLDER`, or let `stator repair --data {0}` show what can be "
      "saved "
      "and `stator repair --accept-loss --data {0}` save it",
      folder, health.file, error.message);
  return error;
}

}  // namespace

unsigned data_folder_format() { return storage::kDataFolderFormat; }

Instance::Instance() : random_(Random::from_system()) {}

Result<std::unique_ptr<Instance>> Instance::open(const InstanceOptions& options) {
  std::unique_ptr<Instance> instance(new Instance());
  instance->store_ = TRY(open_store(options));
  auto engine = engine::Engine::open(*instance->store_, instance->clock(), instance->random_);
  if (!engine) return start_error(std::move(engine).error(), *instance->store_, options.data_folder);
  instance->engine_ = std::move(*engine);
  instance->ttl_sweeper_ = std::make_unique<engine::TtlSweeper>(*instance->engine_, instance->clock());
  instance->operations_ =
      std::make_unique<api::Operations>(*instance->engine_, api::OperationsOptions{.region = options.region});
  return instance;
}

}  // namespace stator::library
