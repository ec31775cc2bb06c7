#include "stator/engine/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <thread>
#include <unordered_map>
#include <utility>

#include "stator/base/mutex.h"
#include "stator/base/thread_number.h"
#include "stator/engine/keyspace.h"

namespace stator::engine {
namespace {

constexpr std::size_t kMostCopies = 16;  // a table takes some hundred bytes in each

// The same table with a count of references of its own.
TablePtr counted_apart(const TablePtr& table) { return {std::make_shared<const TablePtr>(table), table.get()}; }

}  // namespace

Error missing_table(std::string_view name) {
  return {ErrorCode::ResourceNotFound, fmt::format("Requested resource not found: Table: {} not found", name)};
}

struct alignas(kCacheLine) Catalog::Copy {
  Mutex mutex;
  std::map<std::string, TablePtr, std::less<>> by_name GUARDED_BY(mutex);
  std::unordered_map<std::uint32_t, TablePtr> by_id GUARDED_BY(mutex);

  // The caller of these has the locks of all copies.

  void put(const TablePtr& table) NO_THREAD_SAFETY_ANALYSIS {
    auto& ours = by_id[table->id.value];
    if (ours != table) ours = counted_apart(table);
    by_name.insert_or_assign(table->name, ours);
  }
  void erase(TableId id, const std::string& name) NO_THREAD_SAFETY_ANALYSIS {
    by_id.erase(id.value);
    by_name.erase(name);
  }
  void put_all(const std::vector<TablePtr>& tables) NO_THREAD_SAFETY_ANALYSIS {
    by_name.clear();
    auto former = std::exchange(by_id, {});
    for (const auto& table : tables) {
      // One that stays keeps its count: a new one would keep the former one alive.
      if (const auto known = former.find(table->id.value); known != former.end()) by_id.insert(*known);
      put(table);
    }
  }
};

namespace {

template <typename Copy>
std::vector<std::unique_ptr<Copy>> make_copies() {
  std::vector<std::unique_ptr<Copy>> copies(
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostCopies));
  for (auto& copy : copies) copy = std::make_unique<Copy>();
  return copies;
}

// Holds the locks of all copies, always taken in the same order.
template <typename Copies>
class AllLocks {
 public:
  explicit AllLocks(const Copies& copies) NO_THREAD_SAFETY_ANALYSIS : copies_(copies) {
    for (const auto& copy : copies_) copy->mutex.lock();
  }
  ~AllLocks() NO_THREAD_SAFETY_ANALYSIS {
    for (const auto& copy : copies_) copy->mutex.unlock();
  }
  AllLocks(const AllLocks&) = delete;
  AllLocks& operator=(const AllLocks&) = delete;

 private:
  const Copies& copies_;
};

}  // namespace

Catalog::Catalog() : copies_(make_copies<Copy>()) {}
Catalog::~Catalog() = default;

Catalog::Copy& Catalog::mine() const { return *copies_[number_of_this_thread() % copies_.size()]; }

Result<void> Catalog::load(const storage::Snapshot& snapshot) {
  std::vector<TablePtr> tables;
  const auto cursor = snapshot.cursor(all_table_records(), storage::Direction::Forward);
  for (; cursor->valid(); cursor->next()) {
    auto table = std::make_shared<const Table>(TRY(decode_table(cursor->value())));
    // If a table has not changed, its users keep the same object.
    if (auto known = find(table->id); known != nullptr && encode_table(*known) == cursor->value()) {
      table = std::move(known);
    }
    tables.push_back(std::move(table));
  }
  TRY(cursor->status());
  const AllLocks locks(copies_);
  for (const auto& copy : copies_) copy->put_all(tables);
  return {};
}

TablePtr Catalog::find(std::string_view name) const {
  auto& copy = mine();
  MutexLock lock(copy.mutex);
  const auto found = copy.by_name.find(name);
  return found == copy.by_name.end() ? nullptr : found->second;
}

TablePtr Catalog::find(TableId id) const {
  auto& copy = mine();
  MutexLock lock(copy.mutex);
  const auto found = copy.by_id.find(id.value);
  return found == copy.by_id.end() ? nullptr : found->second;
}

std::vector<std::string> Catalog::names_after(std::string_view after, std::size_t limit) const {
  auto& copy = mine();
  MutexLock lock(copy.mutex);
  std::vector<std::string> names;
  for (auto it = copy.by_name.upper_bound(after); it != copy.by_name.end() && names.size() < limit; ++it)
    names.push_back(it->first);
  return names;
}

std::vector<TablePtr> Catalog::all() const {
  auto& copy = mine();
  MutexLock lock(copy.mutex);
  std::vector<TablePtr> tables;
  tables.reserve(copy.by_name.size());
  for (const auto& [name, table] : copy.by_name) tables.push_back(table);
  return tables;
}

std::size_t Catalog::size() const {
  auto& copy = mine();
  MutexLock lock(copy.mutex);
  return copy.by_name.size();
}

void Catalog::publish(TablePtr table) {
  const AllLocks locks(copies_);
  for (const auto& copy : copies_) copy->put(table);
}

void Catalog::remove(const Table& table) {
  const AllLocks locks(copies_);
  // `table` may be one that only the copies hold.
  const auto id = table.id;
  const auto name = table.name;
  for (const auto& copy : copies_) copy->erase(id, name);
}

}  // namespace stator::engine
