#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stator/engine/schema.h"
#include "stator/storage/store.h"

namespace stator::engine {

using TablePtr = std::shared_ptr<const Table>;

// That there is no table of this name.
Error missing_table(std::string_view name);

// The tables there are.  Thread-safe.  Changes come from the thread that commits alone, after they are committed (see
// TableChange), and when the store has recovered from a failure.  If processes share the store, the tables are read
// again instead whenever one of them has been changed (see Engine::catch_up).
//
// Every request looks for a table, on every core.  So there are copies, each for some of the threads, with a lock and
// with counts of references of their own.  A change is made in all copies at once: with the locks of all.
class Catalog {
 public:
  Catalog();
  ~Catalog();
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  // Reads all tables of a store, in place of the former ones; keeps the former ones in case of an error.
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
  struct Copy;

  Copy& mine() const;

  const std::vector<std::unique_ptr<Copy>> copies_;
};

}  // namespace stator::engine
