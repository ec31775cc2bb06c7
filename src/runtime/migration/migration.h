#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/client/client.h"
#include "stator/model/model.h"
#include "stator/runtime/consistency/reconciler.h"
#include "stator/runtime/migration/old_programs.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {

struct MigrationStep {
  enum class Kind : std::uint8_t {
    CreateIndex,  // online: the table is served while the index is built
    EnableTtl,
    FindClashes,  // nothing is written: rows whose unique values become equal, which a person has to change first
    RewriteRows,  // rows, other records and reservations in their new form; rows with another primary key are moved
    CheckRows,    // once more, with copies, counters and parents, which need every row in its place
    DropIndex,
    ChangeStream,  // before rows are rewritten when it gets both images, and at the end when it loses one
  };
  Kind kind = Kind::RewriteRows;
  std::string subject;  // the index, attribute or stream view; empty for rows
  std::string text;     // for people: the step and its reason
};

struct MigrationPlan {
  std::vector<MigrationStep> steps;    // in the order in which they are done; empty: the models need the same table
  std::vector<std::string> obstacles;  // why it cannot be done; empty: it can
  std::vector<std::string> remarks;    // differences that are left as they are
  value::Item moved;                   // entities whose primary key changes, with the rule of the new one
  AddedKeysOf added;                   // keys of new indexes that programs of the old model write as well
  std::vector<Blindness> blind;        // patterns that do not find all rows while programs of both models run
  std::string advice;                  // YAML for the new model with which patterns of the old model go on seeing
  std::set<std::string> obsolete;      // key attributes that only the old model has: rows lose them in the end
  bool only_prepares = false;          // programs of the old model go on, and old indexes stay for them
};

// The steps that change a table of the model `from` into a table of the model `to`.
MigrationPlan plan_migration(const model::Model& from, const model::Model& to);

// Removes the steps that must wait until the programs of the old model are gone.
void only_prepare(MigrationPlan& plan);

// Counters of the model `to` that a program of the model `from` does not keep, or keeps otherwise.
std::set<const model::Attribute*> new_counters(const model::Model& from, const model::Model& to);

// An entity of the same name is the same entity, even if its rows have another type.
void accept_old_types(const model::Model& from, const model::Model& to, Reconciler& reconciler);
// Adds the values that new rows of the model `to` get at their creation, and that old rows lack.
void fill_in(const model::Model& from, const model::Model& to, const model::Entity& entity, value::Item& attributes);

struct MigrationProgress {
  std::size_t step = 0;    // of the plan
  std::uint64_t rows = 0;  // looked at in this step
  bool waiting = false;    // until every program knows of it
};

struct MigrationReport {
  std::uint64_t rewritten = 0;  // findings that were put right
  bool complete = false;
  std::vector<RowFinding>
      unresolved;  // a unique value that two rows have, a place that is taken: a person has to decide
};

// Carries a plan out while the table is being served.  Its progress is in the consistency table, so an interrupted
// migration continues from there.
//
// First new indexes are built, then rows are rewritten, then old indexes are dropped.  So a program of the old model
// works until rows are rewritten, and a program of the new model finds each row as soon as it is rewritten.  Every row
// is rewritten conditionally, by the same rules as repair.
//
// A consistency manager that propagates the deletion of a parent does not find children that are being moved at that
// moment.  The last step on rows therefore removes children without a parent: only if neither the new nor the old place
// has the parent, and only through relations that are the same in the old model.  Otherwise no row is deleted because
// its parent is missing.
//
// The migration also follows the table's stream: rows that a program of the old model has written before the last step
// on rows ended are rewritten, too.  Rows that it writes later need another run with the same plan.  A run can be
// repeated without harm.
//
// Programs of the old model read the announcements of the migration (MigrationNotice): they also write the keys of new
// indexes, and refuse to write entities whose rows are being moved.  While rows move, programs of the new model refuse
// these writes, too, because a row that is still in its old place would get a double in the new one.  Before the
// migration changes rows, it waits until every program knows of it; with `alone`, there are no such programs.
//
// Where a unique rule compares in another way than before, rows whose values would be equal are found before any row is
// rewritten.  A row that cannot be moved to its place, or whose unique value another row has, is left as it is and is
// in the report; the following steps are then not begun.
Result<MigrationReport, Problem> migrate(const model::Model& from, const model::Model& to, const MigrationPlan& plan,
                                         client::Client& client, const Clock& clock, Random& random,
                                         const std::function<void(const MigrationProgress&)>& progress = {},
                                         bool alone = false);

}  // namespace stator::runtime
