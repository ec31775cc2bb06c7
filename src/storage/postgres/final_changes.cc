#include "stator/storage/postgres/final_changes.h"

#include <algorithm>

namespace stator::storage::postgres {
namespace {

bool is_inside(const KeyRange& range, BytesView key) {
  return key >= range.begin && (range.end.empty() || key < range.end);
}

}  // namespace

Result<FinalChanges> FinalChanges::of(const Batch& batch, CommitSequence sequence,
                                      const std::function<std::optional<BytesView>(const Bytes& key)>& counter) {
  FinalChanges changes;
  for (const auto& operation : batch.operations()) {
    if (operation.kind == Batch::Kind::EraseRange) {
      KeyRange range{operation.key, operation.value};
      if (!range.end.empty() && range.end <= range.begin) continue;
      const auto last = range.end.empty() ? changes.keys.end() : changes.keys.lower_bound(range.end);
      changes.keys.erase(changes.keys.lower_bound(range.begin), last);
      changes.erased_ranges.push_back(std::move(range));
      continue;
    }
    STATOR_ASSERT(!is_reserved_key(operation.key), "reserved keys belong to the backends");
    switch (operation.kind) {
      case Batch::Kind::PutSequenced: {
        auto key = operation.key;
        write_sequence(key, operation.sequence_at, sequence);
        changes.keys.insert_or_assign(std::move(key), operation.value);
        break;
      }
      case Batch::Kind::Put: changes.keys.insert_or_assign(operation.key, operation.value); break;
      case Batch::Kind::Erase: changes.keys.insert_or_assign(operation.key, std::nullopt); break;
      case Batch::Kind::Add: {
        std::optional<BytesView> before;
        if (const auto found = changes.keys.find(operation.key); found != changes.keys.end()) {
          if (found->second) before = *found->second;
        } else if (std::ranges::none_of(changes.erased_ranges,
                                        [&](const auto& range) { return is_inside(range, operation.key); })) {
          before = counter(operation.key);
        }
        const auto value = before ? TRY(decode_counter(*before)) : 0;
        changes.keys.insert_or_assign(operation.key, encode_counter(add_to_counter(value, operation.delta)));
        break;
      }
      case Batch::Kind::EraseRange: break;
    }
  }
  return changes;
}

}  // namespace stator::storage::postgres
