#pragma once

#include <rocksdb/memtablerep.h>
#include <rocksdb/slice.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace stator::storage {

// The entries of one of RocksDB's memory tables in their order: a B+tree of pointers.
//
// RocksDB's own skip list visits some twenty entries for each insert, each somewhere else in memory: a third of the
// time of a commit of many items.  Here a search compares numbers in a few nodes.  A node has, beside the pointer to an
// entry, the first 16 bytes of its user key as a number that compares as they do; in our keys these hold the table, the
// index and the hash of the partition.  Entries are compared only where these are equal.
//
// One thread inserts, and any number of threads read meanwhile, without a lock.  A node has a version, which is odd
// while the node changes; a reader that finds it odd or changed begins again.  Everything is atomic for that, and
// nothing is freed before the tree is.  A cursor sees all entries that were there when it was made, and may see later
// ones.  A leaf takes 896 bytes for up to 32 entries: with keys in random order, some 40 for each, where the skip list
// takes 11.
//
// An entry is what RocksDB writes: the length of the internal key, the internal key (the user key and 8 bytes with the
// sequence and the type), the value.  No two are equal, and `compare` orders user keys by their bytes.
class KeyTree {
  struct Node;

 public:
  using Compare = rocksdb::MemTableRep::KeyComparator;
  // Memory that lives as long as the tree.
  using Allocate = std::function<char*(std::size_t bytes)>;

  // `compare` outlives the tree.
  KeyTree(const Compare& compare, Allocate allocate) : compare_(compare), allocate_(std::move(allocate)) {}
  KeyTree(const KeyTree&) = delete;
  KeyTree& operator=(const KeyTree&) = delete;

  void insert(const char* entry);

  // A place in the tree.  Confined to one thread; the tree outlives it.
  class Cursor {
   public:
    explicit Cursor(const KeyTree& tree) : tree_(tree) {}

    bool valid() const { return entry_ != nullptr; }
    const char* entry() const { return entry_; }
    void seek_not_below(const rocksdb::Slice& internal_key);
    void seek_not_above(const rocksdb::Slice& internal_key);
    void seek_first();
    void seek_last();
    void next();
    void previous();

   private:
    // The first entry behind a key; the last entry before it or, with `or_equal`, at it.
    void seek_above(const rocksdb::Slice& internal_key);
    void seek_below(const rocksdb::Slice& internal_key, bool or_equal);
    // Goes to a place in a leaf or, behind its end, to the next leaf.  False: the leaf has changed since `version`.
    bool stand_at(const Node* leaf, std::uint32_t version, std::size_t index);

    const KeyTree& tree_;
    const Node* leaf_ = nullptr;
    std::uint32_t version_ = 0;  // of the leaf
    std::size_t index_ = 0;
    const char* entry_ = nullptr;
  };

 private:
  static constexpr std::size_t kSlots = 32;
  // With at least 16 children in each node, no tree that fits in memory is this tall.
  static constexpr std::size_t kMaxHeight = 16;

  // The first 16 bytes of a user key; zeros stand for those that are not there.
  struct Head {
    std::uint64_t high = 0, low = 0;
    friend auto operator<=>(const Head&, const Head&) = default;
    static Head of(const rocksdb::Slice& internal_key);
  };
  struct InnerNode;
  // An entry for a leaf; for an inner node, a child and its first entry.
  struct Slot {
    Head head;
    const char* entry;
    Node* child;
  };
  // A leaf and its version.
  struct Place {
    const Node* leaf = nullptr;
    std::uint32_t version = 0;
  };
  struct Step {
    Node* node;
    std::size_t index;  // of the entry or the child
  };

  // How many slots have an entry below `key`, or not above it.
  std::size_t count_below(const Node& node, const Head& head, const rocksdb::Slice& key, bool or_equal) const;
  // Follows, from the root, the child with the index that `choose(node)` gives.
  template <typename Choose>
  Place descend(const Choose& choose) const;
  rocksdb::Slice key_of(const char* entry) const { return compare_.decode_key(entry); }

  // Makes a full node into two, with the new slot in one of them.  Answers the slot of the right one for the node
  // above.
  Slot divide_leaf(Node& left, std::size_t at, const Slot& slot);
  Slot divide_inner(InnerNode& left, std::size_t at, const Slot& slot);
  template <typename AnyNode>
  AnyNode* new_node();

  const Compare& compare_;
  const Allocate allocate_;
  std::atomic<Node*> root_{nullptr};  // null: the tree is empty
};

}  // namespace stator::storage
