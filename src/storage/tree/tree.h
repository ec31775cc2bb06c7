#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "stator/base/bytes.h"
#include "stator/storage/store.h"

// A persistent B+tree: an edit leaves every older version of the tree readable and untouched.
//
// An edit copies the nodes on the way to a change, once, and after that works on its own copies in place.
// Nothing is counted by reference: every block knows the version in which it was born, an edit lists the blocks that
// its version no longer has, and versions.h frees them when the last version that can see them is gone.  Copying a node
// is therefore one memcpy that touches none of the entries it points to.

namespace stator::storage::tree {

// A key and its value in one block of memory; never changed once published, but for the mark.  A separator in an inner
// node has no value.
struct Blob {
  std::uint32_t born_low;
  std::uint16_t born_high;
  mutable std::uint8_t mark;  // see mark_used()
  std::uint8_t unused;
  std::uint32_t key_size;
  std::uint32_t value_size;

  std::uint64_t born() const { return std::uint64_t{born_high} << 32 | born_low; }
  // For a cache that must know which entries are read: readers set the mark, its owner takes it away.  Any thread.
  void mark_used() const {
    const std::atomic_ref used(mark);
    if (used.load(std::memory_order_relaxed) == 0) used.store(1, std::memory_order_relaxed);
  }
  bool is_used() const { return std::atomic_ref(mark).load(std::memory_order_relaxed) != 0; }
  void clear_used() const {
    if (is_used()) std::atomic_ref(mark).store(0, std::memory_order_relaxed);
  }

  const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  BytesView key() const { return {bytes(), key_size}; }
  BytesView value() const { return {bytes() + key_size, value_size}; }
  std::size_t allocated() const { return sizeof(Blob) + key_size + value_size; }
};

// Sorted slots.  A leaf's slot is an entry; an inner node's slot is a child and, from the second one on, the separator
// that is not above any key in that child and above every key in the child before.
//
// Keys share long prefixes (table, index, partition), so a node keeps their common prefix once, and per slot the eight
// bytes behind it as an integer: a search compares integers in one run of memory and looks at a key itself only where
// these are equal.
//
//   header 64 bytes | heads: u64 x capacity | blobs: Blob* x capacity | inner nodes only: children: Node* x capacity
struct Node {
  static constexpr std::size_t kMaxSlots = 64;
  static constexpr std::size_t kInlinePrefix = 48;
  // A level is added when the top node is full, and sparse neighbours merge, so no tree that fits in memory is this
  // tall.
  static constexpr std::size_t kMaxHeight = 16;

  std::uint64_t born;
  std::uint32_t prefix_size;
  std::uint16_t count;
  std::uint8_t capacity;
  std::uint8_t level;  // 0: a leaf
  std::array<char, kInlinePrefix> inline_prefix;

  bool leaf() const { return level == 0; }
  std::size_t first_key() const { return leaf() ? 0 : 1; }
  std::uint64_t* heads() { return reinterpret_cast<std::uint64_t*>(this + 1); }
  const std::uint64_t* heads() const { return reinterpret_cast<const std::uint64_t*>(this + 1); }
  Blob** blobs() { return reinterpret_cast<Blob**>(heads() + capacity); }
  Blob* const* blobs() const { return reinterpret_cast<Blob* const*>(heads() + capacity); }
  Node** children() { return reinterpret_cast<Node**>(blobs() + capacity); }
  Node* const* children() const { return reinterpret_cast<Node* const*>(blobs() + capacity); }

  // A prefix too long for the header is read from the first key, so this needs a node that has one.
  BytesView prefix() const {
    return {prefix_size <= kInlinePrefix ? inline_prefix.data() : blobs()[first_key()]->bytes(), prefix_size};
  }
  std::size_t allocated() const { return allocated_for(level, capacity); }
  static std::size_t allocated_for(std::size_t level, std::size_t capacity) {
    return sizeof(Node) + capacity * (level == 0 ? 16U : 24U);
  }
};
static_assert(sizeof(Node) == 64, "the header is one cache line");

void free_blob(Blob* blob);
void free_node(Node* node);  // the node alone

// The entry at `key`, or nullptr.  `root` may be null: an empty tree.
const Blob* find(const Node* root, BytesView key);

// Asks the processor for the nodes on the ways to many keys at once; a search alone waits for one node after another.
// For the next kPathsAtOnce operations of a batch, from `first` on.
constexpr std::size_t kPathsAtOnce = 16;
void prefetch_paths(const Node* root, const std::vector<Batch::Operation>& operations, std::size_t first);

// A block, or a whole subtree, that a version no longer has although older ones may.
class Garbage {
 public:
  static Garbage blob(Blob* blob) { return Garbage(blob, kBlob); }
  static Garbage node(Node* node) { return Garbage(node, kNode); }
  static Garbage subtree(Node* root) { return Garbage(root, kSubtree); }

  Blob* as_blob() const { return (bits_ & kTagMask) == kBlob ? reinterpret_cast<Blob*>(bits_ & ~kTagMask) : nullptr; }
  Node* as_node() const { return (bits_ & kTagMask) != kBlob ? reinterpret_cast<Node*>(bits_ & ~kTagMask) : nullptr; }
  bool is_subtree() const { return (bits_ & kTagMask) == kSubtree; }

