#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/model/check/checked_pattern.h"
#include "stator/model/check/rules.h"

namespace stator::model {
namespace {

std::string number_name(const Entity& entity, const Attribute& attribute) {
  return fmt::format("{}.{}", entity.name, attribute.name);
}

// Whether a row can be removed while the order that it is in stays.
bool can_be_removed(const Model& model, const Entity& entity) {
  if (entity.append_only) return false;
  return entity.expires() || entity.has_operation("delete") || entity.has_operation("purge") ||
         std::any_of(model.actions.begin(), model.actions.end(), [](const Action& action) {
           return action.native || std::any_of(action.steps.begin(), action.steps.end(),
                                               [](const Step& step) { return step.kind == Step::Kind::Delete; });
         });
}

// The last number of an order is free again when its row is gone, and then names another row.
void find_reused(const Model& model, const Entity& entity, const Attribute& attribute, Report& findings) {
  if (attribute.next->order == nullptr || !can_be_removed(model, entity)) return;
  if (!entity.is_named_by(attribute.name)) return;
  findings.warning(
      {.code = "reused-number", .subject = number_name(entity, attribute), .position = attribute.next->position},
      fmt::format("{0} names a {1}, and after the last {1} is deleted its number is given again: links and tags of the "
                  "old one lead to the new one",
                  attribute.name, entity.name),
      "let a parent keep the last number: `next: { by: relation.attribute }`, with `attribute: { last: true }` in the "
      "parent");
}

// A parent that is created again under its name counts from the beginning.
void find_begun_again(const Entity& entity, const Attribute& attribute, Report& findings) {
  const auto* relation = attribute.next->through;
  if (relation == nullptr || relation->to->never_recreated) return;
  const bool stay = relation->on_delete == OnDelete::Nothing || relation->on_delete == OnDelete::Clear;
  if (!stay) return;
  findings.warning(
      {.code = "numbers-begin-again", .subject = number_name(entity, attribute), .position = attribute.next->position},
      fmt::format("a deleted {0} leaves its {1} behind, and a new {0} of the same name gives their numbers again",
                  relation->entity, entity.name),
      fmt::format("write `on_delete: cascade` or `restrict` for {}.{}, or put a generated id into the key of {}",
                  entity.name, relation->name, relation->entity));
}

// Each parent counts for itself, so a number without its parent names several rows.
void find_unscoped(const Entity& entity, const Attribute& attribute, Report& findings) {
  const auto* relation = attribute.next->through;
  if (relation == nullptr || !entity.is_named_by(attribute.name)) return;
  std::vector<std::string> missing;
  for (const auto& [theirs, ours] : relation->by) {
    if (!entity.is_named_by(ours)) missing.push_back(ours);
  }
  if (missing.empty()) return;
  findings.error({.code = "key-not-unique", .subject = entity.name, .position = entity.position},
                 fmt::format("the key of {0} has {1} in it and not {2}: the {0} of two {3} can have the same number",
                             entity.name, attribute.name, listed(missing), relation->entity),
                 fmt::format("put {{{}}} into the key, too", fmt::join(missing, "}, {")));
}

}  // namespace

void check_numbers(const Model& model, Report& findings) {
  for (const auto& entity : model.entities) {
    for (const auto& attribute : entity.attributes) {
      if (!attribute.next) continue;
      find_reused(model, entity, attribute, findings);
      find_begun_again(entity, attribute, findings);
      find_unscoped(entity, attribute, findings);
    }
  }
}

}  // namespace stator::model
