#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "stator/base/mutex.h"
#include "stator/storage/store.h"
#include "stator/storage/tree/tree.h"

namespace stator::storage::tree {

// One committed state of the tree, kept while it is the newest or pinned.
struct Version {
  // Constant once published.
  std::uint64_t sequence = 0;
  Node* root = nullptr;
  std::shared_ptr<const Snapshot> base;  // the tree is a cache of it; freed as soon as no reader can see the version

  // The number of its pins, minus the count in the pin word of Versions; see there.
  std::atomic<std::int64_t> pins{0};

  // Versions says which thread may use these.
  Version* previous = nullptr;
  Version* next = nullptr;
  std::vector<Garbage> garbage;  // in this version and not in the next one
  Version* next_dead = nullptr;
};

// The versions of a tree that readers can still see, oldest to newest. Frees the memory that none can see.
//
// pin() and unpin() are for any thread and never wait.  publish() is for one thread at a time.
//
// When a version goes, its garbage is freed except for blocks that were born at or before the next older version: that
// one can see them too, and inherits them.  So a snapshot held for long keeps exactly what it can see.  A small amount
// is freed by the thread that released it last; a large one by a thread of its own, so that no request pays for
// dropping a table.
class Versions {
 public:
  Versions();
  ~Versions();  // every version but the newest has been unpinned
  Versions(const Versions&) = delete;
  Versions& operator=(const Versions&) = delete;

  const Version* pin();
  void unpin(const Version* version);

  // The newest version; for the thread that publishes.
  const Version* newest() const { return newest_; }
  void publish(std::uint64_t sequence, Edit::Outcome outcome, std::shared_ptr<const Snapshot> base = nullptr);

  std::size_t allocated_bytes() const { return allocated_.load(std::memory_order_relaxed); }

 private:
  void release(Version* version, std::int64_t pins);
  void bury(Version* version);
  void reclaim(bool in_background);
  bool reclaim_some(bool in_background);
  void sort_out(Garbage garbage, Version* older, std::size_t& freed);
  void free_tree(Node* node);
  void run_background();

  // Readers pin with one atomic addition.  The word is the address of the newest version and, in its upper 16 bits, how
  // often that was pinned through the word; a version that stops being the newest takes that number over into `pins`.
  // While it is the newest, `pins` carries a large bias, so that it cannot reach zero.
  std::atomic<std::uint64_t> word_;
  Version* newest_;
  std::atomic<std::size_t> allocated_{0};

  // Versions without pins, waiting.  The thread that turns `reclaiming_` from false to true may unlink them and touch
  // the garbage of every version but the newest, until it turns it back.  publish() writes only to the newest and to
  // its own new one.
  std::atomic<Version*> dead_{nullptr};
  std::atomic<bool> reclaiming_{false};
  std::vector<Garbage> unsorted_;  // guarded by reclaiming_: left over from the version last unlinked
  Version* inheritor_ = nullptr;   // guarded by reclaiming_: the version next older than that, if there is one

  Mutex mutex_;
  CondVar wake_;
  bool handed_over_ GUARDED_BY(mutex_) = false;  // the background thread has been given `reclaiming_`
  bool stopping_ GUARDED_BY(mutex_) = false;

  std::jthread thread_;  // last: joined before anything it reads is destroyed
};

}  // namespace stator::storage::tree
