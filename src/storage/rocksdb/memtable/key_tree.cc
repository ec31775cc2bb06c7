#include "stator/storage/rocksdb/memtable/key_tree.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>
#include <type_traits>

#include "stator/base/assert.h"
#include "stator/base/bytes.h"

namespace stator::storage {
namespace {

constexpr std::size_t kLine = 64;            // bytes
constexpr std::size_t kSequenceAndType = 8;  // bytes at the end of an internal key
constexpr int kSpins = 64;                   // then the thread that inserts may need this core

}  // namespace

// The slots of a node are sorted.  Readers load with acquire and the writer stores with release, so that what a reader
// has seen is as old as the version that it compares afterwards.
struct KeyTree::Node {
  explicit Node(bool is_leaf) : leaf(is_leaf) {}

  std::atomic<std::uint32_t> version{0};
  std::atomic<std::uint32_t> count{0};
  const bool leaf;
  std::atomic<Node*> next{nullptr};  // a leaf's right neighbour
  struct AtomicHead {
    std::atomic<std::uint64_t> high, low;
  };
  alignas(kLine) std::array<AtomicHead, kSlots> heads{};
  std::array<std::atomic<const char*>, kSlots> entries{};

  // -- for readers

  std::uint32_t begin_read() const {
    for (int spins = 0;; ++spins) {
      const auto seen = version.load(std::memory_order_acquire);
      if (seen % 2 == 0) return seen;
      if (spins >= kSpins) std::this_thread::yield();
    }
  }
  bool is_unchanged(std::uint32_t seen) const { return version.load(std::memory_order_relaxed) == seen; }
  std::size_t size() const { return count.load(std::memory_order_acquire); }
  Head head(std::size_t index) const {
    return {heads[index].high.load(std::memory_order_acquire), heads[index].low.load(std::memory_order_acquire)};
  }
  const char* entry(std::size_t index) const { return entries[index].load(std::memory_order_acquire); }
  // Asks the processor for all heads at once.  Otherwise a search waits for one line after another.
  void prefetch_heads() const {
    constexpr std::size_t kHeadsInLine = kLine / sizeof(AtomicHead);
    for (std::size_t i = 0; i < kSlots; i += kHeadsInLine) __builtin_prefetch(&heads[i]);
  }

  // -- for the thread that inserts

