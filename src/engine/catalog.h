#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "stator/base/mutex.h"
#include "stator/engine/schema.h"
#include "stator/storage/store.h"

namespace stator::engine {

using TablePtr = std::shared_ptr<const Table>;

// The tables there are.  Thread-safe.  Changes come from the thread that commits alone, after they are committed (see
// TableChange), and when the store has recovered from a failure.  If processes share the store, the tables are read
// again instead whenever one of them has been changed (see Engine::catch_up).
class Catalog {
 public:
  // Reads all tables of a store, in place of those it had; keeps what it had in case of an error.
  // Errors: Storage, Corruption.
  Result<void> load(const storage::Store& store) { return load(*store.snapshot()); }
  Result<void> load(const storage::Snapshot& snapshot);

  // nullptr when there is none.
  TablePtr find(std::string_view name) const;
  TablePtr find(TableId id) const;
  // Names after `after` in order, at most `limit`.
  std::vector<std::string> names_after(std::string_view after, std::size_t limit) const;
  std::vector<TablePtr> all() const;
  std::size_t size() const;

  void publish(TablePtr table);  // adds, or replaces the one with the same id
  void remove(const Table& table);

 private:
  using ByName = std::map<std::string, TablePtr, std::less<>>;
  using ById = std::unordered_map<std::uint32_t, TablePtr>;

  mutable Mutex mutex_;
  ByName by_name_ GUARDED_BY(mutex_);
  ById by_id_ GUARDED_BY(mutex_);
};

}  // namespace stator::engine
