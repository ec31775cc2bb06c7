#include "stator/storage/tree/tree.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "stator/base/assert.h"

namespace stator::storage::tree {
namespace {

constexpr std::size_t kWorthPrefetching = 8;                    // paths
constexpr std::size_t kSparse = Node::kMaxSlots / 4;            // fewer slots: try to merge with a neighbour
constexpr std::size_t kMergedAtMost = Node::kMaxSlots * 3 / 4;  // leaves room, so that the next insert does not divide

std::size_t common_prefix(BytesView a, BytesView b) {
  const auto end = std::min(a.size(), b.size());
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(end), b.begin()).first - a.begin());
}

// The eight bytes of `key` from `skip` on as a number that compares as they do; zeros stand for what is not there.
std::uint64_t head_of(BytesView key, std::size_t skip) {
  std::uint64_t head = 0;
  if (key.size() >= skip + sizeof head) {
    std::memcpy(&head, key.data() + skip, sizeof head);
  } else if (key.size() > skip) {
    std::memcpy(&head, key.data() + skip, key.size() - skip);
  }
  return __builtin_bswap64(head);  // both platforms we run on are little-endian
}

struct Position {
  std::size_t index;  // the first slot whose key is not below the one sought
  bool exact;
};

// Asks the processor for all heads at once.  Otherwise a search waits for one line after another.
void prefetch_heads(const Node* node) {
  constexpr std::size_t kHeadsInLine = 8;
  for (std::size_t i = 0; i < Node::kMaxSlots; i += kHeadsInLine) __builtin_prefetch(node->heads() + i);
}

