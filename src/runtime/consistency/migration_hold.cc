#include "stator/runtime/consistency/migration_hold.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "stator/base/log.h"

namespace stator::runtime {

MigrationHold::MigrationHold(const model::Model& model, ConsistencyTable& table)
    : model_(model), table_(table), keys_(primary_keys(model)) {}

Result<bool, Problem> MigrationHold::look() {
  const auto row = TRY(table_.row(kHoldRow));
  const auto* content = row ? row->find("Keys") : nullptr;
  const auto* moved = content != nullptr ? content->as_map() : nullptr;
  std::vector<std::string> entities;
  for (const auto& [entity, key] : moved != nullptr ? *moved : value::Item()) {
    const auto* ours = keys_.find(entity);
    if (ours != nullptr && *ours != key) entities.push_back(entity);
  }
  const bool held = !entities.empty();
  MutexLock lock(mutex_);
  const bool was_held = std::exchange(held_, held);
  if (held && !was_held) {
    log::warning("consistency_manager_held",
                 {{"table", model_.table.name},
                  {"moved", fmt::format("{}", fmt::join(entities, ", "))},
                  {"reason",
                   "a migration moves rows to other primary keys than this model's, or has moved them; until "
                   "that is resolved nothing is copied, cascaded or cleaned up here"},
                  {"remedy",
                   "finish it with `stator model migrate OLD NEW` and serve the new model, or take it back "
                   "with `stator model migrate NEW OLD`"}});
  }
  if (!held && was_held) log::info("consistency_manager_released", {{"table", model_.table.name}});
  return held;
}

bool MigrationHold::is_held() const {
  MutexLock lock(mutex_);
  return held_;
}

}  // namespace stator::runtime
