#include "stator/engine/catalog.h"

#include "stator/engine/keyspace.h"

namespace stator::engine {

Result<void> Catalog::load(const storage::Snapshot& snapshot) {
  ByName by_name;
  ById by_id;
  const auto cursor = snapshot.cursor(all_table_records(), storage::Direction::Forward);
  for (; cursor->valid(); cursor->next()) {
    auto table = std::make_shared<const Table>(TRY(decode_table(cursor->value())));
    // Who works with a table that has not changed need not notice.
    if (auto known = find(table->id); known != nullptr && encode_table(*known) == cursor->value()) {
      table = std::move(known);
    }
    by_id.emplace(table->id.value, table);
    by_name.emplace(table->name, std::move(table));
  }
  TRY(cursor->status());
  MutexLock lock(mutex_);
  by_name_ = std::move(by_name);
  by_id_ = std::move(by_id);
  return {};
}

TablePtr Catalog::find(std::string_view name) const {
  MutexLock lock(mutex_);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

TablePtr Catalog::find(TableId id) const {
  MutexLock lock(mutex_);
  const auto found = by_id_.find(id.value);
  return found == by_id_.end() ? nullptr : found->second;
}

std::vector<std::string> Catalog::names_after(std::string_view after, std::size_t limit) const {
  MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (auto it = by_name_.upper_bound(after); it != by_name_.end() && names.size() < limit; ++it)
    names.push_back(it->first);
  return names;
}

std::vector<TablePtr> Catalog::all() const {
  MutexLock lock(mutex_);
  std::vector<TablePtr> tables;
  tables.reserve(by_name_.size());
  for (const auto& [name, table] : by_name_) tables.push_back(table);
  return tables;
}

std::size_t Catalog::size() const {
  MutexLock lock(mutex_);
  return by_name_.size();
}

void Catalog::publish(TablePtr table) {
  MutexLock lock(mutex_);
  by_id_.insert_or_assign(table->id.value, table);
  std::string name = table->name;
  by_name_.insert_or_assign(std::move(name), std::move(table));
}

void Catalog::remove(const Table& table) {
  MutexLock lock(mutex_);
  by_id_.erase(table.id.value);
  by_name_.erase(table.name);
}

}  // namespace stator::engine
