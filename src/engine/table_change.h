#pragma once

#include <functional>

#include "stator/base/unique_function.h"
#include "stator/engine/catalog.h"
#include "stator/engine/write/work.h"

namespace stator::engine {

using TableCallback = UniqueFunction<void(Result<TablePtr>)>;

// Creates, changes or deletes a table, in a commit of its own; publishes it to the catalog before the next one.  On a
// shared store the commit begins an epoch instead.
// Answers with the table as it is afterwards, or as it was when it is deleted.
class TableChange final : public Work {
 public:
  // `table` is complete but for its id.
  static std::unique_ptr<TableChange> create(Table table, Catalog& catalog, TableCallback done);
  // `change` gets the table as it is and returns it as it shall be.  An index that it leaves out is deleted.
  static std::unique_ptr<TableChange> update(std::string name, std::function<Result<Table>(Table)> change,
                                             Catalog& catalog, TableCallback done);
  // Lets an index be read: it holds everything.  Errors: ResourceNotFound, when table or index are gone.
  static std::unique_ptr<TableChange> finish_index(TableId table, IndexId index, Catalog& catalog, TableCallback done);
  static std::unique_ptr<TableChange> remove(std::string name, Catalog& catalog, TableCallback done);

  void execute(PendingCommit& commit) override;
  // So that also a change that writes nothing finds out whether the catalog is up to date.
  void will_read(std::vector<KeyBytes>& keys) const override { keys.push_back(last_table_id_key()); }
  void finish(const Result<storage::CommitSequence>& committed) override;
  bool alone() const override { return true; }
  bool frees_space() const override { return removes_; }

 private:
  using Effect = std::function<Result<TablePtr>(PendingCommit&)>;
  TableChange(Catalog& catalog, TableCallback done) : catalog_(catalog), done_(std::move(done)) {}

  Catalog& catalog_;
  TableCallback done_;
  Effect effect_;
  bool removes_ = false;
  bool shared_ = false;
  Result<TablePtr> outcome_ = TablePtr();
};

}  // namespace stator::engine
