#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/clock.h"
#include "stator/expr/build.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/rules/migration_notice.h"

namespace stator::runtime {

inline constexpr std::string_view kMigrationRow = "migration";

// Which stream is being read, and whether the table has to be verified first because changes may have been missed.
struct StreamProgress {
  std::string stream;  // ARN
  bool verifying = false;
  std::string owner;  // of the verification
  std::int64_t expires_ms = 0;
};

// The lease on a shard, and how far it has been read.
struct ShardProgress {
  std::string id;
  std::string parent;  // empty when it has none
  std::string owner;
  std::int64_t expires_ms = 0;            // 0: given back
  std::optional<std::string> checkpoint;  // the last record that is done
  std::int64_t read_to_ms = 0;            // every change up to this time is done
  bool done = false;                      // read to its end
};

// A record that failed again and again.
struct ParkedRecord {
  std::string id;      // the name of the record for replay
  std::string record;  // as the stream told it
  std::string problem;
  unsigned attempts = 0;
  std::string parked_at;
};

// The table beside a model's table in which managers, verification and migration remember where they are.
// docs/formats/consistency.md tells what lies in it.  Writes are conditional: false means that another process was
// faster, or that a lease was lost.  Thread-safe.
class ConsistencyTable {
 public:
  // The database and the clock outlive it.
  ConsistencyTable(Dynamo& dynamo, const Clock& clock, const model::Model& model);

  static std::string name_for(std::string_view table);
  const std::string& name() const { return name_; }

  // Creates the table when it is missing, and waits until it can be used, or until it is stopped.
  Result<void, Problem> open(const std::stop_token& stop = {});
  // Whether there is one: a database that no manager has ever looked after has none.
  Result<bool, Problem> exists();

  // -- the stream
  Result<std::optional<StreamProgress>, Problem> stream();
  // Notes that the table must be verified before `stream` is read on, and takes that task.  `seen`: the result of
  // stream().
  Result<bool, Problem> begin_verification(const std::optional<StreamProgress>& seen, std::string_view stream,
                                           std::string_view owner, std::chrono::milliseconds lease);
  Result<bool, Problem> renew_verification(std::string_view owner, std::chrono::milliseconds lease);
  Result<bool, Problem> end_verification(std::string_view owner);

  // -- shards
  Result<std::vector<ShardProgress>, Problem> shards();
  // Adds a shard that no manager has read yet; an existing row stays.
  Result<void, Problem> add_shard(const ShardProgress& shard);
  Result<void, Problem> remove_shard(std::string_view id);
  // Takes a lease that is free or has expired; `shard` is as it was read.
  Result<bool, Problem> acquire(const ShardProgress& shard, std::string_view owner, std::chrono::milliseconds lease);
  // Keeps the lease; `read_to_ms` may move.
  Result<bool, Problem> renew(std::string_view id, std::string_view owner, std::int64_t read_to_ms,
                              std::chrono::milliseconds lease);
  Result<bool, Problem> checkpoint(std::string_view id, std::string_view owner, std::string_view sequence_number,
                                   std::int64_t read_to_ms);
  Result<bool, Problem> finish(std::string_view id, std::string_view owner, std::int64_t read_to_ms);
  Result<bool, Problem> release(std::string_view id, std::string_view owner, std::int64_t read_to_ms);

  // -- records that failed; one that is larger than a row can be lies in several
  Result<void, Problem> park(std::string_view shard, std::string_view sequence_number, const ParkedRecord& record);
  Result<std::vector<ParkedRecord>, Problem> parked();
  Result<void, Problem> unpark(std::string_view id);

  // -- tasks of which one program at a time does each
  Result<bool, Problem> take_task(std::string_view task, std::string_view owner, std::chrono::milliseconds lease);
  Result<bool, Problem> renew_task(std::string_view task, std::string_view owner, std::chrono::milliseconds lease);
  Result<bool, Problem> end_task(std::string_view task, std::string_view owner);

  // -- migration
  Result<std::optional<value::Item>, Problem> row(std::string_view row);
  Result<void, Problem> put_row(std::string_view row, value::Item attributes);
  Result<void, Problem> remove_row(std::string_view row);

  std::int64_t now_ms() const;
  // Streams keep a day: records of that time may be forgotten.
  bool is_too_old(std::int64_t time_ms) const;

 private:
  value::Item key(std::string_view row) const;
  Result<bool, Problem> update(std::string_view row, expr::Update update, const expr::Clause& condition);
  Result<std::vector<value::Item>, Problem> rows_with_prefix(std::string_view prefix);
  Result<std::optional<std::string>, Problem> parts_of(std::string_view id, std::int64_t count);

  Dynamo& dynamo_;
  const Clock& clock_;
  std::string name_;
  std::string model_;
};

}  // namespace stator::runtime
