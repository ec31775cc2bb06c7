#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/client/client.h"
#include "stator/model/model.h"
#include "stator/runtime/problem.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// Which of two rows stays.
enum class Kept : std::uint8_t {
  Newest,  // the one that was changed last
  Old,     // the one in the old place, which goes to the new one
  New,     // the one in the new place
};

// One entity with two rows: one where the old model has it, and one where the new model has it.
struct Double {
  std::string entity;
  value::Item old_row;
  value::Item new_row;
  std::optional<Kept> kept;  // Old or New; nullopt: not decided
  std::string why;           // it is not decided; empty when it is
  bool done = false;         // it was written
};

struct ResolveOptions {
  std::optional<Kept> keep;    // nullopt: doubles are only told
  std::set<std::string> rows;  // key texts of old rows: only these are decided; empty: all
  bool write = false;          // false: it only reports the intended writes
  std::function<void(const Double&)> report;
  std::function<void(std::uint64_t rows)> progress;  // after each page
};

struct ResolveResult {
  std::uint64_t doubles = 0;
  std::uint64_t resolved = 0;  // written, or with `write` false: would be
};

// Decides the doubles that a migration to other primary keys has found and left.  One transaction for each, on the
// condition that both rows are as they were read: the row that does not stay goes, with its reservations and its other
// rows.  Counters of parents are put right by the migration, which goes on afterwards.
//
// The newest row is the one with the later `updated` time, or `generated: now`, or version, whichever the entity has.
Result<ResolveResult, Problem> resolve_doubles(const model::Model& from, const model::Model& to,
                                               const ResolveOptions& options, client::Client& client,
                                               const Clock& clock, Random& random);

}  // namespace stator::runtime
