#include "stator/model/answer_shape.h"

#include <algorithm>

namespace stator::model {
namespace {

bool holds_all(const Model& model, const Pattern& pattern, const Returned& returned, const Entity& entity) {
  if (pattern.index) {
    const auto* index = model.table.find_index(*pattern.index);
    if (index != nullptr && index->projection != Projection::All) return false;
  }
  const auto record = std::find_if(entity.records.begin(), entity.records.end(),
                                   [&](const Record& one) { return one.name == returned.record; });
  return record == entity.records.end() || record->attributes.empty();
}

}  // namespace

std::vector<AnswerShape> answer_shapes(const Model& model, const Pattern& pattern) {
  std::vector<AnswerShape> shapes;
  for (const auto& returned : pattern.returns) {
    const auto* entity = model.find_entity(returned.entity);
    if (entity == nullptr) continue;
    const bool whole = holds_all(model, pattern, returned, *entity);
    const auto known =
        std::find_if(shapes.begin(), shapes.end(), [&](const AnswerShape& shape) { return shape.entity == entity; });
    if (known != shapes.end()) {
      known->whole &= whole;
      continue;
    }
    AnswerShape shape{.entity = entity, .whole = whole, .joined = {}, .nested_as = {}, .nested = {}};
    for (const auto& join : pattern.joins) {
      const auto* relation = entity->find_parent(join.relation);
      const auto* target = relation == nullptr ? nullptr : model.find_entity(relation->entity);
      if (target != nullptr) shape.joined.push_back({.as = join.as, .entity = target, .attributes = &join.attributes});
    }
    shapes.push_back(std::move(shape));
  }
  if (!pattern.nest) return shapes;
  const auto& nest = *pattern.nest;
  std::vector<AnswerShape> children;
  std::copy_if(shapes.begin(), shapes.end(), std::back_inserter(children), [&](const AnswerShape& shape) {
    return std::find(nest.children.begin(), nest.children.end(), shape.entity->name) != nest.children.end();
  });
  for (auto& shape : shapes) {
    if (shape.entity->name != nest.parent) continue;
    shape.nested_as = nest.as;
    shape.nested = std::move(children);
    break;
  }
  return shapes;
}

}  // namespace stator::model
