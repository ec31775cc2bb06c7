#include "stator/model/answer_shape.h"

#include <algorithm>

namespace stator::model {
namespace {

bool holds_all(const Pattern& pattern, const Returned& returned) {
  return (pattern.index == nullptr || pattern.index->projection == ProjectionKind::All) &&
         returned.record->attributes.empty();
}

}  // namespace

std::vector<AnswerShape> answer_shapes(const Pattern& pattern) {
  std::vector<AnswerShape> shapes;
  for (const auto& returned : pattern.returns) {
    const auto* entity = returned.entity;
    const bool whole = holds_all(pattern, returned);
    const auto known =
        std::find_if(shapes.begin(), shapes.end(), [&](const AnswerShape& shape) { return shape.entity == entity; });
    if (known != shapes.end()) {
      known->whole &= whole;
      continue;
    }
    AnswerShape shape{.entity = entity, .whole = whole, .joined = {}, .nested_as = {}, .nested = {}};
    for (const auto& join : pattern.joins) {
      const auto* relation = join.through(*entity);
      if (relation != nullptr)
        shape.joined.push_back({.as = join.as, .entity = relation->to, .attributes = &join.attributes});
    }
    shapes.push_back(std::move(shape));
  }
  if (!pattern.nest) return shapes;
  const auto& nest = *pattern.nest;
  std::vector<AnswerShape> children;
  std::copy_if(shapes.begin(), shapes.end(), std::back_inserter(children), [&](const AnswerShape& shape) {
    return std::any_of(nest.children.begin(), nest.children.end(),
                       [&](const Related& child) { return child.entity == shape.entity; });
  });
  for (auto& shape : shapes) {
    if (shape.entity != nest.parent) continue;
    shape.nested_as = nest.as;
    shape.nested = std::move(children);
    break;
  }
  return shapes;
}

}  // namespace stator::model