  void begin_change() { version.store(version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void end_change() { version.store(version.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  bool is_full() const { return size() == kSlots; }
  void set(std::size_t index, const Head& head, const char* entry) {
    heads[index].high.store(head.high, std::memory_order_release);
    heads[index].low.store(head.low, std::memory_order_release);
    entries[index].store(entry, std::memory_order_release);
  }
  void set_size(std::size_t size) { count.store(static_cast<std::uint32_t>(size), std::memory_order_release); }
  void insert(std::size_t at, const Slot& slot) {
    for (auto i = size(); i > at; --i) set(i, head(i - 1), entry(i - 1));
    set(at, slot.head, slot.entry);
    set_size(size() + 1);
  }
};

// Child i + 1 begins with entry i, and child 0 has all entries below entry 0.
struct KeyTree::InnerNode : Node {
  InnerNode() : Node(false) {}

  std::array<std::atomic<Node*>, kSlots + 1> children{};

  Node* child(std::size_t index) const { return children[index].load(std::memory_order_acquire); }
  void set_child(std::size_t index, Node* node) { children[index].store(node, std::memory_order_release); }
  void insert(std::size_t at, const Slot& slot) {
    for (auto i = size() + 1; i > at + 1; --i) set_child(i, child(i - 1));
    set_child(at + 1, slot.child);
    Node::insert(at, slot);
  }
};

KeyTree::Head KeyTree::Head::of(const rocksdb::Slice& internal_key) {
  char bytes[sizeof(Head)] = {};
  std::memcpy(bytes, internal_key.data(), std::min(sizeof bytes, internal_key.size() - kSequenceAndType));
  return {read_u64be(bytes), read_u64be(bytes + sizeof(std::uint64_t))};
}

std::size_t KeyTree::count_below(const Node& node, const Head& head, const rocksdb::Slice& key, bool or_equal) const {
  node.prefetch_heads();
  std::size_t low = 0;
  auto width = node.size();
  while (width > 0) {
    const auto half = width / 2;
    const bool below = node.head(low + half) < head;
    low = below ? low + half + 1 : low;
    width = below ? width - half - 1 : half;
  }
  // Slots with the same head differ behind it; they follow one another.
  const auto is_below = [&](std::size_t index) {
    if (node.head(index) != head) return false;
    const auto order = compare_(node.entry(index), key);
    return order < 0 || (or_equal && order == 0);
  };
  width = node.size() - std::min(low, node.size());
  if (width == 0 || node.head(low) != head) return low;
  while (width > 0) {
    const auto half = width / 2;
    const bool below = is_below(low + half);
    low = below ? low + half + 1 : low;
    width = below ? width - half - 1 : half;
  }
  return low;
}

// -- inserting

template <typename AnyNode>
AnyNode* KeyTree::new_node() {
  auto* const bytes = allocate_(sizeof(AnyNode) + kLine);
  const auto beyond = reinterpret_cast<std::uintptr_t>(bytes) % kLine;
  char* const aligned = bytes + (beyond == 0 ? 0 : kLine - beyond);
  if constexpr (std::is_same_v<AnyNode, Node>) {
    return new (aligned) Node(/*is_leaf=*/true);
  } else {
    return new (aligned) AnyNode();
  }
}

void KeyTree::insert(const char* entry) {
  const auto key = key_of(entry);
  Slot slot{.head = Head::of(key), .entry = entry, .child = nullptr};
  if (root_.load(std::memory_order_relaxed) == nullptr) {
    auto* const leaf = new_node<Node>();
    leaf->insert(0, slot);
    root_.store(leaf, std::memory_order_release);
    return;
  }

  std::array<Step, kMaxHeight> path;
  std::size_t height = 0;
  for (auto* node = root_.load(std::memory_order_relaxed);;) {
    STATOR_ASSERT(height < kMaxHeight, "a tree is never this tall");
    const auto index = count_below(*node, slot.head, key, /*or_equal=*/true);
    path[height++] = {node, index};
    if (node->leaf) break;
    node = static_cast<InnerNode*>(node)->child(index);
  }

  // A node that is full is divided, which changes the one above it.  Readers must not see one change without the
  // others.
  auto first = height - 1;
  while (first > 0 && path[first].node->is_full()) --first;
  for (auto at = first; at < height; ++at) path[at].node->begin_change();
  for (auto at = height; at-- > first;) {
    auto& [node, index] = path[at];
    if (node->leaf) {
      if (node->is_full()) {
        slot = divide_leaf(*node, index, slot);
      } else {
        node->insert(index, slot);
      }
    } else if (auto& inner = static_cast<InnerNode&>(*node); inner.is_full()) {
      slot = divide_inner(inner, index, slot);
    } else {
      inner.insert(index, slot);
      slot.child = nullptr;
    }
  }
  if (slot.child != nullptr) {
    auto* const above = new_node<InnerNode>();
    above->set_child(0, path[0].node);
    above->insert(0, slot);
    root_.store(above, std::memory_order_release);
  }
  for (auto at = first; at < height; ++at) path[at].node->end_change();
}

KeyTree::Slot KeyTree::divide_leaf(Node& left, std::size_t at, const Slot& slot) {
  auto& right = *new_node<Node>();
  // Keys that arrive in order would leave half-empty leaves behind if each were cut in its middle.
  const bool at_the_end = at == kSlots && left.next.load(std::memory_order_relaxed) == nullptr;
  const auto middle = at_the_end ? kSlots : kSlots / 2;
  for (auto i = middle; i < kSlots; ++i) right.set(i - middle, left.head(i), left.entry(i));
  right.set_size(kSlots - middle);
  left.set_size(middle);
  if (at <= middle && !at_the_end) {
    left.insert(at, slot);
  } else {
    right.insert(at - middle, slot);
  }
  right.next.store(left.next.load(std::memory_order_relaxed), std::memory_order_release);
  left.next.store(&right, std::memory_order_release);
  return {.head = right.head(0), .entry = right.entry(0), .child = &right};
}

KeyTree::Slot KeyTree::divide_inner(InnerNode& left, std::size_t at, const Slot& slot) {
  auto& right = *new_node<InnerNode>();
  constexpr auto kMiddle = kSlots / 2;
  const Slot up{.head = left.head(kMiddle), .entry = left.entry(kMiddle), .child = &right};
  right.set_child(0, left.child(kMiddle + 1));
  for (auto i = kMiddle + 1; i < kSlots; ++i) {
    right.set(i - kMiddle - 1, left.head(i), left.entry(i));
    right.set_child(i - kMiddle, left.child(i + 1));
  }
  right.set_size(kSlots - kMiddle - 1);
  left.set_size(kMiddle);
  if (at <= kMiddle) {
    left.insert(at, slot);
  } else {
    right.insert(at - kMiddle - 1, slot);
  }
  return up;
}

// -- reading

template <typename Choose>
KeyTree::Place KeyTree::descend(const Choose& choose) const {
  for (;;) {
    const Node* node = root_.load(std::memory_order_acquire);
    if (node == nullptr) return {};
    auto version = node->begin_read();
    if (root_.load(std::memory_order_acquire) != node) continue;
    bool changed = false;
    while (!node->leaf && !changed) {
      const Node* child = static_cast<const InnerNode*>(node)->child(choose(*node));
      changed = !node->is_unchanged(version);  // otherwise it may be a child of another moment
      if (changed) break;
      const auto version_of_child = child->begin_read();
      changed = !node->is_unchanged(version);  // otherwise the child may have been divided
      node = child;
      version = version_of_child;
    }
    if (!changed) return {node, version};
  }
}

bool KeyTree::Cursor::stand_at(const Node* leaf, std::uint32_t version, std::size_t index) {
  if (index >= leaf->size()) {
    const auto* const next = leaf->next.load(std::memory_order_acquire);
    if (!leaf->is_unchanged(version)) return false;
    if (next == nullptr) {
      entry_ = nullptr;
      return true;
    }
    // Its first entry stays the first: what is below that goes into this leaf.
    leaf = next;
    version = next->begin_read();
    index = 0;
  }
  const auto* const entry = leaf->entry(index);
  if (!leaf->is_unchanged(version)) return false;
  leaf_ = leaf;
  version_ = version;
  index_ = index;
  entry_ = entry;
  return true;
}

void KeyTree::Cursor::seek_not_below(const rocksdb::Slice& internal_key) {
  entry_ = nullptr;
  const auto head = Head::of(internal_key);
  for (bool stands = false; !stands;) {
    const auto [leaf, version] =
        tree_.descend([&](const Node& node) { return tree_.count_below(node, head, internal_key, /*or_equal=*/true); });
    if (leaf == nullptr) return;
    stands = stand_at(leaf, version, tree_.count_below(*leaf, head, internal_key, /*or_equal=*/false));
  }
}

void KeyTree::Cursor::seek_above(const rocksdb::Slice& internal_key) {
  const auto head = Head::of(internal_key);
  const auto choose = [&](const Node& node) { return tree_.count_below(node, head, internal_key, /*or_equal=*/true); };
  for (bool stands = false; !stands;) {
    const auto [leaf, version] = tree_.descend(choose);
    stands = stand_at(leaf, version, choose(*leaf));
  }
}

void KeyTree::Cursor::seek_not_above(const rocksdb::Slice& internal_key) { seek_below(internal_key, true); }

// The leaf that a search for what is below leads to begins with such an entry, or is the first leaf.
void KeyTree::Cursor::seek_below(const rocksdb::Slice& internal_key, bool or_equal) {
  const auto head = Head::of(internal_key);
  const auto choose = [&](const Node& node) { return tree_.count_below(node, head, internal_key, or_equal); };
  for (bool stands = false; !stands;) {
    const auto [leaf, version] = tree_.descend(choose);
    const auto below = leaf != nullptr ? choose(*leaf) : 0;
    if (below > 0) {
      stands = stand_at(leaf, version, below - 1);
    } else {
      stands = leaf == nullptr || leaf->is_unchanged(version);
      if (stands) entry_ = nullptr;
    }
  }
}

void KeyTree::Cursor::seek_first() {
  entry_ = nullptr;
  for (bool stands = false; !stands;) {
    const auto [leaf, version] = tree_.descend([](const Node&) { return std::size_t{0}; });
    if (leaf == nullptr) return;
    stands = stand_at(leaf, version, 0);
  }
}

void KeyTree::Cursor::seek_last() {
  entry_ = nullptr;
  for (bool stands = false; !stands;) {
    const auto [leaf, version] = tree_.descend([](const Node& node) { return node.size(); });
    if (leaf == nullptr) return;
    stands = stand_at(leaf, version, leaf->size() - 1);  // no leaf is empty
  }
}

void KeyTree::Cursor::next() {
  if (leaf_->is_unchanged(version_) && stand_at(leaf_, version_, index_ + 1)) return;
  seek_above(tree_.key_of(entry_));
}

void KeyTree::Cursor::previous() {
  if (index_ > 0 && leaf_->is_unchanged(version_) && stand_at(leaf_, version_, index_ - 1)) return;
  seek_below(tree_.key_of(entry_), /*or_equal=*/false);
}

}  // namespace stator::storage
