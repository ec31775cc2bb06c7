#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stator::console {

// The name of the attribute that is the partition key of a table, or of an index of it; nothing when there is no such
// table or index.  An empty index is the table itself.
using PartitionKeyOf = std::function<std::optional<std::string>(std::string_view table, std::string_view index)>;

struct Partition {
  std::string table, key;
};

// The partitions that a request of the DynamoDB API is about, as far as its body says: by keys, items, and key
// conditions.  At most kMostPartitions, each once; of a body above kMostPartitionBytes none, and none of a body that
// cannot be read.
std::vector<Partition> partitions_of(std::string_view body, const PartitionKeyOf& key_of);
inline constexpr std::size_t kMostPartitions = 100;
inline constexpr std::size_t kMostPartitionBytes = std::size_t{256} << 10;

// The table that a request names, if it names one.
std::string table_of(std::string_view body);

}  // namespace stator::console
