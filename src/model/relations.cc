#include "stator/model/relations.h"

#include <algorithm>

namespace stator::model {
namespace {

constexpr unsigned kMostGenerations = 16;

bool cascades(const Model& model, const Entity& child, const Parent& relation, unsigned depth);

bool can_go_despite(const Model& model, const Entity& child, const Parent& relation, unsigned depth) {
  if (relation.on_delete != OnDelete::Restrict || depth > kMostGenerations) return false;
  const auto& parent = *relation.to;
  const bool expires =
      std::any_of(parent.records.begin(), parent.records.end(), [](const Record& record) { return record.expires; });
  const auto is_held_by = [&](const std::string& ancestor) {
    return std::any_of(child.parents.begin(), child.parents.end(), [&](const Parent& own) {
      const bool holds = own.on_delete == OnDelete::Cascade || own.on_delete == OnDelete::Restrict;
      return own.entity == ancestor && holds && own.must_exist && !own.optional && !own.when;
    });
  };
  return expires || std::any_of(parent.parents.begin(), parent.parents.end(), [&](const Parent& further) {
           return cascades(model, parent, further, depth + 1) && !is_held_by(further.entity);
         });
}

bool cascades(const Model& model, const Entity& child, const Parent& relation, unsigned depth) {
  return relation.on_delete == OnDelete::Cascade || can_go_despite(model, child, relation, depth);
}

bool never_recreated(const TableDesign& table, const Entity& entity, unsigned depth) {
  if (depth > kMostGenerations) return false;
  const auto identity = entity.identity(table);
  const auto is_in_name = [&](const auto& pair) {
    return std::find(identity.begin(), identity.end(), pair.second) != identity.end();
  };
  return std::any_of(identity.begin(), identity.end(), [&](const std::string& name) {
    const auto* attribute = entity.find_attribute(name);
    if (attribute == nullptr) return false;
    if (attribute->generated != Generated::No) return true;
    const auto* giver = attribute->next ? attribute->next->through : nullptr;
    return giver != nullptr && std::all_of(giver->by.begin(), giver->by.end(), is_in_name) &&
           never_recreated(table, *giver->to, depth + 1);
  });
}

}  // namespace

bool can_go_despite(const Model& model, const Entity& child, const Parent& relation) {
  return can_go_despite(model, child, relation, 0);
}

bool cascades(const Model& model, const Entity& child, const Parent& relation) {
  return cascades(model, child, relation, 0);
}

bool never_recreated(const TableDesign& table, const Entity& entity) { return never_recreated(table, entity, 0); }

bool can_precede(const Model& model, const Parent& relation) {
  if (!relation.must_exist) return true;
  // Children that cascade are gone before another parent of that name is created.  Others may still point to the name.
  const bool stays = relation.on_delete == OnDelete::Nothing || relation.on_delete == OnDelete::Clear;
  return stays && !never_recreated(model.table, *relation.to);
}

}  // namespace stator::model
