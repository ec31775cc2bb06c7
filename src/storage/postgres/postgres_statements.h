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

// Every statement that is prepared.  $1 is the lane in all of them.
struct Statements {
  explicit Statements(std::string_view schema);

  // A key, with the lane's fence, sequence and epoch, which are there also when the key is not.
  Statement get;
  Statement get_all;        // the same for several keys: fence, sequence, epoch, ordinal, value
  Statement lane;           // fence, sequence, epoch
  Statement lane_locked;    // the same, when no commit is under way
  Statement writer_number;  // number, sequence of a writer's last commit
  Statement size;           // bytes of all entries, on disk
  Statement format;         // see schema.h

  // Some of a range from one end: parameters are begin (head, tail), end (head, tail) if it has one, the number of
  // rows, and the bytes of values after which it ends.
  Statement forward, forward_to_end, backward, backward_from_end;

  // The parts of a commit.
  Statement begin, commit, rollback;
  // sequence, erasures_from, epoch, the microseconds that it waited; no row when the fence is another
  Statement next_number;
  Statement begin_epoch;   // with the lane's sequence
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
