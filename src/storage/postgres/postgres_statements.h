#pragma once

#include <string_view>

#include "stator/storage/postgres/connection.h"

namespace stator::storage::postgres {

// Every statement has one good plan: the one by the index.
inline constexpr const char* kPlanSettings =
    "SELECT set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false), "
    "set_config('enable_sort', 'off', false), set_config('enable_hashjoin', 'off', false), "
    "set_config('enable_mergejoin', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false), "
    "set_config('jit', 'off', false)";

// A role or a database can have other defaults than PostgreSQL: a time limit would end slow commits, and a stricter
// isolation would fail reads that nobody repeats.
inline constexpr const char* kSessionSettings =
    "SELECT set_config('statement_timeout', '0', false), "
    "set_config('default_transaction_isolation', 'read committed', false)";

// If a process's machine is gone, its session must end, and with it its locks.
inline constexpr const char* kEndOfLostSessions =
    "SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), "
    "set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '15000', false)";

// A process that was stopped must not keep its snapshot, because the database would keep deleted rows for it.
inline constexpr const char* kEndOfIdleSnapshots =
    "SELECT set_config('idle_in_transaction_session_timeout', '5min', false)";

// On event loops.  One slow statement delays all reads of its loop; they are repeated on threads that may wait.
inline constexpr const char* kShortStatements = "SELECT set_config('statement_timeout', '2s', false)";

// Every statement that is prepared.  $1 is the lane, or an array of lanes.
struct Statements {
  explicit Statements(std::string_view schema);

  // A key, with the lane's fence, sequence and epoch, which are there also when the key is not.
  Statement get;
  Statement get_parts;  // of a key that each lane has a part of: lane, fence, sequence, epoch, value
  Statement get_all;    // several keys, each in its lane: lane, fence, sequence, epoch; or ordinal, value
  // The same two for event loops, which have no time for large values: values of more bytes than the last parameter are
  // null, and the size of each value is beside it.
  Statement get_small, get_all_small;
  Statement lanes;          // lane, fence, sequence, epoch of all
  Statement writer_number;  // number, sequence of a writer's last commit
  Statement clock;          // microseconds since 1970
  Statement size;           // bytes of all entries, on disk
  Statement format;         // see schema.h

  // Some of a range from one end: parameters are begin (head, tail), end (head, tail) if it has one, the number of
  // rows, and the bytes of values after which it ends.
  struct Pages {
    Statement forward, forward_to_end, backward, backward_from_end;
  };
  Pages pages;         // of one lane
  Pages merged_pages;  // of several lanes, in the order of the keys
  // Of one lane, with its fence, sequence and epoch in each row.  One row with nulls when there are no entries.
  Pages current_pages;

  // The parts of a commit.
  Statement begin, commit, rollback;
  // lane, sequence, erasures_from, epoch, the microseconds that it waited, the time in microseconds.  Locks the lane
  // and gives it its next number, in a step.  No row when the fence is another.
  Statement next_number;
  Statement lock;  // the same columns, and fence
  // Ends sessions of the role that have the store's lock and a transaction, and have waited for their process longer
  // than $1 milliseconds.
  Statement end_stuck;
  Statement limit_wait, lift_limit;  // $1: the milliseconds that a transaction may take from its begin to its locks
  Statement set_number;
  Statement begin_epoch;   // with the lanes' sequence
  Statement counters;      // ordinal, value
  Statement keys_changed;  // whether any was, after a sequence
  Statement range_changed, range_changed_to_end;
  Statement range_erased;  // whether one of the erasures meets the range
  Statement erase_keys, erase_range, erase_range_to_end;
  Statement put;
  Statement note_erasures, trim_erasures, note_trimmed;
  Statement note_writer;
  // Makes sure that the writer has a row: $2 is the number of its last commit that is known to have happened.
  Statement keep_writer;

  Statement begin_snapshot;
};

}  // namespace stator::storage::postgres
