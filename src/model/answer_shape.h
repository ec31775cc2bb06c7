#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/model/model.h"

namespace stator::model {

// An object that a pattern answers with: what is served of an entity, and what goes into it.  Points into the model.
struct AnswerShape {
  struct Joined {
    std::string_view as;
    const Entity* entity = nullptr;
    const std::vector<std::string>* attributes = nullptr;  // empty: all that is served
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
