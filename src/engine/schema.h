#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/result.h"
#include "stator/value/attribute_value.h"

namespace stator::engine {

struct TableId {
  std::uint32_t value = 0;
  friend auto operator<=>(const TableId&, const TableId&) = default;
};
// 0 is the table itself; indexes count from 1 and are never reused within a table.
struct IndexId {
  std::uint16_t value = 0;
  friend auto operator<=>(const IndexId&, const IndexId&) = default;
};
inline constexpr IndexId kBaseIndex{0};

// A key attribute: its type is S, N or B.
struct KeyAttribute {
  std::string name;
  value::Type type = value::Type::S;
  friend bool operator==(const KeyAttribute&, const KeyAttribute&) = default;
};

// The key attributes of a table or an index.  A table has one partition attribute and at most one sort attribute; a GSI
// up to four of each.
struct KeySchema {
  std::vector<KeyAttribute> partition;
  std::vector<KeyAttribute> sort;

  bool contains(std::string_view name) const;
  // Partition attributes, then sort attributes.
  template <typename Visitor>
  void for_each(Visitor&& visit) const {
    for (const auto& attribute : partition) visit(attribute);
    for (const auto& attribute : sort) visit(attribute);
  }
  friend bool operator==(const KeySchema&, const KeySchema&) = default;
};

enum class ProjectionKind : std::uint8_t { All, KeysOnly, Include };
struct IndexProjection {
  ProjectionKind kind = ProjectionKind::All;
  std::vector<std::string> non_key_attributes;  // Include only, as given
};

enum class IndexKind : std::uint8_t { Global, Local };

struct Throughput {
  std::int64_t read_units = 0;
  std::int64_t write_units = 0;
  friend bool operator==(const Throughput&, const Throughput&) = default;
};
// -1: no maximum.
struct OnDemandThroughput {
  std::optional<std::int64_t> max_read_units;
  std::optional<std::int64_t> max_write_units;
};

// Asked for and described; it encrypts nothing.
struct Encryption {
  std::string kms_key_arn;
  friend bool operator==(const Encryption&, const Encryption&) = default;
};

struct Index {
  IndexId id;
  std::string name;
  IndexKind kind = IndexKind::Global;
  KeySchema keys;
  IndexProjection projection;
  Throughput throughput;
  std::optional<OnDemandThroughput> on_demand;
  std::optional<Throughput> warm;
  // Added to a table that has items, and not all of them are in it yet: written to, but not read.  See IndexBuilder.
  bool building = false;
};

enum class BillingMode : std::uint8_t { Provisioned, PayPerRequest };
enum class StreamView : std::uint8_t { KeysOnly, NewImage, OldImage, NewAndOldImages };
struct Stream {
  bool enabled = false;
  StreamView view = StreamView::KeysOnly;
  std::string label;  // when it was enabled, to the millisecond; part of its ARN; the engine gives it
  std::optional<WallTime> since = std::nullopt;
};

// Everything about a table but its items.  Immutable once published: a change makes a new one, so a reader that holds
// one sees a table that does not move under it.
struct Table {
  TableId id;
  std::string name;
  std::string uuid;
  WallTime created;
  KeySchema keys;
  std::vector<Index> indexes;  // in the order in which they were declared
  std::uint16_t next_index_id = 1;
  // Attribute definitions as given, for DescribeTable.
  std::vector<KeyAttribute> attribute_definitions;

  BillingMode billing_mode = BillingMode::Provisioned;
  std::optional<WallTime> pay_per_request_since;
  bool billing_mode_given = false;  // BillingModeSummary is told only where the mode was ever chosen
  Throughput throughput;
  std::optional<WallTime> last_increase;
  std::optional<WallTime> last_decrease;
  std::int64_t decreases_today = 0;
  std::optional<OnDemandThroughput> on_demand;
  std::optional<Throughput> warm;
  Stream stream;
  std::optional<std::string> ttl_attribute;  // which attribute says when an item expires
  bool deletion_protection = false;
  std::optional<Encryption> encryption;
  std::optional<std::string> table_class;
  std::optional<WallTime> table_class_changed;
  std::vector<std::pair<std::string, std::string>> tags;

  const Index* find_index(std::string_view index_name) const;
  bool has_local_indexes() const;
  bool is_building() const;  // some index
  // The type the attribute has in some key of the table or of an index, or nullptr.
  const KeyAttribute* key_attribute(std::string_view attribute) const;
};

// The table as a stored record (docs/formats/catalog.md) and back.  Errors: Corruption.
Bytes encode_table(const Table& table);
Result<Table> decode_table(BytesView bytes);

}  // namespace stator::engine
