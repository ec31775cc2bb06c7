#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stator/base/mutex.h"
#include "stator/runtime/outcome.h"
#include "stator/runtime/repository.h"
#include "stator/runtime/stream_reader.h"
#include "stator/systems/media-library/search_index.h"

namespace stator::systems::media_library {

// The search indexes of those whose items were searched lately.
//
// An owner's is read from GSI2 when it is first needed, and then changed as the table changes: changed() has to be told everything
// that happens from before the first search() on, or else missed() forgets all of them.  What happens while one is being read is
// kept and applied when it has been.  Those used least lately go when all together take too much memory.  Thread-safe.
class SearchIndexes {
 public:
  struct Options {
    std::size_t most_bytes = std::size_t{512} << 20;  // of all, about
    std::size_t most_changes = 100'000;               // that are kept while an index is being read
  };

  SearchIndexes(runtime::Repository& repository, Options options)  // outlives them
      : repository_(repository), options_(options) {}

  // What `query` finds among the items of one owner.  Problems: TooLarge (one index would be more than all may be), Busy (too much
  // changed while it was read), and those of reading.
  runtime::Outcome<std::vector<SearchIndex::Hit>> search(const std::string& owner, const SearchIndex::Query& query);

  void changed(const runtime::Change& change);
  void missed();

 private:
  struct Removal {
    std::string item;
  };
  using Edit = std::variant<SearchIndex::Document, Removal>;
  // One owner's.
  struct Shelf {
    Mutex mutex;
    CondVar finished;
    bool reading GUARDED_BY(mutex) = true;
    SearchIndex index GUARDED_BY(mutex);
    std::vector<Edit> waiting GUARDED_BY(mutex);                // while it is being read
    std::optional<runtime::Problem> problem GUARDED_BY(mutex);  // why it could not be
    std::size_t bytes = 0;                                      // guarded by the mutex of all
    std::uint64_t used = 0;                                     // the same
  };
  using ShelfPtr = std::shared_ptr<Shelf>;

  // The owner's shelf, and whether it is the caller's to fill.
  std::pair<ShelfPtr, bool> shelf_of(const std::string& owner);
  void fill(const std::string& owner, Shelf& shelf);
  runtime::Outcome<SearchIndex> read(const std::string& owner) const;
  void drop(const std::string& owner, const Shelf& shelf);
  void make_room(const std::string& owner, std::size_t bytes);
  static void apply(SearchIndex& index, const Edit& edit);

  runtime::Repository& repository_;
  const Options options_;

  Mutex mutex_;
  std::map<std::string, ShelfPtr> shelves_ GUARDED_BY(mutex_);
  std::uint64_t uses_ GUARDED_BY(mutex_) = 0;
};

}  // namespace stator::systems::media_library
