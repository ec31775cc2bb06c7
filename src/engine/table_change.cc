#include "stator/engine/table_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "stator/engine/expiry/ttl.h"
#include "stator/engine/remains.h"
#include "stator/engine/stream/stream.h"

namespace stator::engine {
std::unique_ptr<TableChange> TableChange::create(Table table, Catalog& catalog, TableCallback done) {
  std::unique_ptr<TableChange> work(new TableChange(catalog, std::move(done)));
  work->effect_ = [&catalog, table = std::move(table)](PendingCommit& commit) mutable -> Result<TablePtr> {
    if (catalog.find(table.name) != nullptr) {
      return Error{ErrorCode::ResourceInUse, fmt::format("Table already exists: {}", table.name)};
    }
    const auto last = TRY(commit.get(last_table_id_key()));
    const auto given = last ? TRY(storage::decode_counter(*last)) : 0;
    // A repair may have lost the records of a table, and the counter with them, and kept its items.
    const auto last_id = std::max<std::int64_t>(given, TRY(commit.greatest_table_with_items()));
    if (last_id >= std::numeric_limits<std::uint32_t>::max()) {
      return Error{ErrorCode::Corruption, "a stored item belongs to a table with an id that no table can have"};
    }
    table.id = TableId{static_cast<std::uint32_t>(last_id + 1)};
    commit.put(last_table_id_key(), storage::encode_counter(last_id + 1));
    if (table.stream.enabled) TRY(open_stream(commit, table));
    commit.put(table_record_key(table.name), encode_table(table));
    return std::make_shared<const Table>(table);
  };
  return work;
}

std::unique_ptr<TableChange> TableChange::update(std::string name, std::function<Result<Table>(Table)> change,
                                                 Catalog& catalog, TableCallback done) {
  std::unique_ptr<TableChange> work(new TableChange(catalog, std::move(done)));
  work->effect_ = [&catalog, name = std::move(name),
                   change = std::move(change)](PendingCommit& commit) -> Result<TablePtr> {
    const auto current = catalog.find(name);
    if (current == nullptr) return missing_table(name);
    auto changed = TRY(change(*current));
    for (const auto& index : current->indexes) {
      if (changed.find_index(index.name) != nullptr) continue;
      erase_index(commit, current->id, index.id);
    }
    if (current->stream.enabled && !changed.stream.enabled) close_stream(commit, *current);
    if (!current->stream.enabled && changed.stream.enabled) TRY(open_stream(commit, changed));
    change_time_to_live(commit, *current, changed);
    commit.put(table_record_key(changed.name), encode_table(changed));
    return std::make_shared<const Table>(std::move(changed));
  };
  return work;
}

std::unique_ptr<TableChange> TableChange::finish_index(TableId id, IndexId index_id, Catalog& catalog,
                                                       TableCallback done) {
  std::unique_ptr<TableChange> work(new TableChange(catalog, std::move(done)));
  work->effect_ = [&catalog, id, index_id](PendingCommit& commit) -> Result<TablePtr> {
    const auto current = catalog.find(id);
    if (current != nullptr) {
      Table table = *current;
      for (auto& index : table.indexes) {
        if (index.id != index_id) continue;
        index.building = false;
        commit.erase(build_progress_key(id, index_id));
        commit.put(table_record_key(table.name), encode_table(table));
        return std::make_shared<const Table>(std::move(table));
      }
    }
    return Error{ErrorCode::ResourceNotFound, "the table or its index is gone"};
  };
  return work;
}

std::unique_ptr<TableChange> TableChange::remove(std::string name, Catalog& catalog, TableCallback done) {
  std::unique_ptr<TableChange> work(new TableChange(catalog, std::move(done)));
  work->removes_ = true;
  work->effect_ = [&catalog, name = std::move(name)](PendingCommit& commit) -> Result<TablePtr> {
    auto current = catalog.find(name);
    if (current == nullptr) return missing_table(name);
    if (current->deletion_protection) {
      return validation_error(
          fmt::format("Resource cannot be deleted as it is currently protected against deletion. Disable deletion "
                      "protection first."));
    }
    commit.erase(table_record_key(name));
    // The change log stays: a stream can be read for a day after its table is gone.
    if (current->stream.enabled) close_stream(commit, *current);
    erase_table(commit, *current);
    return current;
  };
  return work;
}

void TableChange::execute(PendingCommit& commit) {
  shared_ = commit.is_shared();
  outcome_ = effect_(commit);
  if (outcome_) commit.begin_epoch();
}

void TableChange::finish(const Result<storage::CommitSequence>& committed) {
  if (!committed) return done_(Error(committed.error()));
  // The processes that share a store read the catalog again, this one, too: its order is that of their commits.
  if (outcome_ && !shared_) {
    if (removes_) {
      catalog_.remove(**outcome_);
    } else {
      catalog_.publish(*outcome_);
    }
  }
  done_(std::move(outcome_));
}

}  // namespace stator::engine
