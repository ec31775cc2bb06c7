#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stator/base/wall_time.h"
#include "stator/value/attribute_value.h"

// The operations on tables, their time to live and their tags, and the limits of the account, as types.  An absent
// member means the same as in DynamoDB.  Names of tables may be ARNs.
namespace stator::api {

enum class BillingMode : std::uint8_t { Provisioned, PayPerRequest };
enum class KeyRole : std::uint8_t { Hash, Range };
enum class ProjectionKind : std::uint8_t { All, KeysOnly, Include };
enum class StreamView : std::uint8_t { KeysOnly, NewImage, OldImage, NewAndOldImages };

struct AttributeDefinition {
  std::string name;
  value::Type type = value::Type::S;  // S, N or B
};
struct KeyElement {
  std::string name;
  KeyRole role = KeyRole::Hash;
};
struct IndexProjection {
  std::optional<ProjectionKind> kind = {};
  std::optional<std::vector<std::string>> attributes = {};  // with Include: the non-key attributes
};
struct Throughput {
  std::int64_t read_units = 0, write_units = 0;
};
// The most that a table which is paid per request may use; -1 in a change: no maximum.
struct OnDemandThroughput {
  std::optional<std::int64_t> max_read_units = {}, max_write_units = {};
};
struct WarmThroughput {
  std::optional<std::int64_t> read_units = {}, write_units = {};
};
struct StreamSpecification {
  bool enabled = false;
  std::optional<StreamView> view = {};
};
struct EncryptionSpecification {
  std::optional<bool> enabled = {};
  std::optional<std::string> type = {};  // "KMS"
  std::optional<std::string> key = {};
};
struct Tag {
  std::optional<std::string> key = {}, value = {};  // both are needed
};

// A table as the API describes it.  A member that an operation does not return is absent or empty.
struct ThroughputDescription {
  std::optional<WallTime> last_increase = {}, last_decrease = {};
  std::int64_t decreases_today = 0, read_units = 0, write_units = 0;
};
struct WarmThroughputDescription {
  std::int64_t read_units = 0, write_units = 0;
  std::string status;
};
struct IndexDescription {
  std::string name;
  std::vector<KeyElement> keys = {};
  IndexProjection projection = {};
  // Of a global index only, up to the warm throughput.
  std::optional<std::string> status = {};  // "ACTIVE"
  std::optional<bool> backfilling = {};
  std::optional<ThroughputDescription> throughput = {};
  std::optional<OnDemandThroughput> on_demand = {};
  std::optional<WarmThroughputDescription> warm = {};
  std::int64_t size_bytes = 0, items = 0;
  std::string arn = {};
};
struct BillingModeSummary {
  BillingMode mode = BillingMode::Provisioned;
  std::optional<WallTime> pay_per_request_since = {};
};
struct TableClassSummary {
  std::string table_class;
  std::optional<WallTime> changed = {};
};
struct EncryptionDescription {
  std::string status, type, key_arn;
};
struct TableDescription {
  std::vector<AttributeDefinition> definitions = {};
  std::string name;
  std::vector<KeyElement> keys = {};
  std::string status;  // "ACTIVE"
  std::optional<WallTime> created = {};
  ThroughputDescription throughput = {};
  std::int64_t size_bytes = 0, items = 0;
  std::string arn, id;
  std::optional<BillingModeSummary> billing_mode = {};
  std::vector<IndexDescription> local_indexes = {}, global_indexes = {};
  std::optional<StreamSpecification> stream = {};
  std::optional<std::string> stream_label = {}, stream_arn = {};  // of the latest stream, also when it has ended
  std::optional<TableClassSummary> table_class = {};
  bool deletion_protection = false;
  std::optional<EncryptionDescription> encryption = {};
  std::optional<OnDemandThroughput> on_demand = {};
  std::optional<WarmThroughputDescription> warm = {};
};

// Of CreateTable, UpdateTable and DeleteTable.
struct ChangedTableAnswer {
  TableDescription table;
};

// A new index.  A local one has neither throughput.
struct IndexDefinition {
  std::string name;
  std::vector<KeyElement> keys;
  IndexProjection projection = {};
  std::optional<Throughput> throughput = {};
  std::optional<OnDemandThroughput> on_demand = {};
  std::optional<WarmThroughput> warm = {};
};
struct CreateTableRequest {
  using Answer = ChangedTableAnswer;
  std::string table;
  std::vector<AttributeDefinition> definitions;
  std::vector<KeyElement> keys;
  std::optional<std::vector<IndexDefinition>> local_indexes = {}, global_indexes = {};
  std::optional<BillingMode> billing_mode = {};
  std::optional<Throughput> throughput = {};
  std::optional<OnDemandThroughput> on_demand = {};
  std::optional<WarmThroughput> warm = {};
  std::optional<StreamSpecification> stream = {};
  std::optional<EncryptionSpecification> encryption = {};
  std::optional<bool> deletion_protection = {};
  std::optional<std::string> table_class = {};
  std::vector<Tag> tags = {};
};

struct DeleteTableRequest {
  using Answer = ChangedTableAnswer;
  std::string table;
};

struct DescribeTableAnswer {
  TableDescription table;
};
struct DescribeTableRequest {
  using Answer = DescribeTableAnswer;
  std::string table;
};

struct IndexName {
  std::string name;
};
// One change of a global index: exactly one of them.
struct IndexUpdate {
  struct Update {
    std::string name;
    std::optional<Throughput> throughput = {};
    std::optional<OnDemandThroughput> on_demand = {};
    std::optional<WarmThroughput> warm = {};
  };
  std::optional<Update> update = {};
  std::optional<IndexDefinition> create = {};
  std::optional<IndexName> remove = {};
};
struct UpdateTableRequest {
  using Answer = ChangedTableAnswer;
  std::string table;
  std::optional<std::vector<AttributeDefinition>> definitions = {};
  std::optional<BillingMode> billing_mode = {};
  std::optional<Throughput> throughput = {};
  std::optional<std::vector<IndexUpdate>> index_updates = {};
  std::optional<StreamSpecification> stream = {};
  std::optional<EncryptionSpecification> encryption = {};
  std::optional<std::string> table_class = {};
  std::optional<bool> deletion_protection = {};
  std::optional<OnDemandThroughput> on_demand = {};
  std::optional<WarmThroughput> warm = {};
};

struct ListTablesAnswer {
  std::vector<std::string> names;
  std::optional<std::string> last_name = {};  // there is more behind it
};
struct ListTablesRequest {
  using Answer = ListTablesAnswer;
  std::optional<std::string> after = {};
  std::optional<std::int64_t> limit = {};
};

struct TimeToLiveDescription {
  std::string status;  // "ENABLED"
  std::optional<std::string> attribute = {};
};
struct DescribeTimeToLiveAnswer {
  TimeToLiveDescription time_to_live;
};
struct DescribeTimeToLiveRequest {
  using Answer = DescribeTimeToLiveAnswer;
  std::string table;
};

struct TimeToLiveSpecification {
  bool enabled = false;
  std::string attribute;
};
struct UpdateTimeToLiveAnswer {
  TimeToLiveSpecification time_to_live;
};
struct UpdateTimeToLiveRequest {
  using Answer = UpdateTimeToLiveAnswer;
  std::string table;
  TimeToLiveSpecification time_to_live;
};

// Of TagResource and UntagResource.
struct ChangedTagsAnswer {};
struct TagResourceRequest {
  using Answer = ChangedTagsAnswer;
  std::optional<std::string> arn = {};  // of the table
  std::optional<std::vector<Tag>> tags = {};
};
struct UntagResourceRequest {
  using Answer = ChangedTagsAnswer;
  std::optional<std::string> arn = {};
  std::optional<std::vector<std::string>> keys = {};
};
struct ListTagsAnswer {
  std::vector<Tag> tags;
};
struct ListTagsOfResourceRequest {
  using Answer = ListTagsAnswer;
  std::optional<std::string> arn = {};
};

struct DescribeLimitsAnswer {
  std::int64_t account_read_units = 0, account_write_units = 0;
  std::int64_t table_read_units = 0, table_write_units = 0;
};
struct DescribeLimitsRequest {
  using Answer = DescribeLimitsAnswer;
};

struct Endpoint {
  std::string address;
  std::int64_t cache_minutes = 0;
};
struct DescribeEndpointsAnswer {
  std::vector<Endpoint> endpoints;
};
struct DescribeEndpointsRequest {
  using Answer = DescribeEndpointsAnswer;
};

}  // namespace stator::api