Position lower_bound(const Node* node, BytesView key) {
  prefetch_heads(node);
  std::size_t low = node->first_key();
  std::size_t high = node->count;
  if (low >= high) return {low, false};

  const auto prefix = node->prefix();
  const int order = key.substr(0, prefix.size()).compare(prefix);
  if (order != 0) return {order < 0 ? low : high, false};

  const auto head = head_of(key, prefix.size());
  const auto* heads = node->heads();
  auto width = high - low;
  while (width > 0) {
    const auto half = width / 2;
    const bool below = heads[low + half] < head;
    low = below ? low + half + 1 : low;
    width = below ? width - half - 1 : half;
  }
  if (low == high || heads[low] != head) return {low, false};

  // Slots with the same head differ, if at all, behind it; they are a run, so search that run by whole keys.
  high = static_cast<std::size_t>(std::upper_bound(heads + low, heads + high, head) - heads);
  while (low < high) {
    const auto middle = (low + high) / 2;
    const int difference = node->blobs()[middle]->key().substr(prefix.size()).compare(key.substr(prefix.size()));
    if (difference == 0) return {middle, true};
    if (difference < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return {low, false};
}

// The child whose range holds `key`.
std::size_t child_index(const Node* node, BytesView key) {
  const auto position = lower_bound(node, key);
  return position.exact ? position.index : position.index - 1;
}

// Makes the first `size` bytes of every key in `node` its prefix.
void set_prefix(Node* node, std::size_t size) {
  const auto first = node->first_key();
  node->prefix_size = static_cast<std::uint32_t>(size);
  if (size <= Node::kInlinePrefix) std::memcpy(node->inline_prefix.data(), node->blobs()[first]->bytes(), size);
  for (std::size_t i = first; i < node->count; ++i) node->heads()[i] = head_of(node->blobs()[i]->key(), size);
}

// Lengthens the prefix to all that the keys have in common.  Worth its cost where slots have just been moved between
// nodes.
void fit_prefix(Node* node) {
  if (node->count <= node->first_key()) return;
  const auto size = common_prefix(node->blobs()[node->first_key()]->key(), node->blobs()[node->count - 1]->key());
  if (size != node->prefix_size) set_prefix(node, size);
}

std::size_t capacity_for(std::size_t slots) {
  std::size_t capacity = 8;
  while (capacity < slots) capacity *= 2;
  return capacity;
}

// Moves the slots from `from` on to `to` on, within a node.
void move_slots(Node* node, std::size_t from, std::size_t to) {
  const auto moved = node->count - from;
  std::memmove(node->heads() + to, node->heads() + from, moved * sizeof(std::uint64_t));
  std::memmove(node->blobs() + to, node->blobs() + from, moved * sizeof(Blob*));
  if (!node->leaf()) std::memmove(node->children() + to, node->children() + from, moved * sizeof(Node*));
}

// Inserts where there is room.
void insert_into_room(Node* node, std::size_t at, Blob* blob, Node* child) {
  const bool has_keys = node->count > node->first_key();
  if (has_keys && !blob->key().starts_with(node->prefix())) {
    set_prefix(node, common_prefix(blob->key(), node->prefix()));
  }
  move_slots(node, at, at + 1);
  ++node->count;
  node->blobs()[at] = blob;
  if (child != nullptr) node->children()[at] = child;
  if (has_keys) {
    node->heads()[at] = head_of(blob->key(), node->prefix_size);
  } else {
    set_prefix(node, blob->key_size);
  }
}

}  // namespace

void free_blob(Blob* blob) { ::operator delete(blob, blob->allocated()); }
void free_node(Node* node) { ::operator delete(node, node->allocated()); }

const Blob* find(const Node* root, BytesView key) {
  const Node* node = root;
  if (node == nullptr) return nullptr;
  while (!node->leaf()) {
    node = node->children()[child_index(node, key)];
    // The search reads the header and then the middle of the heads; ask for both at once.
    __builtin_prefetch(node);
    __builtin_prefetch(reinterpret_cast<const char*>(node) + 3 * 64);
  }
  const auto position = lower_bound(node, key);
  return position.exact ? node->blobs()[position.index] : nullptr;
}

void prefetch_paths(const Node* root, const std::vector<Batch::Operation>& operations, std::size_t first) {
  const auto count = std::min(kPathsAtOnce, operations.size() - first);
  if (root == nullptr || count < kWorthPrefetching) return;
  std::array<const Node*, kPathsAtOnce> nodes;
  nodes.fill(root);
  // All leaves are on one level.
  for (auto level = root->level; level > 0; --level) {
    for (std::size_t i = 0; i < count; ++i) {
      nodes[i] = nodes[i]->children()[child_index(nodes[i], operations[first + i].key)];
      __builtin_prefetch(nodes[i]);
      prefetch_heads(nodes[i]);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto position = lower_bound(nodes[i], operations[first + i].key);
    if (position.exact) __builtin_prefetch(nodes[i]->blobs()[position.index]);
  }
}

Edit::~Edit() {
  if (root_ != nullptr) free_own(root_);
}

Edit::Outcome Edit::take() {
  Outcome outcome{std::exchange(root_, nullptr), std::move(garbage_), allocated_, freed_};
  return outcome;
}

const Blob* Edit::put(BytesView key, BytesView value, bool only_if_present) {
  if (root_ == nullptr) {
    if (only_if_present) return nullptr;
    root_ = new_node(0, 8);
  }
  Put put{.key = key, .value = value, .only_if_present = only_if_present};
  Split split;
  root_ = put_into(root_, put, split);
  if (split.right != nullptr) {
    STATOR_ASSERT(root_->level + 1U < Node::kMaxHeight, "a tree is never this tall");
    Node* above = new_node(root_->level + 1U, 8);
    above->children()[0] = root_;
    above->blobs()[0] = nullptr;
    above->count = 1;
    insert_into_room(above, 1, split.separator, split.right);
    root_ = above;
  }
  return put.entry;
}

void Edit::erase(BytesView key) {
  if (root_ == nullptr) return;
  root_ = erase_from(root_, key);
  while (root_ != nullptr && !root_->leaf() && root_->count == 1) discard(std::exchange(root_, root_->children()[0]));
}

void Edit::erase_range(BytesView begin, BytesView end) {
  if (root_ == nullptr || (!end.empty() && end <= begin)) return;
  root_ = erase_range_from(root_, begin, end);
  while (root_ != nullptr && !root_->leaf() && root_->count == 1) discard(std::exchange(root_, root_->children()[0]));
}

Node* Edit::put_into(Node* node, Put& put, Split& split) {
  const auto position = lower_bound(node, put.key);
  if (node->leaf()) {
    if (!position.exact && put.only_if_present) return node;
    put.entry = new_blob(put.key, put.value);
    if (!position.exact) return insert_slot(node, position.index, put.entry, nullptr, split);
    node = writable(node, node->count);
    if (node->blobs()[position.index]->is_used()) put.entry->mark_used();
    discard(std::exchange(node->blobs()[position.index], put.entry));
    return node;
  }
  const auto index = position.exact ? position.index : position.index - 1;
  Split below;
  Node* child = put_into(node->children()[index], put, below);
  if (child != node->children()[index]) {
    node = writable(node, node->count);
    node->children()[index] = child;
  }
  if (below.right != nullptr) node = insert_slot(node, index + 1, below.separator, below.right, split);
  return node;
}

Node* Edit::insert_slot(Node* node, std::size_t at, Blob* blob, Node* child, Split& split) {
  if (node->count == Node::kMaxSlots) return divide(node, at, blob, child, split);
  node = writable(node, node->count + 1U);
  insert_into_room(node, at, blob, child);
  return node;
}

Node* Edit::divide(Node* node, std::size_t at, Blob* blob, Node* child, Split& split) {
  // Keys that arrive in order (a stream's records, a log) would leave half-empty nodes behind if each were cut in its
  // middle.
  const std::size_t middle = at == node->count ? node->count : node->count / 2U;
  Node* left;
  Node* right;
  if (middle == node->count) {
    left = node;
    right = new_node(node->level, 8);
    if (node->leaf()) {
      insert_into_room(right, 0, blob, nullptr);
    } else {
      right->children()[0] = child;
      right->blobs()[0] = nullptr;
      right->count = 1;
      split.separator = blob;
    }
  } else {
    right = copy_slots(node, middle, node->count, node->count - middle + 1U);
    left = copy_slots(node, 0, middle, middle + 1U);
    discard(node);
    if (!right->leaf()) split.separator = std::exchange(right->blobs()[0], nullptr);
    if (at <= middle) {
      insert_into_room(left, at, blob, child);
    } else {
      insert_into_room(right, at - middle, blob, child);
    }
    fit_prefix(left);
    fit_prefix(right);
  }
  if (right->leaf()) {
    split.separator = new_separator(left->blobs()[left->count - 1]->key(), right->blobs()[0]->key());
  }
  split.right = right;
  return left;
}

Node* Edit::erase_from(Node* node, BytesView key) {
  const auto position = lower_bound(node, key);
  if (node->leaf()) {
    if (!position.exact) return node;
    if (node->count == 1) {
      discard_subtree(node);
      return nullptr;
    }
    node = writable(node, node->count);
    discard(node->blobs()[position.index]);
    move_slots(node, position.index + 1, position.index);
    --node->count;
    return node;
  }
  const auto index = position.exact ? position.index : position.index - 1;
  Node* child = erase_from(node->children()[index], key);
  if (child == node->children()[index] && node->born != version_) return node;  // nothing was erased
  node = writable(node, node->count);
  node->children()[index] = child;
  if (child != nullptr) {
    merge_if_sparse(node, index);
    return node;
  }
  remove_empty_children(node);
  if (node->count > 0) return node;
  discard(node);
  return nullptr;
}

Node* Edit::erase_range_from(Node* node, BytesView begin, BytesView end) {
  if (node->leaf()) {
    const auto first = lower_bound(node, begin).index;
    const auto last = end.empty() ? node->count : lower_bound(node, end).index;
    if (first >= last) return node;
    if (last - first == node->count) {
      discard_subtree(node);
      return nullptr;
    }
    node = writable(node, node->count);
    for (auto i = first; i < last; ++i) discard(node->blobs()[i]);
    move_slots(node, last, first);
    node->count = static_cast<std::uint16_t>(node->count - (last - first));
    return node;
  }

  // Children strictly between the two edges go whole; only the edges are looked into.
  const auto first = child_index(node, begin);
  const auto last = end.empty() ? node->count - 1U : child_index(node, end);
  Node* first_child = erase_range_from(node->children()[first], begin, end);
  Node* last_child = first == last ? first_child : erase_range_from(node->children()[last], begin, end);
  const bool unchanged = first_child == node->children()[first] && last_child == node->children()[last];
  if (unchanged && last - first <= 1 && node->born != version_) return node;
  node = writable(node, node->count);
  for (auto i = first + 1; i < last; ++i) discard_subtree(std::exchange(node->children()[i], nullptr));
  node->children()[first] = first_child;
  node->children()[last] = last_child;
  remove_empty_children(node);
  if (node->count == 0) {
    discard(node);
    return nullptr;
  }
  // The rest of the edges is now at `first` and behind it.
  if (first + 1 < node->count) merge_if_sparse(node, first + 1);
  if (first < node->count) merge_if_sparse(node, first);
  return node;
}

void Edit::remove_empty_children(Node* node) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < node->count; ++i) {
    Blob* separator = node->blobs()[i];
    if (node->children()[i] == nullptr || kept == 0) {  // the first child kept has no use for its separator
      if (separator != nullptr) discard(separator);
      separator = nullptr;
    }
    if (node->children()[i] == nullptr) continue;
    node->heads()[kept] = node->heads()[i];
    node->blobs()[kept] = separator;
    node->children()[kept] = node->children()[i];
    ++kept;
  }
  node->count = static_cast<std::uint16_t>(kept);
}

