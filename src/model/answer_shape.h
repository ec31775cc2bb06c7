#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/model/model.h"

namespace stator::model {

// An object in the answer of a pattern: the served attributes of an entity, with joined and nested objects.  Points
// into the model.
struct AnswerShape {
  struct Joined {
    std::string_view as;
    const Entity* entity = nullptr;
    const std::vector<std::string>* attributes = nullptr;  // empty: all served attributes
  };

  const Entity* entity = nullptr;
  bool whole = true;           // false: of a record or an index that does not hold every attribute
  std::vector<Joined> joined;  // each may be absent
  std::string_view nested_as;  // empty: nothing is nested in it; else a list of these, and `continued` may be true
  std::vector<AnswerShape> nested;

  bool is_plain() const { return whole && joined.empty() && nested_as.empty(); }
};

// One for each entity that is in the answer at the top.
std::vector<AnswerShape> answer_shapes(const Pattern& pattern);

}  // namespace stator::model
