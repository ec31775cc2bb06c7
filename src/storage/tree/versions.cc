#include "stator/storage/tree/versions.h"

#include <utility>

#include "stator/base/assert.h"

namespace stator::storage::tree {
namespace {

constexpr unsigned kPinShift = 48;  // addresses of user space have 47 bits on x86-64 and 48 on arm64
constexpr std::uint64_t kOnePin = 1ULL << kPinShift;
constexpr std::uint64_t kAddressMask = kOnePin - 1;
constexpr std::uint64_t kManyPins = 1ULL << 15;  // half of what the word can count
constexpr std::int64_t kNewestBias = 1LL << 50;

// Blocks that a commit or a reader frees on its way; a batch of a hundred writes leaves about four hundred.
constexpr std::size_t kFreedInPassing = 2000;

Version* address(std::uint64_t word) { return reinterpret_cast<Version*>(word & kAddressMask); }
std::uint64_t word_for(Version* version) {
  const auto word = reinterpret_cast<std::uint64_t>(version);
  STATOR_ASSERT((word & ~kAddressMask) == 0, "addresses leave room for the pin count");
  return word;
}

}  // namespace

Versions::Versions() : newest_(new Version) {
  newest_->pins.store(kNewestBias, std::memory_order_relaxed);
  word_.store(word_for(newest_), std::memory_order_release);
  thread_ = std::jthread([this] { run_background(); });
}

Versions::~Versions() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  STATOR_ASSERT(newest_->previous == nullptr, "snapshots are destroyed before their store");
  if (newest_->root != nullptr) free_tree(newest_->root);
  delete newest_;
}

const Version* Versions::pin() {
  auto word = word_.fetch_add(kOnePin, std::memory_order_acq_rel) + kOnePin;
  Version* version = address(word);
  // Move the count over to the version before the word runs out of bits.  The pin just taken keeps the version alive.
  while ((word >> kPinShift) >= kManyPins && address(word) == version) [[unlikely]] {
    const auto pins = static_cast<std::int64_t>(word >> kPinShift);
    version->pins.fetch_add(pins, std::memory_order_relaxed);
    if (word_.compare_exchange_weak(word, word & kAddressMask, std::memory_order_acq_rel, std::memory_order_relaxed))
      break;
    version->pins.fetch_sub(pins, std::memory_order_relaxed);
  }
  return version;
}

void Versions::unpin(const Version* version) { release(const_cast<Version*>(version), 1); }

void Versions::release(Version* version, std::int64_t pins) {
  if (version->pins.fetch_sub(pins, std::memory_order_acq_rel) == pins) bury(version);
}

void Versions::publish(std::uint64_t sequence, Edit::Outcome outcome, std::shared_ptr<const Snapshot> base) {
  allocated_.fetch_add(outcome.allocated - outcome.freed, std::memory_order_relaxed);
  auto* version = new Version;
  version->sequence = sequence;
  version->root = outcome.root;
  version->base = std::move(base);
  version->pins.store(kNewestBias, std::memory_order_relaxed);
  version->previous = newest_;
  Version* old = std::exchange(newest_, version);
  old->garbage = std::move(outcome.garbage);
  old->next = version;
  const auto word = word_.exchange(word_for(version), std::memory_order_acq_rel);
  release(old, kNewestBias - static_cast<std::int64_t>(word >> kPinShift));
}

void Versions::bury(Version* version) {
  version->base.reset();
  version->next_dead = dead_.load(std::memory_order_relaxed);
  while (!dead_.compare_exchange_weak(version->next_dead, version)) {
  }
  // Sequentially consistent with the end of reclaim(): either this thread gets the role, or the thread that has it sees
  // our version.
  if (!reclaiming_.exchange(true)) reclaim(false);
}

// Called with the role; gives it up, or hands it to the background thread when there is much to do.
void Versions::reclaim(bool in_background) {
  do {
    if (!reclaim_some(in_background)) {
      {
        MutexLock lock(mutex_);
        handed_over_ = true;
      }
      wake_.notify_one();
      return;
    }
    reclaiming_.store(false);
  } while (dead_.load() != nullptr && !reclaiming_.exchange(true));
}

// False when there is more to do than a thread in passing should.
bool Versions::reclaim_some(bool in_background) {
  std::size_t freed = 0;
  std::size_t blocks = 0;
  bool done = true;
  while (done) {
    while (!unsorted_.empty()) {
      const auto garbage = unsorted_.back();
      const bool large = garbage.is_subtree() && !garbage.as_node()->leaf();
      if (!in_background && (large || ++blocks > kFreedInPassing)) {
        done = false;
        break;
      }
      unsorted_.pop_back();
      sort_out(garbage, inheritor_, freed);
    }
    if (!done) break;
    Version* dead = dead_.load(std::memory_order_acquire);
    while (dead != nullptr && !dead_.compare_exchange_weak(dead, dead->next_dead)) {
    }
    if (dead == nullptr) break;
    inheritor_ = dead->previous;
    dead->next->previous = dead->previous;
    if (dead->previous != nullptr) dead->previous->next = dead->next;
    unsorted_ = std::move(dead->garbage);
    delete dead;
  }
  allocated_.fetch_sub(freed, std::memory_order_relaxed);
  return done;
}

// Frees what `older` cannot see, and leaves the rest to it.
void Versions::sort_out(Garbage garbage, Version* older, std::size_t& freed) {
  const std::uint64_t seen_until = older == nullptr ? 0 : older->sequence;
  if (Blob* blob = garbage.as_blob()) {
    if (blob->born() <= seen_until) {
      older->garbage.push_back(garbage);
    } else {
      freed += blob->allocated();
      free_blob(blob);
    }
    return;
  }
  Node* node = garbage.as_node();
  if (node->born <= seen_until) {  // nothing below a node is younger than the node
    older->garbage.push_back(garbage);
    return;
  }
  if (garbage.is_subtree()) {
    for (auto i = node->first_key(); i < node->count; ++i) sort_out(Garbage::blob(node->blobs()[i]), older, freed);
    if (!node->leaf()) {
      for (std::size_t i = 0; i < node->count; ++i) sort_out(Garbage::subtree(node->children()[i]), older, freed);
    }
  }
  freed += node->allocated();
  free_node(node);
}

void Versions::free_tree(Node* node) {
  for (auto i = node->first_key(); i < node->count; ++i) free_blob(node->blobs()[i]);
  if (!node->leaf()) {
    for (std::size_t i = 0; i < node->count; ++i) free_tree(node->children()[i]);
  }
  free_node(node);
}

void Versions::run_background() {
  for (;;) {
    {
      MutexLock lock(mutex_);
      while (!handed_over_ && !stopping_) wake_.wait(mutex_);
      if (!handed_over_) return;
      handed_over_ = false;
    }
    reclaim(true);
  }
}

}  // namespace stator::storage::tree
