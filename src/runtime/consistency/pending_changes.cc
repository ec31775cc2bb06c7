#include "stator/runtime/consistency/pending_changes.h"

#include <algorithm>

#include "stator/runtime/dynamo/stream_reader.h"

namespace stator::runtime {

Result<PendingChanges, Problem> PendingChanges::read(const Reconciler& reconciler) {
  auto& dynamo = reconciler.dynamo();
  ConsistencyTable table(dynamo, dynamo.clock(), reconciler.model());
  if (!TRY(table.exists())) return PendingChanges();
  const auto progress = TRY(table.stream());
  const auto state = TRY(dynamo.describe_table(reconciler.model().table.name));
  // With another stream, or none, managers verify the table first.
  if (!progress || !state || state->stream_arn != progress->stream) return PendingChanges();
  return read_behind(reconciler, progress->stream, TRY(table.shards()));
}

Result<PendingChanges, Problem> PendingChanges::read_behind(const Reconciler& reconciler, const std::string& stream,
                                                            const std::vector<ShardProgress>& checkpoints) {
  PendingChanges pending;
  StreamReader reader(reconciler.dynamo().client());
  std::size_t seen = 0;
  for (const auto& shard : TRY(reader.shards(stream))) {
    const auto found = std::ranges::find(checkpoints, shard.id, &ShardProgress::id);
    if (found != checkpoints.end() && found->done) continue;
    const auto checkpoint = found != checkpoints.end() ? found->checkpoint : std::nullopt;
    auto next = reader.iterator(stream, shard.id, checkpoint);
    if (!next && next.error().code == StreamReader::kTrimmed) continue;
    std::optional<std::string> iterator = TRY(std::move(next));
    while (iterator && seen < kMost) {
      auto page = TRY(reader.read(*iterator));
      for (const auto& change : page.changes) {
        if (change.before) pending.add(reconciler, *change.before, change.expired);
        if (change.after) pending.add(reconciler, *change.after, false);
      }
      seen += page.changes.size();
      iterator = page.changes.empty() ? std::nullopt : std::move(page.next);
    }
  }
  return pending;
}

void PendingChanges::add(const Reconciler& reconciler, const value::Item& row, bool expired) {
  const auto& model = reconciler.model();
  const auto [entity, record] = reconciler.type_of(row);
  if (entity == nullptr) return;
  const auto attributes = model::attributes_of(model, *entity, *record, row);
  const auto key = model::key_of(model, *entity, attributes);
  if (key && *key) keys_.insert(key_text(**key));
  if (!expired) return;
  // Its parents are still to be counted again.
  for (const auto& relation : reconciler.rules().of(*entity).relations) {
    const auto parent = model::parent_key(model, *entity, *relation.relation, attributes);
    if (parent && *parent) keys_.insert(key_text(**parent));
  }
}

bool PendingChanges::concern(const Reconciler& reconciler, const StoredEntity& entity) const {
  if (keys_.empty()) return false;
  if (contain(entity.key)) return true;
  const auto& relations = reconciler.rules().of(*entity.entity).relations;
  return std::any_of(relations.begin(), relations.end(), [&](const RelationRules& relation) {
    const auto key = model::parent_key(reconciler.model(), *entity.entity, *relation.relation, entity.attributes);
    return key && *key && contain(**key);
  });
}

}  // namespace stator::runtime
