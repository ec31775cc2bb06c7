#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "stator/base/mutex.h"
#include "stator/expr/kind.h"
#include "stator/expr/tree.h"

namespace stator::expr {

// Parsed expressions by their text, so that a text an application repeats is parsed once.
//
// Trees are immutable and know nothing of a request's names and values, so everybody shares them.  Bounded: the least
// recently used of a shard makes room.  Thread-safe; shards keep threads apart.
class Cache {
 public:
  explicit Cache(std::size_t max_trees = 4096);

  // The tree, or nullptr.
  std::shared_ptr<const Tree> find(Kind kind, std::string_view text);
  void insert(Kind kind, std::string_view text, std::shared_ptr<const Tree> tree);

  std::size_t size() const;

 private:
  static constexpr std::size_t kShards = 16;
  struct Entry {
    std::string key;  // the kind as one byte, then the text
    std::shared_ptr<const Tree> tree;
  };
  struct Shard {
    mutable Mutex mutex;
    std::list<Entry> entries GUARDED_BY(mutex);  // the most recently used in front
    std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key GUARDED_BY(mutex);
  };

  Shard& shard_of(std::string_view key);

  const std::size_t max_per_shard_;
  std::array<Shard, kShards> shards_;
};

}  // namespace stator::expr
