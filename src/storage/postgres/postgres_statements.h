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

// Every statement that is prepared.  $1 is the lane, or an array of lanes.
struct Statements {
  explicit Statements(std::string_view schema);

  // A key, with the lane's fence, sequence and epoch, which are there also when the key is not.
  Statement get;
  Statement get_parts;      // of a key that each lane has a part of: lane, fence, sequence, epoch, value
  Statement get_all;        // several keys, each in its lane: lane, fence, sequence, epoch; or ordinal, value
  Statement lanes;          // lane, fence, sequence, epoch of all
  Statement writer_number;  // number, sequence of a writer's last commit
  Statement size;           // bytes of all entries, on disk
  Statement format;         // see schema.h

  // Some of a range from one end: parameters are begin (head, tail), end (head, tail) if it has one, the number of
  // rows, and the bytes of values after which it ends.
  struct Pages {
    Statement forward, forward_to_end, backward, backward_from_end;
  };
  Pages pages;         // of one lane
  Pages merged_pages;  // of several lanes, in the order of the keys

  // The parts of a commit.
  Statement begin, commit, rollback;
  // lane, sequence, erasures_from, epoch, the microseconds that it waited.  Locks the lane and gives it its next
  // number, in a step.  No row when the fence is another.
  Statement next_number;
  Statement lock_to_write, lock_to_read;  // the same columns, and fence
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

  Statement begin_snapshot;
};

}  // namespace stator::storage::postgres
