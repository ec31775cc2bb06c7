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
    FindClashes,  // nothing is written: rows whose unique values become the same, which a person has to change first
    RewriteRows,  // rows, other records and reservations in their new form; rows whose primary key changes are moved
    CheckRows,    // once more, with copies, counters and parents, which need every row in its place
    DropIndex,
    ChangeStream,  // before rows are rewritten when it gets both images, and at the end when it loses one
  };
  Kind kind = Kind::RewriteRows;
  std::string subject;  // the index, attribute or stream view; empty for rows
  std::string text;     // for people: what, and why
};

struct MigrationPlan {
  std::vector<MigrationStep> steps;    // in the order in which they are done; empty: the models need the same table
  std::vector<std::string> obstacles;  // why it cannot be done; empty: it can
  std::vector<std::string> remarks;    // what stays as it is
  value::Item moved;                   // entities whose primary key changes, with how the new one is made
  AddedKeysOf added;                   // keys of new indexes that programs of the old model write as well
  std::vector<Blindness> blind;        // what does not find all rows while programs of both models run
  std::string advice;                  // YAML for the new model with which patterns of the old model go on seeing
  std::set<std::string> obsolete;      // key attributes that only the old model has: rows lose them in the end
  bool only_prepares = false;          // programs of the old model go on: what they need stays
};

// What has to happen to a table of the model `from` to make it one of the model `to`.
MigrationPlan plan_migration(const model::Model& from, const model::Model& to);

// Leaves out what has to wait until the programs of the old model are gone.
void only_prepare(MigrationPlan& plan);

// Counters of the model `to` that a program of the model `from` does not keep, or keeps otherwise.
std::set<const model::Attribute*> new_counters(const model::Model& from, const model::Model& to);

// An entity of the same name is the same entity, whatever its rows are called.
void accept_old_types(const model::Model& from, const model::Model& to, Reconciler& reconciler);
// What new rows of the model `to` get when they are created, and old ones lack.
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

// Carries a plan out while the table is being served.  Where it was interrupted it goes on: progress is in the
// consistency table.
//
// New indexes come first, then rows in their new form, then old indexes go, so a program of the old model works until
// rows are rewritten, and one of the new model finds each row in its new form as soon as that row has been.  Every row
// is rewritten conditionally, by the same rules as repair.
//
// A manager that propagates the deletion of a parent while children are on their way to where it looks for them does
// not find them, so the last step on rows lets them go.  Only those whose parent is nowhere, where the old model has it
// included, and only through relations that the old model keeps in the same way: otherwise no row is deleted because
// its parent is missing.
//
// The table's stream is followed meanwhile: what a program of the old model had acknowledged before the last step on
// rows ended is in its new form as well.  What it writes later needs another run, with the same plan, which does no
// harm however often.
//
// Programs of the old model know what happens (MigrationNotice): they write the keys of new indexes as well, and refuse
// to write what is being moved.  While rows move, programs of the new model refuse that, too: a row that is still in
// its old place would get a double in the new one.  The migration waits before it begins with the rows until every
// program knows it; `alone` says that there are none.
//
// Where a unique rule compares otherwise than before, the rows whose values would clash are found first, before any row
// is rewritten.  A row that cannot be put where it belongs, or whose unique value another row has, stays as it is and
// is in the report; then the steps behind are not begun.
Result<MigrationReport, Problem> migrate(const model::Model& from, const model::Model& to, const MigrationPlan& plan,
                                         client::Client& client, const Clock& clock, Random& random,
                                         const std::function<void(const MigrationProgress&)>& progress = {},
                                         bool alone = false);

}  // namespace stator::runtime
