#include "stator/storage/rocksdb/memtable/key_tree_factory.h"

#include <rocksdb/version.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "stator/storage/rocksdb/memtable/key_tree.h"

namespace stator::storage {
namespace {

class TreeIterator final : public rocksdb::MemTableRep::Iterator {
 public:
  explicit TreeIterator(const KeyTree& tree) : cursor_(tree) {}

  bool Valid() const override { return cursor_.valid(); }
  const char* key() const override { return cursor_.entry(); }
  void Next() override { cursor_.next(); }
  void Prev() override { cursor_.previous(); }
  void Seek(const rocksdb::Slice& internal_key, const char* /*memtable_key*/) override {
    cursor_.seek_not_below(internal_key);
  }
  void SeekForPrev(const rocksdb::Slice& internal_key, const char* /*memtable_key*/) override {
    cursor_.seek_not_above(internal_key);
  }
  void SeekToFirst() override { cursor_.seek_first(); }
  void SeekToLast() override { cursor_.seek_last(); }

 private:
  KeyTree::Cursor cursor_;
};

// For the GetDynamicPrefixIterator() that MemTableRep::Get() calls next on this thread.
thread_local TreeIterator* lent = nullptr;

class TreeTable final : public rocksdb::MemTableRep {
 public:
  TreeTable(const KeyComparator& compare, rocksdb::Allocator* allocator)
      : MemTableRep(allocator), compare_(compare), tree_(compare, [this](std::size_t bytes) { return take(bytes); }) {}

  void Insert(rocksdb::KeyHandle handle) override { tree_.insert(static_cast<const char*>(handle)); }
  bool Contains(const char* key) const override {
    KeyTree::Cursor cursor(tree_);
    cursor.seek_not_below(compare_.decode_key(key));
    return cursor.valid() && compare_(cursor.entry(), key) == 0;
  }
  std::size_t ApproximateMemoryUsage() override { return 0; }  // all of it is the allocator's

  // The base class takes an iterator from GetDynamicPrefixIterator() and, in this version, never deletes it: it gets
  // one from the stack.
  void Get(const rocksdb::LookupKey& key, void* arguments, bool (*found)(void*, const char*)) override {
    static_assert(ROCKSDB_MAJOR == 7 && ROCKSDB_MINOR == 8, "look whether MemTableRep::Get() deletes its iterator");
    TreeIterator iterator(tree_);
    lent = &iterator;
    MemTableRep::Get(key, arguments, found);
  }
  Iterator* GetDynamicPrefixIterator(rocksdb::Arena* arena) override {
    if (lent != nullptr) return std::exchange(lent, nullptr);
    return GetIterator(arena);
  }

  Iterator* GetIterator(rocksdb::Arena* arena) override {
    if (arena == nullptr) return new TreeIterator(tree_);
    // RocksDB's headers do not say that an arena is an allocator, its first and only base.
    TreeTable in_arena(compare_, reinterpret_cast<rocksdb::Allocator*>(arena));
    constexpr auto kAlignment = alignof(TreeIterator);
    auto* const bytes = in_arena.take(sizeof(TreeIterator) + kAlignment);
    const auto beyond = reinterpret_cast<std::uintptr_t>(bytes) % kAlignment;
    return new (bytes + (beyond == 0 ? 0 : kAlignment - beyond)) TreeIterator(tree_);
  }

 private:
  char* take(std::size_t bytes) {
    char* taken = nullptr;
    Allocate(bytes, &taken);
    return taken;
  }

  const KeyComparator& compare_;
  KeyTree tree_;
};

class TreeFactory final : public rocksdb::MemTableRepFactory {
 public:
  using MemTableRepFactory::CreateMemTableRep;
  rocksdb::MemTableRep* CreateMemTableRep(const rocksdb::MemTableRep::KeyComparator& compare,
                                          rocksdb::Allocator* allocator, const rocksdb::SliceTransform* /*prefix*/,
                                          rocksdb::Logger* /*log*/) override {
    return new TreeTable(compare, allocator);
  }
  const char* Name() const override { return "StatorKeyTree"; }
};

}  // namespace

std::shared_ptr<rocksdb::MemTableRepFactory> new_key_tree_factory() { return std::make_shared<TreeFactory>(); }

}  // namespace stator::storage
