#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "stator/runtime/consistency/pending_changes.h"
#include "stator/runtime/consistency/reconciler.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

enum class FindingState : std::uint8_t {
  Found,
  Repaired,
  Pending,     // a consistency manager will write it
  Propagated,  // was pending, and the repair has written it
};

struct VerifyOptions {
  bool repair = false;
  std::optional<value::Item> start;  // goes on behind this row
  ReconcileOptions::Parents parents = ReconcileOptions::Parents::Enforced;
  bool count = true;                                          // counters, too, where parents are not ignored
  const std::set<const model::Attribute*>* unkept = nullptr;  // see Reconciler::recount
  // For migrations: changes to the attributes before the comparison, and another place of parents; see
  // ReconcileOptions.
  decltype(ReconcileOptions::adapt) adapt;
  decltype(ReconcileOptions::former_place) former_place;
  // Differences that follow from these changes are pending, not findings; null: none are.  A repair writes them, too.
  const PendingChanges* changes = nullptr;
  // Called for each finding, and for each pending difference: as it is made, or after it has been repaired.
  std::function<void(const RowFinding&, FindingState)> report;
  // Called for a row that others kept changing, to be looked at again later; empty: that ends the verification with a
  // problem.
  std::function<void(const value::Item& key)> busy;
  // Called after each page with the last row of it and how many rows have been looked at; false stops.
  std::function<bool(const value::Item& last, std::uint64_t rows)> progress;
};

struct VerifyResult {
  std::uint64_t rows = 0;
  std::uint64_t findings = 0;
  std::uint64_t repaired = 0;  // propagated ones, too
  std::uint64_t pending = 0;   // not among the findings
  unsigned passes = 1;
  bool complete = false;  // false: stopped by `progress`
};

// Walks the whole table and compares every row with the model's rules: copies, derived attributes, keys, types and
// TTLs, the other records of an entity, reservations, counters and sums, and rows of deleted parents.
//
// It looks at one row at a time, so it takes no more memory for a large table than for a small one: an entity's parents
// and other rows are read by key, its children, where it counts them, by the query that finds them.  Writes may go on.
// Every finding was seen twice, the second time in rows that were read consistently; a repair requires that these rows
// have not changed.  A copy whose source has just changed is a finding until the consistency manager has propagated
// that change, or pending if `changes` has it.
Result<VerifyResult, Problem> verify(Reconciler& reconciler, const VerifyOptions& options);
// Repairs until a pass finds nothing that it can repair, at most kRepairPasses times: the rows that copy a repaired row
// may come before it in the table.  Findings and repairs are those of all passes, but a finding that cannot be repaired
// is reported once.  `complete` is false when the last pass still repaired something.
Result<VerifyResult, Problem> repair_wholly(Reconciler& reconciler, VerifyOptions options);
inline constexpr unsigned kRepairPasses = 10;
// The same as verify for the row at one key, if there is one.
Result<VerifyResult, Problem> verify_row(Reconciler& reconciler, const VerifyOptions& options, const value::Item& key);

}  // namespace stator::runtime
