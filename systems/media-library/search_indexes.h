#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/base/random.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/dynamo/stream_reader.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/repository.h"
#include "stator/systems/media-library/search_index.h"

namespace stator::systems::media_library {

// The search indexes of recently searched owners.
//
// The index of an owner is read from GSI2 when it is first needed.  Afterwards changed() keeps it up to date, and must
// be called with every change after missed(), which drops all indexes.  A change that arrives while an index is being
// read, or shortly before, wins over the row that was read, because GSI2 may lag behind the table.  If earlier changes
// are not known, the index is read again when GSI2 must have caught up.
//
// All indexes together, including those being read and the changes kept for them, stay within `most_bytes`.  The least
// recently used indexes are dropped; when none is left to drop, a read gives up.  Thread-safe; changed() and missed()
// are called one at a time.
class SearchIndexes {
 public:
  struct Options {
    std::size_t most_bytes = std::size_t{512} << 20;  // of all, about
    std::chrono::seconds index_lag{60};               // how far GSI2 is behind at most
    unsigned items_at_once = 1000;
  };

  SearchIndexes(runtime::Repository& repository, const Clock& clock, Options options);  // outlive them

  // The items of one owner that match `query`.  Problems: TooLarge (one index would exceed the limit of all), Busy (no
  // room beside indexes that are being read), and those of reading.
  Result<std::vector<SearchIndex::Hit>, runtime::Problem> search(const std::string& owner,
                                                                 const SearchIndex::Query& query);

  void changed(const runtime::Change& change);
  void missed();

  std::size_t memory_bytes() const { return used_bytes_; }

 private:
  struct Removal {
    std::string item;
  };
  using Edit = std::variant<SearchIndex::Document, Removal>;
  struct RecentEdit {
    WallTime told;
    std::string owner;
    Edit edit;
  };

  // A part of the memory that all take together, given back with its end.
  class MemoryShare {
   public:
    explicit MemoryShare(std::atomic<std::size_t>& all) : all_(all) {}
    ~MemoryShare() { set(0); }
    MemoryShare(const MemoryShare&) = delete;
    MemoryShare& operator=(const MemoryShare&) = delete;
    MemoryShare(MemoryShare&&) = delete;
    MemoryShare& operator=(MemoryShare&&) = delete;

    void set(std::size_t bytes) { all_ += bytes - bytes_.exchange(bytes); }
    void add(std::size_t bytes) { set(bytes_ + bytes); }
    std::size_t bytes() const { return bytes_; }

   private:
    std::atomic<std::size_t>& all_;
    std::atomic<std::size_t> bytes_ = 0;
  };

  // One owner's.
  struct Shelf {
    Shelf(std::atomic<std::size_t>& all, std::vector<Edit> told_lately)
        : waiting(std::move(told_lately)), index_memory(all), waiting_memory(all) {}

    Mutex mutex;
    CondVar finished;
    bool reading GUARDED_BY(mutex) = true;
    SearchIndex index GUARDED_BY(mutex);
    std::vector<Edit> waiting GUARDED_BY(mutex);                // while it is being read
    std::optional<runtime::Problem> problem GUARDED_BY(mutex);  // why it could not be
    MemoryShare index_memory, waiting_memory;
    // Guarded by the mutex of all.
    bool can_go = false;  // it is not being read
    std::uint64_t used = 0;
    std::optional<WallTime> good_until;  // then it has to be read again
  };
  using ShelfPtr = std::shared_ptr<Shelf>;

  // The owner's shelf, and whether it is the caller's to fill.
  std::pair<ShelfPtr, bool> shelf_of(const std::string& owner);
  ShelfPtr make_shelf(const std::string& owner) REQUIRES(mutex_);
  void fill(const std::string& owner, Shelf& shelf);
  Result<SearchIndex, runtime::Problem> read(const std::string& owner, Shelf& shelf);
  void drop(const std::string& owner, const Shelf& shelf);
  // Lets others go until all together fit.  False: they still do not.
  bool make_room(const Shelf* keep);
  // Notes an edit. The owner's index, if it is in memory.
  ShelfPtr remember(const std::string& owner, const Edit& edit);
  void forget_old_edits(WallTime now) REQUIRES(mutex_);
  // False: there is no room to keep it.
  bool apply(Shelf& shelf, const Edit& edit);
  static void apply(SearchIndex& index, const Edit& edit);

  const model::Model& model_;
  const Clock& clock_;
  const Options options_;
  Random random_ = Random::from_system();
  runtime::Dynamo dynamo_;
  std::atomic<std::size_t> used_bytes_ = 0;

  Mutex mutex_;
  std::map<std::string, ShelfPtr> shelves_ GUARDED_BY(mutex_);
  std::uint64_t uses_ GUARDED_BY(mutex_) = 0;
  // Changes of the last index_lag, or since recent_since_ if that is later.
  std::deque<RecentEdit> recent_ GUARDED_BY(mutex_);
  MemoryShare recent_memory_;
  WallTime recent_since_ GUARDED_BY(mutex_) = WallTime::max();
};

}  // namespace stator::systems::media_library