 private:
  static constexpr std::uintptr_t kBlob = 0, kNode = 1, kSubtree = 2, kTagMask = 3;
  Garbage(void* block, std::uintptr_t tag) : bits_(reinterpret_cast<std::uintptr_t>(block) | tag) {}

  std::uintptr_t bits_;
};

// One version of the tree in the making.  Confined to the thread that commits.  Unless it is taken, everything it
// allocated is freed again, and the version it started from is as it was.
class Edit {
 public:
  Edit(Node* root, std::uint64_t version) : root_(root), version_(version) {}
  ~Edit();
  Edit(const Edit&) = delete;
  Edit& operator=(const Edit&) = delete;

  const Blob* find(BytesView key) const { return tree::find(root_, key); }
  // The tree with the edit's changes so far; the next change may free it.
  const Node* root() const { return root_; }
  // A value that takes the place of another one keeps its mark.  Gives the entry back; the next change may free it.
  const Blob* put(BytesView key, BytesView value) { return put(key, value, false); }
  // Only if there is an entry; nullptr otherwise.
  const Blob* replace(BytesView key, BytesView value) { return put(key, value, true); }
  void erase(BytesView key);
  void erase_range(BytesView begin, BytesView end);  // an empty end: no upper bound

  struct Outcome {
    Node* root;
    std::vector<Garbage> garbage;  // in the version before and not in this one
    std::size_t allocated = 0;     // bytes
    std::size_t freed = 0;
  };
  Outcome take();
  // The memory that the edit needs beside the version it started from, in bytes.
  std::size_t added_bytes() const { return allocated_ - freed_; }

 private:
  // The new right neighbour of a node that was full, and their separator.
  struct Split {
    Node* right = nullptr;
    Blob* separator = nullptr;
  };

  struct Put {
    BytesView key, value;
    bool only_if_present;
    Blob* entry = nullptr;  // once it is there
  };

  const Blob* put(BytesView key, BytesView value, bool only_if_present);
  // Each gives back the node that takes the place of `node`, nullptr when nothing is left of it.
  Node* put_into(Node* node, Put& put, Split& split);
  Node* insert_slot(Node* node, std::size_t at, Blob* blob, Node* child, Split& split);
  Node* erase_from(Node* node, BytesView key);
  Node* erase_range_from(Node* node, BytesView begin, BytesView end);

  Node* divide(Node* node, std::size_t at, Blob* blob, Node* child, Split& split);
  void remove_empty_children(Node* node);
  void merge_if_sparse(Node* node, std::size_t index);
  void merge(Node* node, std::size_t left_index);

  Blob* new_blob(BytesView key, BytesView value);
  Blob* new_separator(BytesView below, BytesView above);
  Node* new_node(std::size_t level, std::size_t capacity);
  Node* copy_slots(const Node* from, std::size_t begin, std::size_t end, std::size_t capacity);
  // `node` itself if this edit made it and it has room for `slots`, else a copy in its place.
  Node* writable(Node* node, std::size_t slots);
  void discard(Blob* blob);
  void discard(Node* node);
  void discard_subtree(Node* node);
  void free_own(Node* node);

  Node* root_;
  const std::uint64_t version_;
  std::vector<Garbage> garbage_;
  std::size_t allocated_ = 0;
  std::size_t freed_ = 0;
};

// Walks one version of a tree, which must stay pinned meanwhile.
class TreeCursor {
 public:
  explicit TreeCursor(const Node* root) : root_(root) {}

  void seek_not_below(BytesView key);  // the first entry >= key
  void seek_below(BytesView key);      // the last entry < key
  void seek_not_above(BytesView key);  // the last entry <= key
  void seek_last();
  bool valid() const { return depth_ > 0; }
  const Blob* entry() const { return path_[depth_ - 1].node->blobs()[path_[depth_ - 1].index]; }
  // Asks the processor for the beginnings of the neighbours in the same leaf, which are somewhere else in memory: they
  // arrive while the caller works on this entry.
  void prefetch_next() const {
    const auto& step = path_[depth_ - 1];
    if (step.index + 1 < step.node->count) prefetch(step.node->blobs()[step.index + 1]);
  }
  void prefetch_previous() const {
    const auto& step = path_[depth_ - 1];
    if (step.index > 0) prefetch(step.node->blobs()[step.index - 1]);
  }
  void next();
  void previous();

 private:
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kPrefetchedLines =
      4;  // the processor itself goes on where it sees a walk through memory

  struct Step {
    const Node* node;
    std::size_t index;
  };
  static void prefetch(const Blob* blob) {
    const auto* const at = reinterpret_cast<const char*>(blob);
    for (std::size_t line = 0; line < kPrefetchedLines; ++line) __builtin_prefetch(at + line * kLine);
  }
  void descend_to_first(const Node* node);
  void descend_to_last(const Node* node);

  const Node* root_;
  std::array<Step, Node::kMaxHeight> path_;
  std::size_t depth_ = 0;
};

}  // namespace stator::storage::tree
