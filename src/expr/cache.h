#pragma once

#include <array>
#include <cstddef>
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
// Trees are immutable and know nothing of a request's names and values, so everybody shares them.  Bounded in memory:
// the least recently used make room.  Thread-safe; sections keep threads apart.
class Cache {
 public:
  explicit Cache(std::size_t max_bytes = std::size_t{8} << 20);

  // The tree, or nullptr.
  std::shared_ptr<const Tree> find(Kind kind, std::string_view text);
  void insert(std::string_view text, std::shared_ptr<const Tree> tree);

  std::size_t bytes() const;

 private:
  static constexpr std::size_t kKinds = 5;
  static constexpr std::size_t kSectionsPerKind = 8;

  struct Entry {
    std::string text;
    std::shared_ptr<const Tree> tree;
    std::size_t bytes;
  };
  struct Section {
    mutable Mutex mutex;
    std::list<Entry> entries GUARDED_BY(mutex);  // the most recently used in front
    std::unordered_map<std::string_view, std::list<Entry>::iterator> by_text GUARDED_BY(mutex);
    std::size_t bytes GUARDED_BY(mutex) = 0;
  };

  Section& section_of(Kind kind, std::string_view text);

  const std::size_t max_bytes_per_section_;
  std::array<Section, kKinds * kSectionsPerKind> sections_;
};

}  // namespace stator::expr
