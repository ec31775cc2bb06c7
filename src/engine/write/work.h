#pragma once

#include <vector>

#include "stator/base/clock.h"
#include "stator/base/result.h"
#include "stator/engine/write/pending_commit.h"

namespace stator::engine {

// Something that wants to be part of a commit.
class Work {
 public:
  virtual ~Work() = default;
  // Adds its effects to the commit, all or none.  Runs again, on a new PendingCommit, when a shared store answers
  // Conflict or Outdated.
  virtual void execute(PendingCommit& commit) = 0;
  // Adds the keys that execute() is going to read to `keys`, as far as they are known.
  virtual void will_read(std::vector<KeyBytes>& /*keys*/) const {}
  // The commit is done, or failed.  Called once.  Must not block: it answers a client, or wakes somebody.
  virtual void finish(const Result<storage::CommitSequence>& committed) = 0;
  // A work that changes data by which others plan (the catalog) has a commit of its own, and is finished before the
  // next starts.
  virtual bool alone() const { return false; }
  // Leaves less in the store than there was: it is tried also on a full disk.
  virtual bool frees_space() const { return false; }

 private:
  friend class Committer;
  // When it was submitted.
  WallTime arrived_{};
  SteadyTime arrived_steady_{};
};

}  // namespace stator::engine