void Edit::merge_if_sparse(Node* node, std::size_t index) {
  const std::size_t slots = node->children()[index]->count;
  if (slots >= kSparse) return;
  if (index > 0 && slots + node->children()[index - 1]->count <= kMergedAtMost) {
    merge(node, index - 1);
  } else if (index + 1 < node->count && slots + node->children()[index + 1]->count <= kMergedAtMost) {
    merge(node, index);
  }
}

void Edit::merge(Node* node, std::size_t left_index) {
  Node* left = node->children()[left_index];
  Node* right = node->children()[left_index + 1];
  Blob* separator = node->blobs()[left_index + 1];
  Node* merged = copy_slots(left, 0, left->count, static_cast<std::size_t>(left->count) + right->count);
  std::memcpy(merged->blobs() + left->count, right->blobs(), right->count * sizeof(Blob*));
  merged->count = static_cast<std::uint16_t>(left->count + right->count);
  if (merged->leaf()) {
    discard(separator);
  } else {
    std::memcpy(merged->children() + left->count, right->children(), right->count * sizeof(Node*));
    merged->blobs()[left->count] = separator;
  }
  set_prefix(merged,
             common_prefix(merged->blobs()[merged->first_key()]->key(), merged->blobs()[merged->count - 1]->key()));
  discard(left);
  discard(right);
  node->children()[left_index] = merged;
  move_slots(node, left_index + 2, left_index + 1);
  --node->count;
}

