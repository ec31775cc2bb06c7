#include "stator/storage/rocksdb/counter_merge.h"

#include "stator/storage/store.h"

namespace stator::storage {
namespace {

class CounterMerge final : public rocksdb::AssociativeMergeOperator {
 public:
  // On disk: RocksDB compares this name when it opens a folder.
  const char* Name() const override { return "stator.counter"; }

  // False makes RocksDB answer Corruption to every read of the key.
  bool Merge(const rocksdb::Slice& /*key*/, const rocksdb::Slice* existing, const rocksdb::Slice& operand,
             std::string* sum, rocksdb::Logger* /*log*/) const override {
    const auto delta = decode_counter({operand.data(), operand.size()});
    if (!delta) return false;
    std::int64_t value = 0;
    if (existing != nullptr) {
      const auto before = decode_counter({existing->data(), existing->size()});
      if (!before) return false;
      value = *before;
    }
    *sum = encode_counter(add_to_counter(value, *delta));
    return true;
  }
};

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> new_counter_merge() { return std::make_shared<CounterMerge>(); }

}  // namespace stator::storage