Blob* Edit::new_blob(BytesView key, BytesView value) {
  constexpr std::size_t kMax = std::numeric_limits<std::uint32_t>::max();
  STATOR_ASSERT(key.size() <= kMax && value.size() <= kMax, "keys and values are far below 4 GB");
  const auto size = sizeof(Blob) + key.size() + value.size();
  auto* blob = static_cast<Blob*>(::operator new(size));
  blob->born_low = static_cast<std::uint32_t>(version_);
  blob->born_high = static_cast<std::uint16_t>(version_ >> 32);
  blob->mark = 0;
  blob->key_size = static_cast<std::uint32_t>(key.size());
  blob->value_size = static_cast<std::uint32_t>(value.size());
  std::memcpy(blob->bytes(), key.data(), key.size());
  if (!value.empty()) std::memcpy(blob->bytes() + key.size(), value.data(), value.size());
  allocated_ += size;
  return blob;
}

// The shortest key above `below` and not above `above`: short separators differ early, within the head.
Blob* Edit::new_separator(BytesView below, BytesView above) {
  return new_blob(above.substr(0, common_prefix(below, above) + 1), {});
}

Node* Edit::new_node(std::size_t level, std::size_t capacity) {
  const auto size = Node::allocated_for(level, capacity);
  auto* node = static_cast<Node*>(::operator new(size));
  node->born = version_;
  node->prefix_size = 0;
  node->count = 0;
  node->capacity = static_cast<std::uint8_t>(capacity);
  node->level = static_cast<std::uint8_t>(level);
  allocated_ += size;
  return node;
}

Node* Edit::copy_slots(const Node* from, std::size_t begin, std::size_t end, std::size_t capacity) {
  Node* node = new_node(from->level, capacity_for(capacity));
  node->prefix_size = from->prefix_size;
  node->inline_prefix = from->inline_prefix;
  node->count = static_cast<std::uint16_t>(end - begin);
  std::memcpy(node->heads(), from->heads() + begin, node->count * sizeof(std::uint64_t));
  std::memcpy(node->blobs(), from->blobs() + begin, node->count * sizeof(Blob*));
  if (!node->leaf()) std::memcpy(node->children(), from->children() + begin, node->count * sizeof(Node*));
  return node;
}

Node* Edit::writable(Node* node, std::size_t slots) {
  if (node->born == version_ && node->capacity >= slots) return node;
  Node* copy = copy_slots(node, 0, node->count, slots);
  discard(node);
  return copy;
}

void Edit::discard(Blob* blob) {
  if (blob->born() == version_) {
    freed_ += blob->allocated();
    free_blob(blob);
  } else {
    garbage_.push_back(Garbage::blob(blob));
  }
}

void Edit::discard(Node* node) {
  if (node->born == version_) {
    freed_ += node->allocated();
    free_node(node);
  } else {
    garbage_.push_back(Garbage::node(node));
  }
}

void Edit::discard_subtree(Node* node) {
  if (node->born != version_) {  // then so is everything below it
    garbage_.push_back(Garbage::subtree(node));
    return;
  }
  for (auto i = node->first_key(); i < node->count; ++i) discard(node->blobs()[i]);
  if (!node->leaf()) {
    for (std::size_t i = 0; i < node->count; ++i) discard_subtree(node->children()[i]);
  }
  discard(node);
}

void Edit::free_own(Node* node) {
  if (node->born != version_) return;
  for (auto i = node->first_key(); i < node->count; ++i) {
    if (node->blobs()[i]->born() == version_) free_blob(node->blobs()[i]);
  }
  if (!node->leaf()) {
    for (std::size_t i = 0; i < node->count; ++i) free_own(node->children()[i]);
  }
  free_node(node);
}

void TreeCursor::descend_to_first(const Node* node) {
  for (;; node = node->children()[0]) {
    path_[depth_++] = {node, 0};
    if (node->leaf()) return;
  }
}

void TreeCursor::descend_to_last(const Node* node) {
  for (;; node = node->children()[node->count - 1]) {
    path_[depth_++] = {node, node->count - 1U};
    if (node->leaf()) return;
  }
}

void TreeCursor::seek_not_below(BytesView key) {
  depth_ = 0;
  if (root_ == nullptr) return;
  const Node* node = root_;
  while (!node->leaf()) {
    const auto index = child_index(node, key);
    path_[depth_++] = {node, index};
    node = node->children()[index];
  }
  const auto index = lower_bound(node, key).index;
  path_[depth_++] = {node, index};
  if (index == node->count) {
    path_[depth_ - 1].index = node->count - 1U;
    next();
  }
}

void TreeCursor::seek_below(BytesView key) {
  seek_not_below(key);
  if (valid()) {
    previous();
  } else {
    seek_last();
  }
}

void TreeCursor::seek_not_above(BytesView key) {
  seek_not_below(key);
  if (!valid()) {
    seek_last();
  } else if (entry()->key() != key) {
    previous();
  }
}

void TreeCursor::seek_last() {
  depth_ = 0;
  if (root_ != nullptr) descend_to_last(root_);
}

void TreeCursor::next() {
  while (depth_ > 0) {
    auto& step = path_[depth_ - 1];
    if (++step.index < step.node->count) {
      if (!step.node->leaf()) descend_to_first(step.node->children()[step.index]);
      return;
    }
    --depth_;
  }
}

void TreeCursor::previous() {
  while (depth_ > 0) {
    auto& step = path_[depth_ - 1];
    if (step.index-- > 0) {
      if (!step.node->leaf()) descend_to_last(step.node->children()[step.index]);
      return;
    }
    --depth_;
  }
}

}  // namespace stator::storage::tree
